// What a compiled program calls to have its kernels run on a GPU.
//
// A program begins a call, says what is to be done, and ends it, all on one thread; several threads
// may do so at once. What goes wrong first is remembered until the call ends, and nothing is done
// after it: so a program asks once, before it returns. The end of a call gives back what is left of
// its device memory.
//
// What outlives a call is the program's: its module, and its weights in device memory, on each
// device that it has run on. A library gives them back when it is unloaded.

#ifndef PLUMBLINE_RUNTIME_CUDA_RUNTIME_H_
#define PLUMBLINE_RUNTIME_CUDA_RUNTIME_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where a pointer is that is not in the memory of one device, whose number would be 0 or more.
enum {
  PLUMBLINE_CUDA_HOST = -1,
  // It is null, is managed memory, or there is no driver that would know.
  PLUMBLINE_CUDA_ANYWHERE = -2,
};

// What a program is, beside its machine code.
typedef struct plumbline_cuda_program {
  void* loaded;  // null at first, and the runtime's then
} plumbline_cuda_program;

// Begins a call.
//
// `image` is the text of the program's kernels in PTX, or a fatbin of these. `residents` says how
// many tensors the program keeps on a device, and `planned` how many bytes of device memory calls
// take, as far as is known when it is compiled. What has no place on one device runs on the first
// that CUDA_VISIBLE_DEVICES leaves. All is queued on `stream`; null is the default one.
//
// With a `key` of `count` words, which say all that calls of one program may differ by, the
// launches become a graph once a call is repeated: plumbline_cuda_replay then does all of it.
void plumbline_cuda_begin(plumbline_cuda_program* program, const void* image, int64_t residents,
                          int64_t planned, int32_t device, void* stream, const uint64_t* key,
                          int64_t count);

// Queues what calls with this key do, and gives 1; or gives 0 where there is no graph of that yet.
int32_t plumbline_cuda_replay(plumbline_cuda_program* program, int32_t device, void* stream,
                              const uint64_t* key, int64_t count);

// The device that memory is on, or where it is instead.
int32_t plumbline_cuda_device_of(const void* pointer);

void* plumbline_cuda_allocate(int64_t bytes);
void plumbline_cuda_free(void* pointer);

// A tensor of the program's in device memory, by its number: uploaded when it is first asked for.
void* plumbline_cuda_resident(int64_t number, const void* source, int64_t bytes);

// Waits for what is queued on the default stream before.
void plumbline_cuda_copy_to_device(void* target, const void* source, int64_t bytes);
// Queues that a few bytes are put there, which are read at once, a graph's too: it waits for
// nothing. Aligned to 4 bytes.
void plumbline_cuda_put_on_device(void* target, const void* source, int64_t bytes);
void plumbline_cuda_copy_on_device(void* target, const void* source, int64_t bytes);
// Waits for all kernels that were launched.
void plumbline_cuda_copy_to_host(void* target, const void* source, int64_t bytes);

// Each block is given `shared_bytes` of shared memory beside what the kernel declares. `words` are
// the kernel's parameters, each in the first bytes of one; they are read at once.
void plumbline_cuda_launch(const char* kernel, int64_t blocks, int64_t threads,
                           int64_t shared_bytes, uint64_t* words, int64_t count);

// Says that all is queued, and waits until it is done if asked to.
void plumbline_cuda_submit(int32_t waits);

// What went wrong, in words, or null if nothing did.
const char* plumbline_cuda_failure(void);

// The same of the last call of this thread in which something did, until the next such one.
const char* plumbline_last_text(void);

void plumbline_cuda_end(void);

// Gives back what the program has on devices. No call of it is under way, nor comes later.
void plumbline_cuda_unload(plumbline_cuda_program* program);

#ifdef __cplusplus
}
#endif

#endif  // PLUMBLINE_RUNTIME_CUDA_RUNTIME_H_
