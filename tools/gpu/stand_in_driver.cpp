// A stand-in for libcuda.so.1, for machines without a GPU: it runs kernels on the CPU.
//
// A module is loaded from PTX, as a driver does. What a kernel does is not read off the PTX,
// though, but is a function made of the same stage as that (`emulated_kernels.py`), which is found
// by its name. The threads of a block have a stack each, and run in turns: one warp as far as it
// gets without the others, that is to the next barrier, and then the next one. They do so forwards
// or, by plumbline_stand_in_reverse, backwards: where a barrier is missing, the results differ.
//
// It holds what is called against what a driver wants: the order of calls, memory that is there and
// large enough, parameters as the PTX declares them, contexts and streams that go with them. Device
// memory has a page after it that nobody may touch, and holds nothing of use at first. What is
// queued is done when somebody waits for it, and no sooner: that of one stream in order, and of
// several in turns. A mistake ends the process with a message.
//
// There are two devices, of which CUDA_VISIBLE_DEVICES leaves those that it lists, in its order.

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "plumbline/runtime/cuda/driver.h"
#include "tools/gpu/warp_matrices.h"

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kStack = 64 << 10;
// What a kernel may declare, or be given without more ado; and what a block has at most, on every
// GPU that kernels with asynchronous copies run on, and where code is for sm_90a alone.
constexpr size_t kSharedBytes = 48 << 10;
constexpr size_t kMostSharedBytes = 99 << 10;
constexpr size_t kMostSharedBytesOfH100 = 227 << 10;
constexpr size_t kGuardBytes = 256;
// Where shared memory begins: the descriptors of tiles have so many bits of an address.
constexpr size_t kSharedAlignment = 1 << 18;

constexpr CUresult kInvalidValue = 1;
constexpr CUresult kOutOfMemory = 2;
constexpr CUresult kDeinitialised = 4;
constexpr CUresult kNoDevice = 100;
constexpr CUresult kNotFound = 500;
constexpr int kDevices = 2;

[[noreturn]] __attribute__((format(printf, 1, 2))) void Die(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "stand-in driver: ");
  std::vfprintf(stderr, format, arguments);
  std::fprintf(stderr, "\n");
  va_end(arguments);
  std::abort();
}

using Entry = void (*)(void**);

struct Kernel {
  std::string name;
  Entry entry = nullptr;
  size_t parameters = 0;
  size_t most_threads = 1024;
  size_t shared_bytes = 0;  // that it declares
  size_t most_shared_bytes = kMostSharedBytes;
  size_t most_dynamic_bytes = kSharedBytes;
  bool waits = false;  // for other threads of its block
};

}  // namespace

using Work = std::function<void()>;
using Works = std::vector<Work>;

struct CUctx_st {
  int device;  // its number among all there are
  int retained = 0;
  Works work{};  // of its default stream
};

struct CUmod_st {
  CUcontext context;
  std::map<std::string, Kernel> kernels;
};

struct CUgraph_st {
  CUcontext context;
  Works work;
};

struct CUgraphExec_st {
  CUcontext context;
  Works work;
};

struct CUstream_st {
  CUcontext context;
  unsigned flags;
  Works work;
  CUgraph captured = nullptr;

  bool Waits() const { return !(flags & PLUMBLINE_CUDA_STREAM_NON_BLOCKING); }
};

