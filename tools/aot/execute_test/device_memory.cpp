#include "tools/aot/execute_test/device_memory.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "plumbline/runtime/cuda/driver.h"
#include "tools/aot/execute_test/element_type.h"

namespace plumbline {
namespace {

void Check(const char* function, CUresult error) {
  if (error != 0) {
    throw std::runtime_error(std::string(function) + " gives " + std::to_string(error));
  }
}

const plumbline_cuda_driver& Driver() {
  static const plumbline_cuda_driver driver = [] {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) throw std::runtime_error(dlerror());
    plumbline_cuda_driver found;
#define PLUMBLINE_FIND(name, parameters) \
  found.name = reinterpret_cast<CUresult(*) parameters>(dlsym(library, #name));
    PLUMBLINE_CUDA_FUNCTIONS(PLUMBLINE_FIND)
#undef PLUMBLINE_FIND
    Check("cuInit", found.cuInit(0));
    return found;
  }();
  return driver;
}

CUcontext Context() {
  static const CUcontext context = [] {
    CUdevice device = 0;
    CUcontext retained = nullptr;
    Check("cuDeviceGet", Driver().cuDeviceGet(&device, 0));
    Check("cuDevicePrimaryCtxRetain", Driver().cuDevicePrimaryCtxRetain(&retained, device));
    return retained;
  }();
  return context;
}

std::size_t BytesOf(const AnyMemRef& tensor) {
  std::size_t bytes = SizeOf(tensor.type);
  for (int axis = 0; axis < tensor.rank; ++axis) {
    bytes *= static_cast<std::size_t>(tensor.sizes[axis]);
  }
  return bytes;
}

}  // namespace

DeviceMemory::DeviceMemory() { Check("cuCtxPushCurrent", Driver().cuCtxPushCurrent_v2(Context())); }

DeviceMemory::~DeviceMemory() {
  // The copies are made on the default stream, on which the program was.
  for (const Copy& copy : results_) {
    Driver().cuMemcpyDtoH_v2(copy.host, copy.device, copy.bytes);
  }
  for (const unsigned long long device : allocated_) Driver().cuMemFree_v2(device);
  CUcontext popped = nullptr;
  Driver().cuCtxPopCurrent_v2(&popped);
}

void* DeviceMemory::Bytes(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  CUdeviceptr device = 0;
  Check("cuMemAlloc", Driver().cuMemAlloc_v2(&device, static_cast<std::size_t>(bytes)));
  allocated_.push_back(device);
  return reinterpret_cast<void*>(device);
}

void* DeviceMemory::In(const AnyMemRef& tensor) {
  const std::size_t bytes = BytesOf(tensor);
  void* device = Bytes(static_cast<std::int64_t>(bytes));
  if (device != nullptr) {
    Check("cuMemcpyHtoD",
          Driver().cuMemcpyHtoD_v2(reinterpret_cast<CUdeviceptr>(device), tensor.data, bytes));
  }
  return device;
}

void* DeviceMemory::Out(const AnyMemRef& tensor) {
  void* device = In(tensor);
  if (device != nullptr) {
    results_.push_back({reinterpret_cast<CUdeviceptr>(device), tensor.data, BytesOf(tensor)});
  }
  return device;
}

}  // namespace plumbline
