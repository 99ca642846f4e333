#include "tools/aot/execute_test/tensor_view.h"

namespace plumbline {

std::string TypeText(ElementType type, const std::vector<std::int64_t>& sizes) {
  std::string text = "tensor<";
  for (std::int64_t size : sizes) text += std::to_string(size) + "x";
  return text + Name(type) + ">";
}

}  // namespace plumbline