namespace {

// Managed memory and what is pinned are the host's too; the driver knows them nevertheless.
enum class Kind { kDevice, kManaged, kPinned };

struct Allocation {
  Kind kind;
  CUcontext context;
  size_t bytes;
  char* pages;
  size_t pages_bytes;
};

std::recursive_mutex mutex;
std::map<std::string, Entry> registered;
std::map<CUdeviceptr, Allocation> allocations;
std::map<CUmodule, std::unique_ptr<CUmod_st>> modules;
std::map<CUstream, std::unique_ptr<CUstream_st>> streams;
std::map<CUgraph, std::unique_ptr<CUgraph_st>> graphs;
std::map<CUgraphExec, std::unique_ptr<CUgraphExec_st>> execs;
CUctx_st contexts[kDevices] = {{0}, {1}};
std::vector<int> visible;
bool is_initialised = false, is_reverse = false;
unsigned most_blocks = 0;  // of a launch; 0: any number
unsigned microseconds_of_calls = 0;
long launches = 0, waits = 0, replays = 0, uploads = 0;
size_t most_bytes = 0;  // of device memory; 0: any number
std::string failing;
int failing_after = 0;
CUresult failing_error = 0;
thread_local std::vector<CUcontext> current;
thread_local CUstream capturing = nullptr;

// After the end of the process has begun, a driver refuses everything.
bool is_shut_down = false;
struct ShutDown {
  ~ShutDown() { is_shut_down = true; }
} shut_down;

// -- modules --------------------------------------------------------------------------------------

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The PTX of an image: that is one, or a fatbin with one, not compressed. Such begins with a magic
// number, and has at 8 bytes how many there are after its header of 16.
std::string PtxOf(const char* image) {
  constexpr uint32_t kFatbin = 0xba55ed50;
  uint32_t magic;
  std::memcpy(&magic, image, sizeof(magic));
  if (magic != kFatbin) return image;
  uint64_t bytes;
  std::memcpy(&bytes, image + 8, sizeof(bytes));
  const std::string all(image + 16, bytes);
  const size_t begin = all.find(".version");
  if (begin == std::string::npos) Die("a fatbin without PTX is loaded");
  return all.substr(begin, all.find('\0', begin) - begin);
}

void Load(const std::string& ptx, CUmodule module) {
  const std::string entry = ".entry ";
  for (size_t at = ptx.find(entry); at != std::string::npos; at = ptx.find(entry, at + 1)) {
    const size_t open = ptx.find('(', at), close = ptx.find(')', open);
    const size_t body = ptx.find('{', close);
    if (body == std::string::npos) Die("PTX ends within the kernel that begins at %zu", at);
    const std::string code = ptx.substr(body, ptx.find("\n}", body) - body);
    Kernel kernel;
    kernel.name = ptx.substr(at + entry.size(), open - at - entry.size());
    kernel.parameters = Count(ptx.substr(open, close - open), ".param ");
    kernel.waits = Count(code, "bar.sync") + Count(code, "barrier") + Count(code, "shfl") > 0;
    const std::string most = ".maxntid ";
    const size_t said = ptx.substr(0, body).find(most, close);
    if (said != std::string::npos) kernel.most_threads = std::stoul(ptx.substr(said + most.size()));
    const std::string shared = ".shared ";
    for (size_t place = code.find(shared); place != std::string::npos;
         place = code.find(shared, place + 1)) {
      const size_t size = code.find_first_of("[;", place);
      if (code[size] == '[') kernel.shared_bytes += std::stoul(code.substr(size + 1));
    }
    if (Count(ptx, ".target sm_90a") > 0) kernel.most_shared_bytes = kMostSharedBytesOfH100;
    module->kernels[kernel.name] = kernel;
  }
  if (module->kernels.empty()) Die("a module without a kernel is loaded");
}

// -- blocks ---------------------------------------------------------------------------------------

enum class Wait { kNothing, kWarp, kBlock, kEnd };

// A copy to shared memory that a thread has begun. It is made when it is waited for and no earlier,
// so that whoever does not wait finds what was there before.
struct Copy {
  char* target;
  const char* source;
  size_t bytes, read;
};

struct Stack;

struct Fiber {
  Wait wait = Wait::kNothing;
  Stack* stack = nullptr;
  Registers exchanged[2];
  int exchanges = 0;
  std::vector<Copy> begun;
  std::vector<std::vector<Copy>> committed;
};

struct Block {
  const Kernel* kernel;
  void** parameters;
  int64_t block, blocks, threads;
  size_t dynamic_bytes;
  int64_t thread = 0;
  char* shared;
  std::vector<Fiber> fibers;

