#ifndef THIRD_PARTY_CNPY_NPY_ARRAY_H_
#define THIRD_PARTY_CNPY_NPY_ARRAY_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "third_party/cnpy/error.h"

namespace cnpy {

// The product of `shape`. Throws Error, its message begun with `where`, if that many elements of
// `word_size` bytes are more than an address space has.
size_t checked_element_count(const std::vector<size_t>& shape, size_t word_size,
                             std::string_view where);

// One array, in this machine's byte order whatever the order in the file.
//
// Copies share the elements, as in cnpy: copying an array out of an npz_t costs nothing, and a
// write through one copy is seen by all.
struct NpyArray {
  // The start of the elements is aligned for every scalar and every vector register there is.
  static constexpr size_t kAlignment = 64;

  // An empty array of rank 1 (shape {0}) of bytes.
  NpyArray();

  // Zeros. `descr` is numpy's spelling of the element type, as `dtype.str` gives it: "<f4", "|b1",
  // "|V2", "<M8[ns]". Throws Error where it is none of the fixed-size types, or where the shape
  // needs more bytes than an address space has.
  NpyArray(std::vector<size_t> shape, const std::string& descr, bool fortran_order = false);

  std::vector<size_t> shape;  // Empty for rank 0.
  size_t word_size;  // Bytes of one element; of both parts for complex, of all characters for S, U.
  size_t num_vals;   // The product of the shape; 1 for rank 0.
  bool fortran_order;  // The first index runs fastest; never where rank is below 2.
  char kind;           // numpy's letter: b i u f c V S U m M. bfloat16 comes as V of word_size 2.
  std::string
      descr;  // numpy's whole spelling in this machine's byte order: units of m and M are here.

  size_t num_bytes() const { return num_vals * word_size; }

  // The elements as they lie, whatever their type.
  char* bytes() { return storage_.get(); }
  const char* bytes() const { return storage_.get(); }

  // The elements as T. Throws Error unless sizeof(T) is word_size: the kind is left to the caller,
  // so that a V of two bytes can be read as a bfloat16 class or as uint16_t.
  template <typename T>
  T* data() {
    check_element_size<T>();
    return reinterpret_cast<T*>(storage_.get());
  }
  template <typename T>
  const T* data() const {
    check_element_size<T>();
    return reinterpret_cast<const T*>(storage_.get());
  }

  // A copy of the elements, in the order in which they lie.
  template <typename T>
  std::vector<T> as_vec() const {
    const T* first = data<T>();
    return std::vector<T>(first, first + num_vals);
  }

 private:
  template <typename T>
  void check_element_size() const {
    static_assert(std::is_trivially_copyable_v<T>, "elements are plain bytes in a file");
    static_assert(alignof(T) <= kAlignment, "the elements are not aligned for this type");
    if (sizeof(T) != word_size) throw_wrong_element_size(sizeof(T));
  }
  [[noreturn]] void throw_wrong_element_size(size_t asked) const;

  std::shared_ptr<char>
      storage_;  // Never null, so that data() of an empty array is a valid pointer.
};

}  // namespace cnpy

#endif  // THIRD_PARTY_CNPY_NPY_ARRAY_H_
