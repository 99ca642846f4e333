// A memref whose element type and rank are known only when the program runs.
//
// Includes nothing of the standard library that takes long to compile: each generated test does.

#ifndef TOOLS_AOT_EXECUTE_TEST_ANY_MEMREF_H_
#define TOOLS_AOT_EXECUTE_TEST_ANY_MEMREF_H_

#include <cstdint>

#include "tools/aot/abi.h"
#include "tools/aot/execute_test/element_type.h"

namespace plumbline {

// The highest rank that tools/aot/abi.h has macros for.
constexpr int kMaxRank = 16;

struct AnyMemRef {
  AnyMemRef() = default;

  // Implicit: it stands for the memref wherever any may come.
  template <typename T, int Rank>
  AnyMemRef(const StridedMemRefType<T, Rank>& memref)
      : type(kElementTypeOf<T>),
        rank(Rank),
        base(memref.basePtr),
        data(memref.data),
        offset(memref.offset) {
    static_assert(Rank <= kMaxRank);
    if constexpr (Rank > 0) {
      for (int axis = 0; axis < Rank; ++axis) {
        sizes[axis] = memref.sizes[axis];
        strides[axis] = memref.strides[axis];
      }
    }
  }

  // Back again; for the types that it was made from.
  template <typename T, int Rank>
  operator StridedMemRefType<T, Rank>() const {
    StridedMemRefType<T, Rank> memref;
    memref.basePtr = static_cast<T*>(base);
    memref.data = static_cast<T*>(data);
    memref.offset = offset;
    if constexpr (Rank > 0) {
      for (int axis = 0; axis < Rank; ++axis) {
        memref.sizes[axis] = sizes[axis];
        memref.strides[axis] = strides[axis];
      }
    }
    return memref;
  }

  // Complex numbers as compiled functions take them, as real ones with one dimension more; others
  // as they are.
  AnyMemRef Parts() const {
    AnyMemRef parts = *this;
    if (!IsComplex(type)) return parts;
    parts.type = PartOf(type);
    parts.offset *= 2;
    for (int axis = 0; axis < rank; ++axis) parts.strides[axis] *= 2;
    parts.sizes[rank] = 2;
    parts.strides[rank] = 1;
    ++parts.rank;
    return parts;
  }

  // Back again, to elements of `whole`. What is no pairs of parts stays as it is, for a comparison
  // to say so.
  AnyMemRef Of(ElementType whole) const {
    AnyMemRef numbers = *this;
    const int last = rank - 1;
    if (!IsComplex(whole) || type != PartOf(whole) || last < 0) return numbers;
    if (sizes[last] != 2 || strides[last] != 1 || offset % 2 != 0) return numbers;
    numbers.type = whole;
    numbers.rank = last;
    numbers.offset /= 2;
    for (int axis = 0; axis < last; ++axis) {
      if (strides[axis] % 2 != 0) return *this;
      numbers.strides[axis] /= 2;
    }
    return numbers;
  }

  // Gives a row-major memref the strides that its sizes have, without gaps.
  void SetStrides() {
    std::int64_t count = 1;
    for (int axis = rank; axis-- > 0;) {
      strides[axis] = count;
      count *= sizes[axis];
    }
  }

  ElementType type;
  int rank;
  void* base;  // The start of the allocation.
  void* data;
  // In elements, as the strides.
  std::int64_t offset;
  std::int64_t sizes[kMaxRank];
  std::int64_t strides[kMaxRank];
};

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_ANY_MEMREF_H_