  // Where what the launch gives begins: after what is declared, of which descriptors say nothing.
  size_t DynamicPlace() const { return kernel->shared_bytes > 0 ? kSharedBytes : 0; }
};

thread_local Block* running = nullptr;

// Where someone goes on who has been left: what `__builtin_setjmp` notes.
using Place = void* [5];

// Where a thread of a block runs, and goes on. Blocks take it one after the other.
struct Stack {
  Place resume;
  char memory[kStack];
};

thread_local std::vector<std::unique_ptr<Stack>> stacks;

// Where the scheduler goes on, which runs one thread at a time.
thread_local Place scheduler;

// A function of its own, since the one that notes a place may not go on at another.
[[noreturn]] __attribute__((noinline)) void GoOn(Place& there) { __builtin_longjmp(there, 1); }

// Goes on there, until someone goes on here. Other than swapcontext it leaves the mask of signals
// as it is, which is the same everywhere, and other than longjmp what there is to clean up: to ask
// for these took most of a switch.
__attribute__((noinline)) void Switch(Place& here, Place& there) {
  if (__builtin_setjmp(here) == 0) GoOn(there);
}

// What runs on a stack: a thread of one block, and then of the next.
void RunThreads() {
  for (Stack& stack = *stacks.back();;) {
    Switch(stack.resume, scheduler);
    running->kernel->entry(running->parameters);
    running->fibers[running->thread].wait = Wait::kEnd;
  }
}

// Makes one more stack, which then waits for its first thread.
void AddStack() {
  stacks.emplace_back(new Stack);
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stacks.back()->memory;
  context.uc_stack.ss_size = kStack;
  context.uc_link = nullptr;
  makecontext(&context, RunThreads, 0);
  if (__builtin_setjmp(scheduler) == 0) setcontext(&context);
}

void Pause(Wait wait) {
  Block* block = running;
  if (block->fibers.empty()) Die("%s waits, but its PTX does not", block->kernel->name.c_str());
  Fiber& fiber = block->fibers[block->thread];
  fiber.wait = wait;
  Switch(fiber.stack->resume, scheduler);
}

// Waits until all lanes of the warp have come as far as this one. Gives where what they have is.
int Meet(const Registers& own) {
  Fiber& fiber = running->fibers[running->thread];
  // In turns of two: who reads is at most one exchange behind who writes.
  const int turn = fiber.exchanges++ % 2;
  fiber.exchanged[turn] = own;
  Pause(Wait::kWarp);
  return turn;
}

// Gives what all lanes of the warp have, when they have come as far as this one.
Lanes Exchange(const Registers& own) {
  const int turn = Meet(own);
  const Block* block = running;
  Lanes lanes{};
  const int64_t first = block->thread / kWarp * kWarp;
  const int64_t end = std::min<int64_t>(first + kWarp, block->threads);
  for (int64_t i = first; i < end; ++i) lanes[i - first] = &block->fibers[i].exchanged[turn];
  return lanes;
}

// What a lane has, which may be beyond the last thread of the block: that is an error.
int64_t Shuffled(int64_t value, int from_lane) {
  Registers own{};
  std::memcpy(own.words, &value, sizeof value);
  const int turn = Meet(own);
  const Block* block = running;
  const int64_t from = block->thread / kWarp * kWarp + from_lane;
  if (from >= block->threads) {
    Die("%s shuffles with a lane that is not there", block->kernel->name.c_str());
  }
  int64_t result;
  std::memcpy(&result, block->fibers[from].exchanged[turn].words, sizeof result);
  return result;
}

bool All(const Block& block, int64_t first, int64_t end, Wait wait) {
  for (int64_t i = first; i < end; ++i) {
    if (block.fibers[i].wait != wait) return false;
  }
  return true;
}

void Release(Block* block, int64_t first, int64_t end) {
  for (int64_t i = first; i < end; ++i) block->fibers[i].wait = Wait::kNothing;
}

// Runs a warp until it waits for others, as far ahead of these as it may be. Gives whether it ran.
bool RunWarp(Block* block, int64_t first) {
  const int64_t end = std::min<int64_t>(first + kWarp, block->threads);
  bool has_run = false;
  for (bool runs = true; runs; has_run |= runs) {
    runs = false;
    for (int64_t turn = 0; turn < end - first; ++turn) {
      block->thread = is_reverse ? end - 1 - turn : first + turn;
      Fiber& fiber = block->fibers[block->thread];
      if (fiber.wait != Wait::kNothing) continue;
      runs = true;
      Switch(scheduler, fiber.stack->resume);
    }
    if (All(*block, first, end, Wait::kWarp)) {
      Release(block, first, end);
      runs = true;
    }
  }
  return has_run;
}

void RunInTurns(Block* block) {
  block->fibers = std::vector<Fiber>(block->threads);
  while (stacks.size() < block->fibers.size()) AddStack();
  for (size_t i = 0; i < block->fibers.size(); ++i) block->fibers[i].stack = stacks[i].get();
  for (;;) {
    bool has_run = false;
    for (int64_t turn = 0; turn < block->threads; turn += kWarp) {
      const int64_t last = (block->threads - 1) / kWarp * kWarp;
      has_run |= RunWarp(block, is_reverse ? last - turn : turn);
    }
    if (All(*block, 0, block->threads, Wait::kEnd)) return;
    if (All(*block, 0, block->threads, Wait::kBlock)) {
      Release(block, 0, block->threads);
    } else if (!has_run) {
      Die("%s: some threads of block %ld wait for others that do not come",
          block->kernel->name.c_str(), static_cast<long>(block->block));
    }
  }
}

// That of the block which this thread runs, for all that it may be given. It stays from one launch
// to the next, and so is none of the heap's, of which tests ask that calls leave nothing there.
char* SharedMemory() {
  constexpr static size_t kBytes = 3 * kSharedAlignment;
  struct Memory {
    void* mapped =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Memory() {
      if (mapped == MAP_FAILED) Die("there is no memory for what a block shares");
    }
    ~Memory() { munmap(mapped, kBytes); }
  };
  thread_local const Memory memory;
  const auto start = reinterpret_cast<uintptr_t>(memory.mapped);
  return reinterpret_cast<char*>((start + kSharedAlignment - 1) & ~(kSharedAlignment - 1));
}

void Run(const Kernel& kernel, unsigned blocks, unsigned threads, size_t dynamic_bytes,
         void** parameters) {
  // Kernels go round in strides of the grid, so that every number of blocks is right.
  if (most_blocks > 0) blocks = std::min(blocks, most_blocks);
  for (unsigned number = 0; number < blocks; ++number) {
    Block block{};
    block.kernel = &kernel;
    block.parameters = parameters;
    block.block = is_reverse ? blocks - 1 - number : number;
    block.blocks = blocks;
    block.threads = threads;
    block.dynamic_bytes = dynamic_bytes;
    const size_t bytes = std::max(kSharedBytes, block.DynamicPlace() + dynamic_bytes);
    block.shared = SharedMemory();
    std::memset(block.shared, 0xcb, bytes + kGuardBytes);
    running = &block;
    if (kernel.waits) {
      RunInTurns(&block);
    } else {
      for (int64_t turn = 0; turn < block.threads; ++turn) {
        block.thread = is_reverse ? block.threads - 1 - turn : turn;
        kernel.entry(parameters);
      }
    }
    running = nullptr;
    for (size_t i = bytes; i < bytes + kGuardBytes; ++i) {
      if (block.shared[i] == static_cast<char>(0xcb)) continue;
      Die("%s writes beyond the %zu bytes of shared memory that it is given", kernel.name.c_str(),
          dynamic_bytes);
    }
  }
}

// -- memory ---------------------------------------------------------------------------------------

std::map<CUdeviceptr, Allocation>::iterator Containing(CUdeviceptr pointer) {
  auto after = allocations.upper_bound(pointer);
  if (after == allocations.begin()) return allocations.end();
  const auto found = std::prev(after);
  return pointer < found->first + std::max<size_t>(found->second.bytes, 1) ? found
                                                                           : allocations.end();
}

void CheckMemory(const char* what, CUdeviceptr pointer, size_t bytes) {
  const auto found = Containing(pointer);
  if (found == allocations.end() || found->second.kind == Kind::kPinned) {
    Die("%s: 0x%llx is no device memory", what, pointer);
  }
  const auto& [start, allocation] = *found;
  if (pointer + bytes > start + allocation.bytes) {
    Die("%s: %zu bytes at 0x%llx, where %zu were allocated at 0x%llx", what, bytes, pointer,
        allocation.bytes, start);
  }
  if (allocation.kind == Kind::kDevice && allocation.context != current.back()) {
    Die("%s: 0x%llx is of another device", what, pointer);
  }
}

void CheckHost(const char* what, const void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  for (const auto& [start, allocation] : allocations) {
    if (allocation.kind != Kind::kDevice) continue;
    if (address < start + allocation.bytes && start < address + bytes) {
      Die("%s: %p is device memory, where host memory is wanted", what, pointer);
    }
  }
}

CUresult Allocate(Kind kind, CUdeviceptr* pointer, size_t bytes) {
  if (bytes == 0) return kInvalidValue;
  size_t allocated = 0;
  for (const auto& [start, allocation] : allocations) allocated += allocation.bytes;
  if (most_bytes > 0 && allocated + bytes > most_bytes) return kOutOfMemory;
  // Up to the page that nobody may touch, but for what aligns it.
  const size_t aligned = (bytes + 15) / 16 * 16;
  const size_t own = (aligned + kPage - 1) / kPage * kPage;
  void* pages =
      mmap(nullptr, own + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return kOutOfMemory;
  mprotect(static_cast<char*>(pages) + own, kPage, PROT_NONE);
  std::memset(pages, 0xcb, own);
  char* start = static_cast<char*>(pages) + own - aligned;
  *pointer = reinterpret_cast<CUdeviceptr>(start);
  allocations[*pointer] = {kind, current.back(), bytes, static_cast<char*>(pages), own + kPage};
  return 0;
}

// -- streams --------------------------------------------------------------------------------------

// One piece of each queue after the other: what a stream does for another one that has not waited
// for it is done too late.
void DrainInTurns(const std::vector<Works*>& queues) {
  size_t longest = 0;
  for (const Works* queue : queues) longest = std::max(longest, queue->size());
  for (size_t at = 0; at < longest; ++at) {
    for (const Works* queue : queues) {
      if (at < queue->size()) (*queue)[at]();
    }
  }
  for (Works* queue : queues) queue->clear();
}

// What the default stream of a context waits for and itself, or everything that is queued there.
void DrainAll(CUcontext context, bool also_non_blocking) {
  std::vector<Works*> first = {&context->work}, after;
  for (auto& [stream, owned] : streams) {
    if (stream->context != context) continue;
    if (stream->Waits()) {
      after.push_back(&stream->work);
    } else if (also_non_blocking) {
      first.push_back(&stream->work);
    }
  }
  DrainInTurns(first);
  DrainInTurns(after);
}

// What is queued on a stream, and what that one waits for.
void Drain(CUstream stream) {
  if (stream == nullptr) {
    DrainAll(current.back(), false);
    return;
  }
  if (stream->Waits()) DrainInTurns({&stream->context->work});
  DrainInTurns({&stream->work});
}

void CheckStream(const char* what, CUstream stream) {
  if (stream == nullptr) return;
  if (streams.count(stream) == 0) Die("%s: that is no stream", what);
  if (stream->context != current.back()) Die("%s: the stream is of another device", what);
}

void Queue(const char* what, CUstream stream, Work work) {
  CheckStream(what, stream);
  if (stream == nullptr) {
    if (capturing != nullptr) Die("%s: on the default stream, while this thread captures", what);
    // After what streams that wait for it have so far.
    Works& queue = current.back()->work;
    for (auto& [other, owned] : streams) {
      if (other->context != current.back() || !other->Waits()) continue;
      std::move(other->work.begin(), other->work.end(), std::back_inserter(queue));
      other->work.clear();
    }
    queue.push_back(std::move(work));
  } else if (stream->captured != nullptr) {
    stream->captured->work.push_back(std::move(work));
  } else {
    stream->work.push_back(std::move(work));
  }
}

// Queues that all elements of so many are a value.
template <typename Element>
CUresult Fill(const char* what, CUdeviceptr target, Element value, size_t count, CUstream stream) {
  CheckMemory(what, target, count * sizeof(value));
  if (target % sizeof(value) != 0) return kInvalidValue;
  Queue(what, stream, [=] { std::fill_n(reinterpret_cast<Element*>(target), count, value); });
  return 0;
}

// What a call begins with: whether it is made to fail, and whether it may be made at all.
CUresult Enter(const char* name, bool wants_context) {
  if (is_shut_down) return kDeinitialised;
  if (failing == name && failing_after-- == 0) {
    failing.clear();
    return failing_error;
  }
  if (wants_context && current.empty()) Die("%s: there is no current context", name);
  return 0;
}

// Before the lock is taken.
void LetOthersGetAhead() {
  if (microseconds_of_calls == 0) return;
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds_of_calls));
}

