// A tensor that someone else owns, its element type and rank known only when the program runs.

#ifndef TOOLS_AOT_EXECUTE_TEST_TENSOR_VIEW_H_
#define TOOLS_AOT_EXECUTE_TEST_TENSOR_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/aot/abi.h"
#include "tools/aot/execute_test/any_memref.h"
#include "tools/aot/execute_test/element_type.h"

namespace plumbline {

struct TensorView {
  // Implicit: it stands for the memref in the parameters of functions that take any.
  TensorView(const AnyMemRef& memref)
      : type(memref.type),
        data(memref.data),
        offset(memref.offset),
        sizes(memref.sizes, memref.sizes + memref.rank),
        strides(memref.strides, memref.strides + memref.rank) {}
  template <typename T, int Rank>
  TensorView(const StridedMemRefType<T, Rank>& memref) : TensorView(AnyMemRef(memref)) {}

  ElementType type;
  const void* data;
  // In elements, as the strides.
  std::int64_t offset;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

// "tensor<2x3xf32>", "tensor<f32>".
std::string TypeText(ElementType type, const std::vector<std::int64_t>& sizes);

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_TENSOR_VIEW_H_
