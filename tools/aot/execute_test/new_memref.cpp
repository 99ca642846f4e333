#include "tools/aot/execute_test/new_memref.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace plumbline {

namespace {

constexpr unsigned char kNoResult = 0xA5;

}  // namespace

Workspace::Workspace(std::int64_t bytes) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t blocks = (static_cast<std::size_t>(bytes) + kAlignment - 1) / kAlignment;
  data_ = std::aligned_alloc(kAlignment, kAlignment * (blocks > 0 ? blocks : 1));
  if (data_ == nullptr) throw std::bad_alloc();
  std::memset(data_, kNoResult, kAlignment * blocks);
}

Workspace::~Workspace() { std::free(data_); }

AnyMemRef NewMemRef(ElementType type, int rank, const std::int64_t* sizes) {
  AnyMemRef memref;
  memref.type = type;
  memref.rank = rank;
  memref.offset = 0;
  std::size_t count = 1;
  for (int axis = rank; axis-- > 0;) {
    memref.sizes[axis] = sizes[axis];
    memref.strides[axis] = static_cast<std::int64_t>(count);
    count *= static_cast<std::size_t>(sizes[axis]);
  }
  const std::size_t bytes = count * SizeOf(type);
  memref.base = std::malloc(bytes > 0 ? bytes : 1);
  if (memref.base == nullptr) throw std::bad_alloc();
  std::memset(memref.base, kNoResult, bytes);
  memref.data = memref.base;
  return memref;
}

}  // namespace plumbline