// What no thread may do while it captures, as it does not wait for the graph.
void CheckNoCapture(const char* name) {
  if (capturing != nullptr) Die("%s: while this thread captures a stream", name);
}

}  // namespace

#define ENTER(name, wants_context)                   \
  std::lock_guard<std::recursive_mutex> lock(mutex); \
  if (CUresult error = Enter(name, wants_context)) return error

extern "C" {

CUresult cuInit(unsigned flags) {
  ENTER("cuInit", false);
  if (flags != 0) return kInvalidValue;
  is_initialised = true;
  visible.clear();
  const char* listed = std::getenv("CUDA_VISIBLE_DEVICES");
  std::istringstream numbers(listed == nullptr ? "0,1" : listed);
  // What comes after one that there is not is not looked at.
  for (std::string number; std::getline(numbers, number, ',');) {
    if (number != "0" && number != "1") break;
    visible.push_back(number[0] - '0');
  }
  return visible.empty() ? kNoDevice : 0;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  // Of some; of others it has none, as drivers of errors that are newer than they.
  static const std::map<CUresult, const char*> kNames = {
      {0, "CUDA_SUCCESS"},
      {1, "CUDA_ERROR_INVALID_VALUE"},
      {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {100, "CUDA_ERROR_NO_DEVICE"},
      {201, "CUDA_ERROR_INVALID_CONTEXT"},
      {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {218, "CUDA_ERROR_INVALID_PTX"},
      {500, "CUDA_ERROR_NOT_FOUND"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
  };
  const auto found = kNames.find(error);
  if (found == kNames.end()) return kInvalidValue;
  *name = found->second;
  return 0;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  ENTER("cuDeviceGet", false);
  if (!is_initialised) Die("cuDeviceGet before cuInit");
  if (ordinal < 0 || ordinal >= static_cast<int>(visible.size())) return kInvalidValue;
  *device = ordinal;
  return 0;
}

CUresult cuDeviceGetCount(int* count) {
  ENTER("cuDeviceGetCount", false);
  *count = static_cast<int>(visible.size());
  return 0;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
  ENTER("cuDevicePrimaryCtxGetState", false);
  *flags = 0;
  *is_active = contexts[visible[device]].retained > 0;
  return 0;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  ENTER("cuDevicePrimaryCtxRetain", false);
  if (!is_initialised) Die("cuDevicePrimaryCtxRetain before cuInit");
  *context = &contexts[visible[device]];
  ++(*context)->retained;
  return 0;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  ENTER("cuDevicePrimaryCtxRelease_v2", false);
  if (--contexts[visible[device]].retained < 0)
    Die("cuDevicePrimaryCtxRelease: it is not retained");
  return 0;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  LetOthersGetAhead();
  ENTER("cuCtxPushCurrent_v2", false);
  if (context == nullptr || context->retained == 0) Die("cuCtxPushCurrent: that is no context");
  current.push_back(context);
  return 0;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  ENTER("cuCtxPopCurrent_v2", true);
  *context = current.back();
  current.pop_back();
  return 0;
}

CUresult cuCtxSynchronize() {
  ENTER("cuCtxSynchronize", true);
  CheckNoCapture("cuCtxSynchronize");
  ++waits;
  DrainAll(current.back(), true);
  return 0;
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  ENTER("cuModuleLoadData", true);
  CheckNoCapture("cuModuleLoadData");
  auto loaded = std::make_unique<CUmod_st>();
  loaded->context = current.back();
  Load(PtxOf(static_cast<const char*>(image)), loaded.get());
  *module = loaded.get();
  modules[*module] = std::move(loaded);
  return 0;
}

CUresult cuModuleUnload(CUmodule module) {
  ENTER("cuModuleUnload", true);
  DrainAll(current.back(), true);
  if (modules.erase(module) == 0) Die("cuModuleUnload: that is no module");
  return 0;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  ENTER("cuModuleGetFunction", true);
  if (modules.count(module) == 0) Die("cuModuleGetFunction: that is no module");
  if (module->context != current.back()) Die("%s: its module is of another device", name);
  const auto found = module->kernels.find(name);
  if (found == module->kernels.end()) return kNotFound;
  Kernel& kernel = found->second;
  if (kernel.entry == nullptr) {
    const auto known = registered.find(name);
    const std::string symbol = std::string("plumbline_emulated_") + name;
    kernel.entry = known != registered.end()
                       ? known->second
                       : reinterpret_cast<Entry>(dlsym(RTLD_DEFAULT, symbol.c_str()));
    if (kernel.entry == nullptr) Die("nobody has said what the kernel %s does", name);
  }
  *function = reinterpret_cast<CUfunction>(&kernel);
  return 0;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  ENTER("cuFuncSetAttribute", true);
  Kernel& kernel = *reinterpret_cast<Kernel*>(function);
  if (attribute != PLUMBLINE_CUDA_MOST_SHARED_BYTES) {
    Die("cuFuncSetAttribute: nobody knows the attribute %d here", attribute);
  }
  if (value < 0 || kernel.shared_bytes + value > kernel.most_shared_bytes) return kInvalidValue;
  kernel.most_dynamic_bytes = value;
  return 0;
}

// Of what it does not know it says zeros.
CUresult cuPointerGetAttributes(unsigned count, int* attributes, void** values,
                                CUdeviceptr pointer) {
  ENTER("cuPointerGetAttributes", false);
  const auto found = Containing(pointer);
  const bool is_known = found != allocations.end();
  for (unsigned i = 0; i < count; ++i) {
    int value = 0;
    switch (attributes[i]) {
      case PLUMBLINE_CUDA_POINTER_MEMORY_TYPE:
        if (is_known) {
          value = found->second.kind == Kind::kPinned ? PLUMBLINE_CUDA_MEMORY_IS_HOST
                                                      : PLUMBLINE_CUDA_MEMORY_IS_DEVICE;
        }
        break;
      case PLUMBLINE_CUDA_POINTER_IS_MANAGED:
        value = is_known && found->second.kind == Kind::kManaged;
        break;
      case PLUMBLINE_CUDA_POINTER_DEVICE_ORDINAL:
        if (is_known) {
          const auto place =
              std::find(visible.begin(), visible.end(), found->second.context->device);
          value = static_cast<int>(place - visible.begin());
        }
        break;
      default:
        Die("cuPointerGetAttributes: nobody knows the attribute %d here", attributes[i]);
    }
    std::memcpy(values[i], &value, sizeof value);
  }
  return 0;
}

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  ENTER("cuMemAlloc_v2", true);
  CheckNoCapture("cuMemAlloc");
  return Allocate(Kind::kDevice, pointer, bytes);
}

CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned) {
  ENTER("cuMemAllocManaged", true);
  return Allocate(Kind::kManaged, pointer, bytes);
}

CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) {
  ENTER("cuMemAllocHost_v2", true);
  CUdeviceptr place;
  if (CUresult error = Allocate(Kind::kPinned, &place, bytes)) return error;
  *pointer = reinterpret_cast<void*>(place);
  return 0;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  ENTER("cuMemFree_v2", true);
  CheckNoCapture("cuMemFree");
  const auto found = allocations.find(pointer);
  if (found == allocations.end()) Die("cuMemFree: 0x%llx is not allocated", pointer);
  ++waits;
  DrainAll(found->second.context, true);
  munmap(found->second.pages, found->second.pages_bytes);
  allocations.erase(found);
  return 0;
}

CUresult cuMemFreeHost(void* pointer) {
  return cuMemFree_v2(reinterpret_cast<CUdeviceptr>(pointer));
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void* source, size_t bytes) {
  LetOthersGetAhead();
  ENTER("cuMemcpyHtoD_v2", true);
  CheckMemory("cuMemcpyHtoD", target, bytes);
  CheckHost("cuMemcpyHtoD", source, bytes);
  ++waits;
  ++uploads;
  Drain(nullptr);
  // It returns when it has read memory that is not pinned, and not when that has arrived.
  const auto* first = static_cast<const char*>(source);
  const std::vector<char> staged(first, first + bytes);
  Queue("cuMemcpyHtoD", nullptr,
        [=] { std::memcpy(reinterpret_cast<void*>(target), staged.data(), bytes); });
  return 0;
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count, CUstream stream) {
  ENTER("cuMemsetD8Async", true);
  return Fill("cuMemsetD8Async", target, value, count, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
  ENTER("cuMemsetD32Async", true);
  return Fill("cuMemsetD32Async", target, value, count, stream);
}

CUresult cuMemcpyDtoH_v2(void* target, CUdeviceptr source, size_t bytes) {
  ENTER("cuMemcpyDtoH_v2", true);
  CheckMemory("cuMemcpyDtoH", source, bytes);
  CheckHost("cuMemcpyDtoH", target, bytes);
  ++waits;
  Queue("cuMemcpyDtoH", nullptr,
        [=] { std::memcpy(target, reinterpret_cast<void*>(source), bytes); });
  Drain(nullptr);
  return 0;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  ENTER("cuMemcpyDtoDAsync_v2", true);
  CheckMemory("cuMemcpyDtoDAsync", target, bytes);
  CheckMemory("cuMemcpyDtoDAsync", source, bytes);
  Queue("cuMemcpyDtoDAsync", stream, [=] {
    std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<void*>(source), bytes);
  });
  return 0;
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  ENTER("cuStreamCreate", true);
  auto created = std::make_unique<CUstream_st>();
  created->context = current.back();
  created->flags = flags;
  *stream = created.get();
  streams[*stream] = std::move(created);
  return 0;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER("cuStreamDestroy_v2", true);
  CheckStream("cuStreamDestroy", stream);
  if (stream->captured != nullptr) {
    graphs.erase(stream->captured);
    capturing = nullptr;
  }
  Drain(stream);
  streams.erase(stream);
  return 0;
}

CUresult cuStreamSynchronize(CUstream stream) {
  ENTER("cuStreamSynchronize", true);
  CheckNoCapture("cuStreamSynchronize");
  CheckStream("cuStreamSynchronize", stream);
  ++waits;
  Drain(stream);
  return 0;
}

CUresult cuStreamIsCapturing(CUstream stream, int* status) {
  ENTER("cuStreamIsCapturing", true);
  CheckStream("cuStreamIsCapturing", stream);
  *status = stream != nullptr && stream->captured != nullptr;
  return 0;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  ENTER("cuStreamBeginCapture_v2", true);
  CheckStream("cuStreamBeginCapture", stream);
  if (stream == nullptr) Die("cuStreamBeginCapture: of the default stream");
  if (capturing != nullptr) Die("cuStreamBeginCapture: this thread captures another stream");
  auto graph = std::make_unique<CUgraph_st>();
  graph->context = current.back();
  stream->captured = graph.get();
  graphs[stream->captured] = std::move(graph);
  capturing = stream;
  return 0;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  ENTER("cuStreamEndCapture", true);
  if (stream == nullptr || stream != capturing) Die("cuStreamEndCapture: it is not captured here");
  *graph = stream->captured;
  stream->captured = nullptr;
  capturing = nullptr;
  return 0;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  ENTER("cuGraphInstantiateWithFlags", true);
  if (graphs.count(graph) == 0) Die("cuGraphInstantiate: that is no graph");
  auto made = std::make_unique<CUgraphExec_st>();
  made->context = graph->context;
  made->work = graph->work;
  *exec = made.get();
  execs[*exec] = std::move(made);
  return 0;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  ENTER("cuGraphLaunch", true);
  if (execs.count(exec) == 0) Die("cuGraphLaunch: that is no graph that was instantiated");
  if (exec->context != current.back()) Die("cuGraphLaunch: the graph is of another device");
  if (stream != nullptr && stream->captured != nullptr) {
    Die("cuGraphLaunch: on a stream that is captured");
  }
  ++replays;
  for (const Work& each : exec->work) Queue("cuGraphLaunch", stream, each);
  return 0;
}

CUresult cuGraphDestroy(CUgraph graph) {
  ENTER("cuGraphDestroy", true);
  if (graphs.erase(graph) == 0) Die("cuGraphDestroy: that is no graph");
  return 0;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  ENTER("cuGraphExecDestroy", true);
  if (execs.erase(exec) == 0) Die("cuGraphExecDestroy: that is no graph that was instantiated");
  return 0;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void**) {
  LetOthersGetAhead();
  ENTER("cuLaunchKernel", true);
  const Kernel& kernel = *reinterpret_cast<Kernel*>(function);
  if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1) {
    return kInvalidValue;
  }
  if (block_x == 0 || block_x > kernel.most_threads) return kInvalidValue;
  if (shared_bytes > kernel.most_dynamic_bytes) return kInvalidValue;
  if (kernel.shared_bytes + shared_bytes > kernel.most_shared_bytes) return kInvalidValue;
  // They are read at once; each is a word at most.
  std::vector<uint64_t> words(kernel.parameters);
  for (size_t i = 0; i < kernel.parameters; ++i) {
    if (parameters[i] == nullptr) Die("%s has no parameter %zu", kernel.name.c_str(), i);
    std::memcpy(&words[i], parameters[i], sizeof(words[i]));
    // One that is an address by chance is none of so many bits.
    const auto found = Containing(words[i]);
    if (found != allocations.end()) CheckMemory(kernel.name.c_str(), words[i], 0);
  }
  ++launches;
  Queue("cuLaunchKernel", stream, [&kernel, grid_x, block_x, shared_bytes, words]() mutable {
    std::vector<void*> places;
    for (uint64_t& word : words) places.push_back(&word);
    Run(kernel, grid_x, block_x, shared_bytes, places.data());
  });
  return 0;
}

