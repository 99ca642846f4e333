#include "plumbline/runtime/cuda/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "plumbline/runtime/cuda/driver.h"

static plumbline_cuda_driver driver;
static CUcontext context;

// What keeps this process from using a GPU, found out once.
static int unusable, unusable_error;

typedef struct {
  const char* ptx;
  void** state;
  CUdeviceptr* allocated;
  size_t count, capacity;
  int is_current;
  int failure;
  int64_t error, bytes;
} Call;

static _Thread_local Call call;

static void Fail(int failure, CUresult error, int64_t bytes) {
  if (call.failure != 0) return;
  call.failure = failure;
  call.error = error;
  call.bytes = bytes;
}

static void Open(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    unusable = PLUMBLINE_CUDA_NO_DRIVER;
    return;
  }
#define PLUMBLINE_FIND(name, parameters)                         \
  *(void**)&driver.name = dlsym(library, #name);                 \
  if (driver.name == NULL) unusable = PLUMBLINE_CUDA_OLD_DRIVER;
  PLUMBLINE_CUDA_FUNCTIONS(PLUMBLINE_FIND)
#undef PLUMBLINE_FIND
  if (unusable != 0) return;
  CUdevice device = 0;
  unusable_error = driver.cuInit(0);
  // Of the devices that CUDA_VISIBLE_DEVICES leaves, the first.
  if (unusable_error == 0) unusable_error = driver.cuDeviceGet(&device, 0);
  // The one context that all libraries of a process share.
  if (unusable_error == 0) unusable_error = driver.cuDevicePrimaryCtxRetain(&context, device);
  if (unusable_error != 0) unusable = PLUMBLINE_CUDA_NO_DEVICE;
}

void plumbline_cuda_begin(const char* ptx, void** state) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  memset(&call, 0, sizeof(call));
  call.ptx = ptx;
  call.state = state;
  pthread_once(&once, Open);
  if (unusable != 0) {
    Fail(unusable, unusable_error, 0);
    return;
  }
  const CUresult error = driver.cuCtxPushCurrent_v2(context);
  if (error != 0) {
    Fail(PLUMBLINE_CUDA_NO_DEVICE, error, 0);
  } else {
    call.is_current = 1;
  }
}

// The program's module, which its first launch loads. One that could not be is tried again.
static CUmodule Module(void) {
  static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
  CUresult error = 0;
  pthread_mutex_lock(&loading);
  CUmodule module = *call.state;
  if (module == NULL) {
    error = driver.cuModuleLoadData(&module, call.ptx);
    if (error == 0) *call.state = module;
  }
  pthread_mutex_unlock(&loading);
  if (error != 0) Fail(PLUMBLINE_CUDA_NO_MODULE, error, 0);
  return module;
}

void* plumbline_cuda_allocate(int64_t bytes) {
  if (call.failure != 0) return NULL;
  if (call.count == call.capacity) {
    const size_t capacity = 2 * call.capacity + 16;
    CUdeviceptr* more = realloc(call.allocated, capacity * sizeof(*more));
    if (more == NULL) {
      Fail(PLUMBLINE_CUDA_NO_MEMORY, 0, bytes);
      return NULL;
    }
    call.allocated = more;
    call.capacity = capacity;
  }
  CUdeviceptr pointer = 0;
  // The driver refuses to allocate nothing.
  const CUresult error = driver.cuMemAlloc_v2(&pointer, bytes > 0 ? (size_t)bytes : 1);
  if (error != 0) {
    Fail(PLUMBLINE_CUDA_NO_MEMORY, error, bytes);
    return NULL;
  }
  call.allocated[call.count++] = pointer;
  return (void*)pointer;
}

void plumbline_cuda_free(void* pointer) {
  for (size_t i = call.count; i-- > 0;) {
    if (call.allocated[i] != (CUdeviceptr)pointer) continue;
    call.allocated[i] = call.allocated[--call.count];
    const CUresult error = driver.cuMemFree_v2((CUdeviceptr)pointer);
    // It waits for kernels, and so tells of what went wrong in them.
    if (error != 0) Fail(PLUMBLINE_CUDA_NO_COPY, error, 0);
    return;
  }
}

void plumbline_cuda_copy_to_device(void* target, const void* source, int64_t bytes) {
  if (call.failure != 0 || bytes <= 0) return;
  const CUresult error = driver.cuMemcpyHtoD_v2((CUdeviceptr)target, source, (size_t)bytes);
  if (error != 0) Fail(PLUMBLINE_CUDA_NO_COPY, error, bytes);
}

void plumbline_cuda_copy_to_host(void* target, const void* source, int64_t bytes) {
  if (call.failure != 0 || bytes <= 0) return;
  const CUresult error = driver.cuMemcpyDtoH_v2(target, (CUdeviceptr)source, (size_t)bytes);
  if (error != 0) Fail(PLUMBLINE_CUDA_NO_COPY, error, bytes);
}

void plumbline_cuda_launch(const char* kernel, int64_t blocks, int64_t threads, uint64_t* words,
                           int64_t count) {
  if (call.failure != 0) return;
  const CUmodule module = Module();
  if (call.failure != 0) return;
  CUfunction function = NULL;
  CUresult error = driver.cuModuleGetFunction(&function, module, kernel);
  void** parameters = malloc((size_t)(count + 1) * sizeof(*parameters));
  if (parameters == NULL) {
    Fail(PLUMBLINE_CUDA_NO_MEMORY, 0, 0);
    return;
  }
  for (int64_t i = 0; i < count; ++i) parameters[i] = &words[i];
  if (error == 0) {
    error = driver.cuLaunchKernel(function, (unsigned)blocks, 1, 1, (unsigned)threads, 1, 1, 0,
                                  NULL, parameters, NULL);
  }
  free(parameters);
  if (error != 0) Fail(PLUMBLINE_CUDA_NO_LAUNCH, error, 0);
}

int64_t plumbline_cuda_failure(int number) {
  if (number == 0) return call.failure;
  return number == 1 ? call.error : call.bytes;
}

void plumbline_cuda_end(void) {
  while (call.count > 0) driver.cuMemFree_v2(call.allocated[--call.count]);
  free(call.allocated);
  if (call.is_current) {
    CUcontext popped = NULL;
    driver.cuCtxPopCurrent_v2(&popped);
  }
  memset(&call, 0, sizeof(call));
}
