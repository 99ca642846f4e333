// What a compiled function is given in a test, and what it should return.

#ifndef TOOLS_AOT_EXECUTE_TEST_REFERENCE_TENSORS_H_
#define TOOLS_AOT_EXECUTE_TEST_REFERENCE_TENSORS_H_

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "third_party/cnpy/cnpy.h"
#include "tools/aot/execute_test/any_memref.h"
#include "tools/aot/execute_test/comparison.h"
#include "tools/aot/execute_test/element_type.h"

namespace plumbline {

// A row-major tensor in guarded memory of its own, no more aligned than its elements are.
class LoadedTensor {
 public:
  // `name` is what a message calls it.
  LoadedTensor(const std::string& name, ElementType type, const std::vector<std::size_t>& sizes);

  // Points into this object, and is good as long as it.
  const AnyMemRef& memref() const { return memref_; }

 private:
  AnyMemRef memref_;
  struct Free {
    void operator()(char* elements) const { std::free(elements); }
  };
  std::unique_ptr<char[], Free> elements_;
};

// The archive that plumbline/archives/reference_archive.py writes.
//
// Whatever is wrong with it throws a std::exception (std::runtime_error or cnpy::Error), which
// googletest turns into a failure of the test with the exception's message. Load every tensor
// before the compiled function is called: it then runs only on what it was compiled for.
class ReferenceTensors {
 public:
  // Reads the archive at `path` from the test's runfiles.
  // Throws unless it holds so many inputs and outputs. Case 0 is the one that every archive has.
  ReferenceTensors(const std::string& path, int inputs, int outputs, int case_number = 0);

  // A new row-major copy of `member` of the case, which is "Input0", "Output0" and so on. Throws
  // unless it has this element type and rank.
  LoadedTensor Load(const std::string& member, ElementType type, int rank) const;

  // What is allowed of the output with this index.
  const Tolerance& tolerance(int output) const { return tolerances_[output]; }

 private:
  const cnpy::NpyArray& Find(const std::string& member, ElementType type, std::size_t rank) const;
  std::vector<double> ReadTolerances(const std::string& member, std::size_t outputs) const;
  static void CopyRowMajor(const cnpy::NpyArray& array, void* target);

  std::string path_;
  // Before the names of the members of the case: "", "Case1.".
  std::string prefix_;
  cnpy::npz_t arrays_;
  std::vector<Tolerance> tolerances_;
};

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_REFERENCE_TENSORS_H_
