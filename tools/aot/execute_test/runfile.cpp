#include "tools/aot/execute_test/runfile.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "rules_cc/cc/runfiles/runfiles.h"

namespace plumbline {
namespace {

using rules_cc::cc::runfiles::Runfiles;

std::unique_ptr<Runfiles> FindRunfiles() {
  std::string error;
  std::unique_ptr<Runfiles> runfiles(
      std::getenv("TEST_SRCDIR") != nullptr
          ? Runfiles::CreateForTest(&error)
          // gtest_main keeps argv to itself, and the runfiles lie beside the program.
          : Runfiles::Create(std::filesystem::read_symlink("/proc/self/exe").string(), &error));
  if (runfiles == nullptr) throw std::runtime_error("the test has no runfiles: " + error);
  return runfiles;
}

}  // namespace

std::string FindRunfile(const std::string& path) {
  const std::unique_ptr<Runfiles> runfiles = FindRunfiles();
  const std::string location = runfiles->Rlocation(path);
  if (!location.empty() && std::filesystem::exists(location)) return location;
  throw std::runtime_error(path + " is not among the test's runfiles: is it in the test's data?");
}

}  // namespace plumbline
