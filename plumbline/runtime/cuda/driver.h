// What of the CUDA driver API the runtime uses, and where it comes from.
//
// The declarations say how the functions of libcuda.so.1 are called; CUDA's own header is not
// needed. The library is opened when a program is first called, so that programs load on machines
// without a GPU.

#ifndef PLUMBLINE_RUNTIME_CUDA_DRIVER_H_
#define PLUMBLINE_RUNTIME_CUDA_DRIVER_H_

#include <stddef.h>

typedef int CUresult;  // 0: fine
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef struct CUgraph_st* CUgraph;
typedef struct CUgraphExec_st* CUgraphExec;

// Values of the API's enumerations.
enum {
  PLUMBLINE_CUDA_MEMORY_IS_HOST = 1,  // CUmemorytype; 0: the driver does not know it
  PLUMBLINE_CUDA_MEMORY_IS_DEVICE = 2,
  PLUMBLINE_CUDA_MOST_SHARED_BYTES = 8,    // CUfunction_attribute: dynamic ones, of a block
  PLUMBLINE_CUDA_POINTER_MEMORY_TYPE = 2,  // CUpointer_attribute
  PLUMBLINE_CUDA_POINTER_IS_MANAGED = 8,
  PLUMBLINE_CUDA_POINTER_DEVICE_ORDINAL = 9,
  PLUMBLINE_CUDA_STREAM_NON_BLOCKING = 1,  // CUstream_flags
  PLUMBLINE_CUDA_CAPTURE_THREAD_LOCAL = 1  // CUstreamCaptureMode
};

// Functions of which there are several versions have the newer one's suffix.
#define PLUMBLINE_CUDA_FUNCTIONS(F)                                                                \
  F(cuInit, (unsigned flags))                                                                      \
  F(cuGetErrorName, (CUresult error, const char** name))                                           \
  F(cuDeviceGet, (CUdevice * device, int ordinal))                                                 \
  F(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                              \
  F(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                               \
  F(cuCtxPushCurrent_v2, (CUcontext context))                                                      \
  F(cuCtxPopCurrent_v2, (CUcontext * context))                                                     \
  F(cuModuleLoadData, (CUmodule * module, const void* image))                                      \
  F(cuModuleUnload, (CUmodule module))                                                             \
  F(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name))               \
  F(cuFuncSetAttribute, (CUfunction function, int attribute, int value))                           \
  F(cuPointerGetAttributes, (unsigned count, int* attributes, void** values, CUdeviceptr pointer)) \
  F(cuMemAlloc_v2, (CUdeviceptr * pointer, size_t bytes))                                          \
  F(cuMemFree_v2, (CUdeviceptr pointer))                                                           \
  F(cuMemcpyHtoD_v2, (CUdeviceptr target, const void* source, size_t bytes))                       \
  F(cuMemsetD8Async, (CUdeviceptr target, unsigned char value, size_t count, CUstream stream))     \
  F(cuMemsetD32Async, (CUdeviceptr target, unsigned value, size_t count, CUstream stream))         \
  F(cuMemcpyDtoH_v2, (void* target, CUdeviceptr source, size_t bytes))                             \
  F(cuMemcpyDtoDAsync_v2, (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream)) \
  F(cuStreamCreate, (CUstream * stream, unsigned flags))                                           \
  F(cuStreamDestroy_v2, (CUstream stream))                                                         \
  F(cuStreamSynchronize, (CUstream stream))                                                        \
  F(cuStreamIsCapturing, (CUstream stream, int* status))                                           \
  F(cuStreamBeginCapture_v2, (CUstream stream, int mode))                                          \
  F(cuStreamEndCapture, (CUstream stream, CUgraph * graph))                                        \
  F(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags))    \
  F(cuGraphLaunch, (CUgraphExec exec, CUstream stream))                                            \
  F(cuGraphDestroy, (CUgraph graph))                                                               \
  F(cuGraphExecDestroy, (CUgraphExec exec))                                                        \
  F(cuLaunchKernel, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,       \
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,  \
                     CUstream stream, void** parameters, void** extra))

typedef struct {
#define PLUMBLINE_FIELD(name, parameters) CUresult(*name) parameters;
  PLUMBLINE_CUDA_FUNCTIONS(PLUMBLINE_FIELD)
#undef PLUMBLINE_FIELD
} plumbline_cuda_driver;

#endif  // PLUMBLINE_RUNTIME_CUDA_DRIVER_H_
