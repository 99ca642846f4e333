// Memrefs that own their memory.

#ifndef TOOLS_AOT_EXECUTE_TEST_OWNED_MEMREF_H_
#define TOOLS_AOT_EXECUTE_TEST_OWNED_MEMREF_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "tools/aot/abi.h"

namespace plumbline {

// A row-major memref of zeros, freed with the object.
template <typename T, int Rank>
class OwnedMemRef : public StridedMemRefType<T, Rank> {
 public:
  explicit OwnedMemRef(const std::array<std::int64_t, Rank>& sizes) {
    std::int64_t count = 1;
    if constexpr (Rank > 0) {
      for (int axis = Rank - 1; axis >= 0; --axis) {
        this->sizes[axis] = sizes[axis];
        this->strides[axis] = count;
        count *= sizes[axis];
      }
    }
    elements_ = std::make_unique<T[]>(static_cast<std::size_t>(count));
    this->basePtr = elements_.get();
    this->data = elements_.get();
    this->offset = 0;
  }

 private:
  std::unique_ptr<T[]> elements_;
};

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_OWNED_MEMREF_H_