// -- what emulated kernels call -------------------------------------------------------------------

int64_t plumbline_emulated_thread_id() { return running->thread; }
int64_t plumbline_emulated_block_dim() { return running->threads; }
int64_t plumbline_emulated_block_id() { return running->block; }
int64_t plumbline_emulated_grid_dim() { return running->blocks; }

void plumbline_emulated_barrier() { Pause(Wait::kBlock); }

void* plumbline_emulated_shared(int64_t offset, int64_t bytes) {
  if (offset + bytes > static_cast<int64_t>(kSharedBytes)) {
    Die("%s has more shared memory than a block", running->kernel->name.c_str());
  }
  return running->shared + offset;
}

void* plumbline_emulated_dynamic_shared() { return running->shared + running->DynamicPlace(); }

int64_t plumbline_emulated_shuffle_xor(int64_t value, int32_t mask) {
  return Shuffled(value, static_cast<int>(running->thread % kWarp) ^ mask);
}

// A lane below which there are not so many keeps its own.
int64_t plumbline_emulated_shuffle_up(int64_t value, int32_t lanes) {
  const int lane = static_cast<int>(running->thread % kWarp);
  return Shuffled(value, lane < lanes ? lane : lane - lanes);
}

void plumbline_emulated_copy(int64_t target, int64_t source, int64_t bytes, int64_t read) {
  if (bytes != 4 && bytes != 8 && bytes != 16) Die("a thread copies %ld bytes", (long)bytes);
  if (target % bytes != 0 || (read > 0 && source % bytes != 0)) {
    Die("%s copies %ld bytes that are not aligned", running->kernel->name.c_str(), (long)bytes);
  }
  running->fibers[running->thread].begun.push_back(
      {reinterpret_cast<char*>(target), reinterpret_cast<const char*>(source),
       static_cast<size_t>(bytes), static_cast<size_t>(read)});
}

