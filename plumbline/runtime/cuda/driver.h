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

// Functions of which there are several versions have the newer one's suffix.
#define PLUMBLINE_CUDA_FUNCTIONS(F)                                                               \
  F(cuInit, (unsigned flags))                                                                     \
  F(cuDeviceGet, (CUdevice * device, int ordinal))                                                \
  F(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                             \
  F(cuCtxPushCurrent_v2, (CUcontext context))                                                     \
  F(cuCtxPopCurrent_v2, (CUcontext * context))                                                    \
  F(cuModuleLoadData, (CUmodule * module, const void* image))                                     \
  F(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name))              \
  F(cuMemAlloc_v2, (CUdeviceptr * pointer, size_t bytes))                                         \
  F(cuMemFree_v2, (CUdeviceptr pointer))                                                          \
  F(cuMemcpyHtoD_v2, (CUdeviceptr target, const void* source, size_t bytes))                      \
  F(cuMemcpyDtoH_v2, (void* target, CUdeviceptr source, size_t bytes))                            \
  F(cuLaunchKernel, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,      \
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, \
                     CUstream stream, void** parameters, void** extra))

typedef struct {
#define PLUMBLINE_FIELD(name, parameters) CUresult(*name) parameters;
  PLUMBLINE_CUDA_FUNCTIONS(PLUMBLINE_FIELD)
#undef PLUMBLINE_FIELD
} plumbline_cuda_driver;

#endif  // PLUMBLINE_RUNTIME_CUDA_DRIVER_H_
