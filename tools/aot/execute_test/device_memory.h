// What a test has in memory of a GPU, by the driver that the program opens as well.

#ifndef TOOLS_AOT_EXECUTE_TEST_DEVICE_MEMORY_H_
#define TOOLS_AOT_EXECUTE_TEST_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/aot/execute_test/any_memref.h"

namespace plumbline {

// The tensors of one call on the first GPU. When it ends, results are copied back and all is freed.
// Throws std::runtime_error where the driver refuses something, or there is none.
class DeviceMemory {
 public:
  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // A copy of a row-major tensor without gaps.
  void* In(const AnyMemRef& tensor);
  // Memory that is copied to the tensor when all ends; it begins with what is there.
  void* Out(const AnyMemRef& tensor);
  // So many bytes, or null for none.
  void* Bytes(std::int64_t bytes);

 private:
  struct Copy {
    unsigned long long device;
    void* host;
    std::size_t bytes;
  };
  std::vector<unsigned long long> allocated_;
  std::vector<Copy> results_;
};

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_DEVICE_MEMORY_H_
