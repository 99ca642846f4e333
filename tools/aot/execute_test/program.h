// What a generated test says of its program; the tests themselves are compiled once, in
// program.cpp.

#ifndef TOOLS_AOT_EXECUTE_TEST_PROGRAM_H_
#define TOOLS_AOT_EXECUTE_TEST_PROGRAM_H_

#include <cstdint>

#include "tools/aot/execute_test/any_memref.h"
#include "tools/aot/execute_test/element_type.h"

namespace plumbline {

struct TensorType {
  ElementType type;
  int rank;
};

// A size that the checked entry must refuse.
struct RefusedSize {
  int argument;
  int axis;
  std::int64_t size;
};

// An input that a call writes: it then holds this output.
struct InOut {
  int input;
  int output;
};

struct Program {
  // The reference archive among the runfiles: below the name of its workspace.
  const char* archive;
  int input_count;
  const TensorType* inputs;
  int output_count;
  const TensorType* outputs;
  int inout_count;
  const InOut* inouts;
  // Calls the function; writes a memref for each output that is no input's new value.
  void (*call)(const AnyMemRef* inputs, AnyMemRef* outputs);
  // Calls its checked entry, and returns what that returns. Where it refuses, there are no outputs.
  char* (*call_checked)(const AnyMemRef* inputs, AnyMemRef* outputs);
  // How many cases of other sizes the archive has beside the loader's own inputs.
  int further_cases;
  // Null where the function takes any size.
  const RefusedSize* refused;
  // The Bazel target that finds the op whose numbers are wrong; null where there is none.
  const char* bisect;
};

// Registers the tests of `program` with googletest, as TEST does. The program outlives them.
bool RegisterExecuteTests(const Program& program);

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_PROGRAM_H_
