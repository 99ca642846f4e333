#include "tools/aot/execute_test/result_buffers.h"

#include <stdexcept>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plumbline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// What was released, in order.
std::vector<void*> released;

class ResultBuffersTest : public testing::Test {
 protected:
  void SetUp() override { released.clear(); }

  static void Release(void* buffer) { released.push_back(buffer); }

  int a_, b_, c_;
};

TEST_F(ResultBuffersTest, ReleasesEachDistinctBufferAtTheEndOfScope) {
  {
    const ResultBuffers buffers({&a_, &b_}, {&c_}, Release);
    EXPECT_THAT(released, IsEmpty());
  }
  EXPECT_THAT(released, UnorderedElementsAre(&a_, &b_));
}

TEST_F(ResultBuffersTest, ReleasesASharedBufferOnce) {
  {
    const ResultBuffers buffers({&a_, &b_, &a_}, {}, Release);
  }
  EXPECT_THAT(released, UnorderedElementsAre(&a_, &b_));
}

TEST_F(ResultBuffersTest, LeavesInputsAlone) {
  {
    const ResultBuffers buffers({&a_, &b_, &a_}, {&c_, &a_}, Release);
  }
  EXPECT_THAT(released, ElementsAre(&b_));
}

TEST_F(ResultBuffersTest, ReleasesWhenAnExceptionPasses) {
  try {
    const ResultBuffers buffers({&a_}, {}, Release);
    throw std::runtime_error("comparison failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_THAT(released, ElementsAre(&a_));
}

}  // namespace
}  // namespace plumbline