void plumbline_emulated_commit_copies() {
  Fiber& fiber = running->fibers[running->thread];
  fiber.committed.push_back(std::move(fiber.begun));
  fiber.begun.clear();
}

// Waits until no more than so many of the groups last committed are still on their way.
void plumbline_emulated_wait_for_copies(int64_t groups) {
  auto& committed = running->fibers[running->thread].committed;
  while (static_cast<int64_t>(committed.size()) > groups) {
    for (const Copy& copy : committed.front()) {
      std::memcpy(copy.target, copy.source, copy.read);
      std::memset(copy.target + copy.read, 0, copy.bytes - copy.read);
    }
    committed.erase(committed.begin());
  }
}

void plumbline_emulated_load_matrices(int64_t line, int64_t transposes, uint32_t* result) {
  if (line % 16 != 0) Die("%s: a matrix is not aligned", running->kernel->name.c_str());
  Registers own{};
  std::memcpy(own.words, &line, sizeof line);
  const Lanes lanes = Exchange(own);
  LoadMatrices(lanes, static_cast<int>(running->thread % kWarp), transposes != 0, result);
}

void plumbline_emulated_multiply_matrices(int64_t kind, const uint32_t* left, const uint32_t* right,
                                          uint32_t* sums) {
  Registers own{};
  std::memcpy(own.words, left, 4 * sizeof *left);
  std::memcpy(own.words + 4, right, 2 * sizeof *right);
  const Lanes lanes = Exchange(own);
  MultiplyMatrices(static_cast<MatrixKind>(kind), lanes, static_cast<int>(running->thread % kWarp),
                   sums);
}

