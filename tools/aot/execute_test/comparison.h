// Holds tensors against each other and says where they differ.

#ifndef TOOLS_AOT_EXECUTE_TEST_COMPARISON_H_
#define TOOLS_AOT_EXECUTE_TEST_COMPARISON_H_

#include <string>

#include "gtest/gtest.h"
#include "tools/aot/execute_test/tensor_view.h"

namespace plumbline {

// The rule of torch.testing.assert_close: |actual - expected| <= atol + rtol * |expected|.
struct Tolerance {
  double rtol;
  double atol;
};

// Whether `actual` has the shape of `expected` and is as close to it in every element as
// `tolerance` asks. NaN is close to NaN, an infinity to itself only. Distances are taken in double;
// two finite values whose distance overflows it are not close. The failure's message starts with
// `name`, counts the elements that differ, and describes the worst of them: the one whose distance
// is the largest multiple of what its tolerance allows.
testing::AssertionResult AllClose(const std::string& name, const TensorView& actual,
                                  const TensorView& expected, const Tolerance& tolerance);

// Whether the input `name`, which now is `now`, still has the bits that it had before the call.
testing::AssertionResult IsUnmodified(const std::string& name, const TensorView& now,
                                      const TensorView& before);

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_COMPARISON_H_
