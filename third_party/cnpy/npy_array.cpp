#include "third_party/cnpy/npy_array.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "third_party/cnpy/element_type.h"

namespace cnpy {
namespace {

constexpr std::align_val_t kStorageAlignment{NpyArray::kAlignment};

std::shared_ptr<char> zeroed_storage(size_t size) {
  void* storage;
  try {
    storage = ::operator new(std::max<size_t>(size, 1), kStorageAlignment);
  } catch (const std::bad_alloc&) {
    throw Error("NpyArray", "there is no memory for " + std::to_string(size) + " bytes");
  }
  std::memset(storage, 0, size);
  return {static_cast<char*>(storage),
          [](char* p) { ::operator delete(static_cast<void*>(p), kStorageAlignment); }};
}

}  // namespace

size_t checked_element_count(const std::vector<size_t>& shape, size_t word_size,
                             std::string_view where) {
  // As in numpy, the other extents of an empty array must fit too: strides come from them.
  constexpr size_t kLimit = std::numeric_limits<ptrdiff_t>::max();
  size_t count = 1;
  bool is_empty = false;
  for (const size_t extent : shape) {
    if (extent == 0) {
      is_empty = true;
      continue;
    }
    if (extent > kLimit / count / std::max<size_t>(word_size, 1)) {
      throw Error(where, "the shape needs more bytes than an address space has");
    }
    count *= extent;
  }
  return is_empty ? 0 : count;
}

NpyArray::NpyArray() : NpyArray({0}, "|u1") {}

NpyArray::NpyArray(std::vector<size_t> array_shape, const std::string& array_descr,
                   bool is_fortran_order)
    : shape(std::move(array_shape)), fortran_order(is_fortran_order && shape.size() > 1) {
  const ElementType type = parse_descr(array_descr, "NpyArray");
  word_size = type.word_size;
  kind = type.kind;
  descr = type.native_descr();
  num_vals = checked_element_count(shape, word_size, "NpyArray");
  storage_ = zeroed_storage(num_bytes());
}

void NpyArray::throw_wrong_element_size(size_t asked) const {
  throw Error("NpyArray", "data of " + std::to_string(asked) +
                              " bytes an element was asked for, but " + quoted(descr) + " has " +
                              std::to_string(word_size));
}

}  // namespace cnpy
