// A stand-in for libcuda.so.1, for machines without a GPU: it runs kernels on the CPU.
//
// A module is loaded from PTX, as a driver does. What a kernel does is not read off the PTX,
// though, but is a function made of the same stage as that (`emulated_kernels.py`), which is found
// by its name. The threads of a block have a stack each, and run in turns: one warp as far as it
// gets without the others, that is to the next barrier, and then the next one. They do so forwards
// or, by plumbline_stand_in_reverse, backwards: where a barrier is missing, the results differ.
//
// It holds what is called against what a driver wants: the order of calls, memory that is there and
// large enough, parameters as the PTX declares them. Device memory has a page after it that nobody
// may touch, and holds nothing of use at first. A mistake ends the process with a message.

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plumbline/runtime/cuda/driver.h"
#include "tools/gpu/warp_matrices.h"

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kStack = 64 << 10;
constexpr size_t kSharedBytes = 48 << 10;

constexpr CUresult kInvalidValue = 1;
constexpr CUresult kNotFound = 500;

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
  bool waits = false;  // for other threads of its block
};

struct Module {
  std::map<std::string, Kernel> kernels;
};

struct Allocation {
  size_t bytes;
  char* pages;
  size_t pages_bytes;
};

std::recursive_mutex mutex;
std::map<std::string, Entry> registered;
std::map<CUdeviceptr, Allocation> allocations;
std::vector<std::unique_ptr<Module>> modules;
bool is_initialised = false, is_retained = false, is_reverse = false;
unsigned most_blocks = 0;  // of a launch; 0: any number
long launches = 0;
std::string failing;
int failing_after = 0;
CUresult failing_error = 0;
thread_local int current = 0;

// -- modules --------------------------------------------------------------------------------------

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

void Load(const std::string& ptx, Module* module) {
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

struct Fiber {
  ucontext_t context;
  Wait wait = Wait::kNothing;
  Registers exchanged[2];
  int exchanges = 0;
  std::vector<Copy> begun;
  std::vector<std::vector<Copy>> committed;
};

struct Block {
  const Kernel* kernel;
  void** parameters;
  int64_t block, blocks, threads;
  int64_t thread = 0;
  std::vector<char> shared;
  std::vector<Fiber> fibers;
  ucontext_t scheduler;
};

thread_local Block* running = nullptr;

void RunThread() {
  running->kernel->entry(running->parameters);
  running->fibers[running->thread].wait = Wait::kEnd;
}

void Pause(Wait wait) {
  Block* block = running;
  if (block->fibers.empty()) Die("%s waits, but its PTX does not", block->kernel->name.c_str());
  Fiber& fiber = block->fibers[block->thread];
  fiber.wait = wait;
  swapcontext(&fiber.context, &block->scheduler);
}

// Gives what all lanes of the warp have, when they have come as far as this one.
Lanes Exchange(const Registers& own) {
  Block* block = running;
  Fiber& fiber = block->fibers[block->thread];
  // In turns of two: who reads is at most one exchange behind who writes.
  const int turn = fiber.exchanges++ % 2;
  fiber.exchanged[turn] = own;
  Pause(Wait::kWarp);
  Lanes lanes{};
  const int64_t first = block->thread / kWarp * kWarp;
  const int64_t end = std::min<int64_t>(first + kWarp, block->threads);
  for (int64_t i = first; i < end; ++i) lanes[i - first] = &block->fibers[i].exchanged[turn];
  return lanes;
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
      swapcontext(&block->scheduler, &fiber.context);
    }
    if (All(*block, first, end, Wait::kWarp)) {
      Release(block, first, end);
      runs = true;
    }
  }
  return has_run;
}

// The stacks of a block's threads, which are the next block's then.
thread_local std::vector<std::unique_ptr<char[]>> stacks;

