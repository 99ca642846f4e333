// Memory for the results of a function that its caller brings memory to.

#ifndef TOOLS_AOT_EXECUTE_TEST_NEW_MEMREF_H_
#define TOOLS_AOT_EXECUTE_TEST_NEW_MEMREF_H_

#include <cstdint>

#include "tools/aot/execute_test/any_memref.h"
#include "tools/aot/execute_test/element_type.h"

namespace plumbline {

// Memory for the temporaries of a function.
class Workspace {
 public:
  explicit Workspace(std::int64_t bytes);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void* data() const { return data_; }

 private:
  void* data_;
};

// A row-major memref in guarded memory, to be given back with free().
AnyMemRef NewMemRef(ElementType type, int rank, const std::int64_t* sizes);

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_NEW_MEMREF_H_