// Does at once what the tensor cores would do until somebody waits for it.
void plumbline_emulated_multiply_tiles(int64_t kind, int64_t left_is_along_sums,
                                       int64_t right_is_along_sums, int64_t columns, int64_t left,
                                       int64_t right, float* sums) {
  const char* memory = running->shared;
  MultiplyTiles(static_cast<MatrixKind>(kind), TileOperand{memory, left, left_is_along_sums != 0},
                TileOperand{memory, right, right_is_along_sums != 0}, columns,
                static_cast<int>(running->thread % kWarpGroup), sums);
}

// The same of rows that the lanes of a warp have in registers.
void plumbline_emulated_multiply_rows(int64_t kind, int64_t right_is_along_sums, int64_t columns,
                                      const uint32_t* left, int64_t right, float* sums) {
  Registers own{};
  std::memcpy(own.words, left, 4 * sizeof *left);
  const Lanes lanes = Exchange(own);
  MultiplyTiles(static_cast<MatrixKind>(kind), RegisterOperand{lanes},
                TileOperand{running->shared, right, right_is_along_sums != 0}, columns,
                static_cast<int>(running->thread % kWarpGroup), sums);
}

// -- what tests call ------------------------------------------------------------------------------

// Says what a kernel of that name does.
void plumbline_stand_in_register(const char* name, Entry entry) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  registered[name] = entry;
}