void RunInTurns(Block* block) {
  block->fibers = std::vector<Fiber>(block->threads);
  while (stacks.size() < block->fibers.size()) stacks.emplace_back(new char[kStack]);
  for (size_t i = 0; i < block->fibers.size(); ++i) {
    Fiber& fiber = block->fibers[i];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks[i].get();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = &block->scheduler;
    makecontext(&fiber.context, RunThread, 0);
  }
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

void Run(const Kernel& kernel, unsigned blocks, unsigned threads, void** parameters) {
  // Kernels go round in strides of the grid, so that every number of blocks is right.
  if (most_blocks > 0) blocks = std::min(blocks, most_blocks);
  for (unsigned number = 0; number < blocks; ++number) {
    Block block{};
    block.kernel = &kernel;
    block.parameters = parameters;
    block.block = is_reverse ? blocks - 1 - number : number;
    block.blocks = blocks;
    block.threads = threads;
    block.shared.assign(kSharedBytes, static_cast<char>(0xcb));
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
  }
}

// -- memory ---------------------------------------------------------------------------------------

void CheckMemory(const char* what, CUdeviceptr pointer, size_t bytes) {
  auto after = allocations.upper_bound(pointer);
  if (after == allocations.begin()) Die("%s: 0x%llx is no device memory", what, pointer);
  const auto& [start, allocation] = *std::prev(after);
  if (pointer + bytes > start + allocation.bytes) {
    Die("%s: %zu bytes at 0x%llx, where %zu were allocated at 0x%llx", what, bytes, pointer,
        allocation.bytes, start);
  }
}

void CheckHost(const char* what, const void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  for (const auto& [start, allocation] : allocations) {
    if (address < start + allocation.bytes && start < address + bytes) {
      Die("%s: %p is device memory, where host memory is wanted", what, pointer);
    }
  }
}

// What a call begins with: whether it is made to fail, and whether it may be made at all.
CUresult Enter(const char* name, bool wants_context) {
  if (failing == name && failing_after-- == 0) {
    failing.clear();
    return failing_error;
  }
  if (wants_context && current == 0) Die("%s: there is no current context", name);
  return 0;
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
  return 0;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  ENTER("cuDeviceGet", false);
  if (!is_initialised) Die("cuDeviceGet before cuInit");
  if (ordinal != 0) return kInvalidValue;
  *device = 0;
  return 0;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  ENTER("cuDevicePrimaryCtxRetain", false);
  if (!is_initialised) Die("cuDevicePrimaryCtxRetain before cuInit");
  is_retained = true;
  *context = reinterpret_cast<CUcontext>(&is_retained);
  return 0;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  ENTER("cuCtxPushCurrent_v2", false);
  if (!is_retained || context != reinterpret_cast<CUcontext>(&is_retained)) {
    Die("cuCtxPushCurrent: that is no context");
  }
  ++current;
  return 0;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  ENTER("cuCtxPopCurrent_v2", true);
  --current;
  *context = reinterpret_cast<CUcontext>(&is_retained);
  return 0;
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  ENTER("cuModuleLoadData", true);
  modules.push_back(std::make_unique<Module>());
  Load(static_cast<const char*>(image), modules.back().get());
  *module = reinterpret_cast<CUmodule>(modules.back().get());
  return 0;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  ENTER("cuModuleGetFunction", true);
  auto& kernels = reinterpret_cast<Module*>(module)->kernels;
  const auto found = kernels.find(name);
  if (found == kernels.end()) return kNotFound;
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

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  ENTER("cuMemAlloc_v2", true);
  if (bytes == 0) return kInvalidValue;
  // Up to the page that nobody may touch, but for what aligns it.
  const size_t aligned = (bytes + 15) / 16 * 16;
  const size_t own = (aligned + kPage - 1) / kPage * kPage;
  void* pages =
      mmap(nullptr, own + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return 2;
  mprotect(static_cast<char*>(pages) + own, kPage, PROT_NONE);
  std::memset(pages, 0xcb, own);
  char* start = static_cast<char*>(pages) + own - aligned;
  *pointer = reinterpret_cast<CUdeviceptr>(start);
  allocations[*pointer] = {bytes, static_cast<char*>(pages), own + kPage};
  return 0;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  ENTER("cuMemFree_v2", true);
  const auto found = allocations.find(pointer);
  if (found == allocations.end()) Die("cuMemFree: 0x%llx is not allocated", pointer);
  munmap(found->second.pages, found->second.pages_bytes);
  allocations.erase(found);
  return 0;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void* source, size_t bytes) {
  ENTER("cuMemcpyHtoD_v2", true);
  CheckMemory("cuMemcpyHtoD", target, bytes);
  CheckHost("cuMemcpyHtoD", source, bytes);
  std::memcpy(reinterpret_cast<void*>(target), source, bytes);
  return 0;
}

CUresult cuMemcpyDtoH_v2(void* target, CUdeviceptr source, size_t bytes) {
  ENTER("cuMemcpyDtoH_v2", true);
  CheckMemory("cuMemcpyDtoH", source, bytes);
  CheckHost("cuMemcpyDtoH", target, bytes);
  std::memcpy(target, reinterpret_cast<void*>(source), bytes);
  return 0;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned, CUstream,
                        void** parameters, void**) {
  ENTER("cuLaunchKernel", true);
  const Kernel& kernel = *reinterpret_cast<Kernel*>(function);
  if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1) {
    return kInvalidValue;
  }
  if (block_x == 0 || block_x > kernel.most_threads) return kInvalidValue;
  for (size_t i = 0; i < kernel.parameters; ++i) {
    if (parameters[i] == nullptr) Die("%s has no parameter %zu", kernel.name.c_str(), i);
  }
  ++launches;
  Run(kernel, grid_x, block_x, parameters);
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
  return running->shared.data() + offset;
}

int64_t plumbline_emulated_shuffle_xor(int64_t value, int32_t mask) {
  Registers own{};
  std::memcpy(own.words, &value, sizeof value);
  int64_t result;
  const int lane = static_cast<int>(running->thread % kWarp);
  std::memcpy(&result, Exchange(own)[lane ^ mask]->words, sizeof result);
  return result;
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

void plumbline_emulated_multiply_matrices(int64_t kind, const uint32_t* left,
                                          const uint32_t* right, uint32_t* sums) {
  Registers own{};
  std::memcpy(own.words, left, 4 * sizeof *left);
  std::memcpy(own.words + 4, right, 2 * sizeof *right);
  const Lanes lanes = Exchange(own);
  MultiplyMatrices(static_cast<MatrixKind>(kind), lanes, static_cast<int>(running->thread % kWarp),
                   sums);
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

void plumbline_stand_in_reverse(int reverse) { is_reverse = reverse != 0; }

// Has launches be of so many blocks at most, each of which then does several rows; 0: of any
// number.
void plumbline_stand_in_most_blocks(unsigned most) { most_blocks = most; }

// How many bytes of device memory are allocated.
int64_t plumbline_stand_in_allocated() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  int64_t bytes = 0;
  for (const auto& [start, allocation] : allocations) bytes += allocation.bytes;
  return bytes;
}

int64_t plumbline_stand_in_launches() { return launches; }

// How many contexts this thread has left current.
int plumbline_stand_in_current() { return current; }

}  // extern "C"
