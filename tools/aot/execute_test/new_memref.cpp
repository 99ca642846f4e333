#include "tools/aot/execute_test/new_memref.h"

#include <cstddef>
#include <cstdlib>

#include "tools/aot/execute_test/guarded_memory.h"

namespace plumbline {

Workspace::Workspace(std::int64_t bytes) {
  constexpr std::size_t kAlignment = 64;
  data_ = AllocateGuarded(static_cast<std::size_t>(bytes), kAlignment, "the workspace");
}

Workspace::~Workspace() { std::free(data_); }

AnyMemRef NewMemRef(ElementType type, int rank, const std::int64_t* sizes) {
  AnyMemRef memref;
  memref.type = type;
  memref.rank = rank;
  memref.offset = 0;
  std::size_t count = 1;
  for (int axis = 0; axis < rank; ++axis) {
    memref.sizes[axis] = sizes[axis];
    count *= static_cast<std::size_t>(sizes[axis]);
  }
  memref.SetStrides();
  // No more aligned than a caller has to.
  memref.base = AllocateGuarded(count * SizeOf(type), SizeOf(type), "a result");
  memref.data = memref.base;
  return memref;
}

}  // namespace plumbline
