// Where Bazel put the files that a test reads.

#ifndef TOOLS_AOT_EXECUTE_TEST_RUNFILE_H_
#define TOOLS_AOT_EXECUTE_TEST_RUNFILE_H_

#include <string>

namespace plumbline {

// Finds the runfile at `path`, which begins with the name of its workspace: under `bazel test`,
// under `bazel run`, and where the program in bazel-bin is started by hand. Throws
// std::runtime_error where there is none.
std::string FindRunfile(const std::string& path);

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_RUNFILE_H_