// Has the call of that function after so many fail with an error.
void plumbline_stand_in_fail(const char* function, int after, int error) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  failing = function;
  failing_after = after;
  failing_error = error;
}

// Whether that call has not come yet.
int plumbline_stand_in_is_to_fail() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  return !failing.empty();
}

void plumbline_stand_in_reverse(int reverse) { is_reverse = reverse != 0; }

// Has launches be of so many blocks at most, each of which then does several rows; 0: of any
// number.
void plumbline_stand_in_most_blocks(unsigned most) { most_blocks = most; }

// Has the beginning of a call, launches, and copies to the device take so long, in which other
// threads get ahead.
void plumbline_stand_in_calls_take(unsigned microseconds) { microseconds_of_calls = microseconds; }

// How many bytes of device memory are allocated.
int64_t plumbline_stand_in_allocated() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  int64_t bytes = 0;
  for (const auto& [start, allocation] : allocations) bytes += allocation.bytes;
  return bytes;
}

int64_t plumbline_stand_in_launches() { return launches; }

// How often somebody has waited for the device.
int64_t plumbline_stand_in_waits() { return waits; }

// How often something was copied to the device, by somebody who waited.
int64_t plumbline_stand_in_uploads() { return uploads; }

// How often a graph was launched.
int64_t plumbline_stand_in_replays() { return replays; }

// How many modules, streams and graphs there are that were not given back.
int64_t plumbline_stand_in_left() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  return static_cast<int64_t>(modules.size() + streams.size() + graphs.size() + execs.size());
}

// Has devices have so many bytes of memory together; 0: any number.
void plumbline_stand_in_most_bytes(size_t most) { most_bytes = most; }

// Which device memory is on, by its number among all there are; -1: on none.
int plumbline_stand_in_device_of(CUdeviceptr pointer) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  const auto found = Containing(pointer);
  return found == allocations.end() ? -1 : found->second.context->device;
}

// How often the context of a device, by its number among all there are, has been retained and not
// been released.
int plumbline_stand_in_retained(int device) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  return contexts[device].retained;
}

// How many contexts this thread has left current.
int plumbline_stand_in_current() { return static_cast<int>(current.size()); }

}  // extern "C"
