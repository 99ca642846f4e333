// What a compiled program calls to have its kernels run on a GPU.
//
// A program begins a call, says what is to be done, and ends it, all on one thread; several threads
// may do so at once. What goes wrong first is remembered until the call ends, and nothing is done
// after it: so a program asks once, before it returns. The end of a call gives back what is left of
// its device memory.

#ifndef PLUMBLINE_RUNTIME_CUDA_RUNTIME_H_
#define PLUMBLINE_RUNTIME_CUDA_RUNTIME_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What went wrong. `plumbline/gpu_to_nvvm/device_calls.py` has a message for each, in this order.
enum {
  PLUMBLINE_CUDA_NO_DRIVER = 1,
  PLUMBLINE_CUDA_OLD_DRIVER,
  PLUMBLINE_CUDA_NO_DEVICE,
  PLUMBLINE_CUDA_NO_MODULE,
  PLUMBLINE_CUDA_NO_MEMORY,
  PLUMBLINE_CUDA_NO_LAUNCH,
  PLUMBLINE_CUDA_NO_COPY,
};

// `ptx` is the text of the program's kernels. `state` is zeros at first, and the runtime's then.
void plumbline_cuda_begin(const char* ptx, void** state);

void* plumbline_cuda_allocate(int64_t bytes);
void plumbline_cuda_free(void* pointer);
void plumbline_cuda_copy_to_device(void* target, const void* source, int64_t bytes);
// Waits for all kernels that were launched.
void plumbline_cuda_copy_to_host(void* target, const void* source, int64_t bytes);

// `words` are the kernel's parameters, each in the first bytes of one; they are read at once.
void plumbline_cuda_launch(const char* kernel, int64_t blocks, int64_t threads, uint64_t* words,
                           int64_t count);

// 0: what went wrong, or 0 if nothing did; 1: the driver's error; 2: how many bytes it was about.
int64_t plumbline_cuda_failure(int number);

void plumbline_cuda_end(void);

#ifdef __cplusplus
}
#endif

#endif  // PLUMBLINE_RUNTIME_CUDA_RUNTIME_H_
