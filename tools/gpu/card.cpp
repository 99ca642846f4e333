// Linked into a test, it has the test skip, and say why, where there is no GPU to run on.

#include <dlfcn.h>

#include <string>

#include "gtest/gtest.h"
#include "plumbline/runtime/cuda/driver.h"

namespace {

// What keeps this machine from running kernels; empty: nothing does.
std::string Problem() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    return "there is no NVIDIA driver here: libcuda.so.1 cannot be loaded";
  }
  const auto init = reinterpret_cast<CUresult (*)(unsigned)>(dlsym(library, "cuInit"));
  const CUresult error = init == nullptr ? -1 : init(0);
  return error == 0 ? "" : "the NVIDIA driver gives no GPU: CUDA error " + std::to_string(error);
}

class Card : public testing::Environment {
 public:
  void SetUp() override {
    const std::string problem = Problem();
    if (!problem.empty()) GTEST_SKIP() << problem;
  }
};

[[maybe_unused]] const auto* const kCard = testing::AddGlobalTestEnvironment(new Card);

}  // namespace
