#include "tools/aot/execute_test/program.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/aot/execute_test/comparison.h"
#include "tools/aot/execute_test/guarded_memory.h"
#include "tools/aot/execute_test/reference_tensors.h"
#include "tools/aot/execute_test/refusal.h"
#include "tools/aot/execute_test/result_buffers.h"

namespace plumbline {
namespace {

// The tensors of one case.
class Case {
 public:
  Case(const Program& program, int number = 0)
      : reference(program.archive, program.input_count, program.output_count, number) {
    for (int index = 0; index < program.input_count; ++index) {
      loaded_inputs_.push_back(LoadInput(program, index));
      inputs.push_back(loaded_inputs_.back().memref());
    }
    for (int index = 0; index < program.output_count; ++index) {
      const auto [type, rank] = program.outputs[index];
      expected.push_back(reference.Load("Output" + std::to_string(index), type, rank));
    }
  }

  // A copy that no call has seen.
  LoadedTensor LoadInput(const Program& program, int index) const {
    const auto [type, rank] = program.inputs[index];
    return reference.Load("Input" + std::to_string(index), type, rank);
  }

  const ReferenceTensors reference;
  std::vector<AnyMemRef> inputs;
  std::vector<LoadedTensor> expected;

 private:
  std::vector<LoadedTensor> loaded_inputs_;
};

std::vector<void*> Bases(const std::vector<AnyMemRef>& memrefs) {
  std::vector<void*> bases;
  for (const AnyMemRef& memref : memrefs) bases.push_back(memref.base);
  return bases;
}

class ExecuteTest : public testing::Test {
 public:
  explicit ExecuteTest(const Program& program) : program_(program) {}

 protected:
  // Case 0 is the loader's own inputs, and calls the function; the others are of other sizes, and
  // call its checked entry. Each runs twice, its tensors and temporaries at either end of the pages
  // that they lie in.
  void RunCase(int number) {
    for (const GuardedEnd end : {GuardedEnd::kBack, GuardedEnd::kFront}) {
      SetGuardedEnd(end);
      const std::int64_t before = GuardedAllocations();
      RunCaseOnce(number);
      EXPECT_EQ(before, GuardedAllocations()) << "not all temporaries have been given back";
      if (HasFailure()) return;
    }
  }

  void TearDown() override {
    if (numbers_differ_ && program_.bisect != nullptr) {
      std::printf("To find the op whose numbers are wrong:\n  bazel run %s\n", program_.bisect);
    }
  }

  const Program& program_;

 private:
  void RunCaseOnce(int number) {
    const Case tensors(program_, number);
    std::vector<AnyMemRef> outputs(program_.output_count);
    if (number == 0) {
      program_.call(tensors.inputs.data(), outputs.data());
    } else {
      const Refusal refusal(program_.call_checked(tensors.inputs.data(), outputs.data()));
      ASSERT_EQ(refusal.message(), "");
    }
    const std::set<int> written = TakeInOuts(tensors.inputs, outputs);
    const ResultBuffers buffers(Bases(outputs), Bases(tensors.inputs));

    for (int index = 0; index < program_.input_count; ++index) {
      if (written.count(index) > 0) continue;
      EXPECT_TRUE(IsUnmodified("Input" + std::to_string(index), tensors.inputs[index],
                               tensors.LoadInput(program_, index).memref()));
    }
    for (int index = 0; index < program_.output_count; ++index) {
      const testing::AssertionResult is_close =
          AllClose("Output" + std::to_string(index), outputs[index],
                   tensors.expected[index].memref(), tensors.reference.tolerance(index));
      if (is_close) continue;
      numbers_differ_ = true;
      ADD_FAILURE() << is_close.message();
    }
  }

  // Has outputs that are inputs' new values lie where these do, and gives the numbers of these.
  std::set<int> TakeInOuts(const std::vector<AnyMemRef>& inputs, std::vector<AnyMemRef>& outputs) {
    std::set<int> written;
    for (int index = 0; index < program_.inout_count; ++index) {
      const auto [input, output] = program_.inouts[index];
      outputs[output] = inputs[input];
      written.insert(input);
    }
    return written;
  }

  bool numbers_differ_ = false;
};

class AgreesWithReferences : public ExecuteTest {
  using ExecuteTest::ExecuteTest;
  void TestBody() override { RunCase(0); }
};

class AgreesWithReferencesAtOtherSizes : public ExecuteTest {
  using ExecuteTest::ExecuteTest;
  void TestBody() override {
    for (int number = 1; number <= program_.further_cases; ++number) {
      SCOPED_TRACE("Case" + std::to_string(number));
      RunCase(number);
    }
  }
};

class RefusesAWrongSize : public testing::Test {
 public:
  explicit RefusesAWrongSize(const Program& program) : program_(program) {}

 private:
  void TestBody() override {
    Case tensors(program_);
    const RefusedSize& refused = *program_.refused;
    tensors.inputs[refused.argument].sizes[refused.axis] = refused.size;

    std::vector<AnyMemRef> outputs(program_.output_count);
    const Refusal refusal(program_.call_checked(tensors.inputs.data(), outputs.data()));
    EXPECT_PRED_FORMAT2(testing::IsSubstring,
                        "argument " + std::to_string(refused.argument) + " has size " +
                            std::to_string(refused.size) + " in dimension " +
                            std::to_string(refused.axis),
                        refusal.message());
  }

  const Program& program_;
};

template <typename Test>
void Register(const char* name, const Program& program) {
  // All tests of a suite have one fixture class, by which googletest knows them.
  testing::RegisterTest("ExecuteTest", name, nullptr, nullptr, __FILE__, __LINE__,
                        [&program]() -> testing::Test* { return new Test(program); });
}

}  // namespace

bool RegisterExecuteTests(const Program& program) {
  Register<AgreesWithReferences>("AgreesWithReferences", program);
  if (program.further_cases > 0) {
    Register<AgreesWithReferencesAtOtherSizes>("AgreesWithReferencesAtOtherSizes", program);
  }
  if (program.refused != nullptr) Register<RefusesAWrongSize>("RefusesAWrongSize", program);
  return true;
}

}  // namespace plumbline
