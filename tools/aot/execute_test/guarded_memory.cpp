#include "tools/aot/execute_test/guarded_memory.h"

#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_MAKE_MEM_NOACCESS(start, bytes) 0
#endif

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

// What free() is called here where it is defined anew.
extern "C" void __libc_free(void* pointer);

namespace plumbline {
namespace {

// What new memory holds.
constexpr unsigned char kNothing = 0xA5;

const std::size_t kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

struct Allocation {
  char* pages;  // The first of the guarding pages.
  std::size_t page_bytes;
  std::size_t bytes;
  char name[40];
};

// By address. Never destroyed: memory is given back until the process ends.
std::map<char*, Allocation>& Allocations() {
  static auto* const allocations = new std::map<char*, Allocation>;
  return *allocations;
}

std::mutex& AllocationsMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

std::atomic<GuardedEnd> guarded_end{GuardedEnd::kBack};

// All guarded memory lies between them, so that other memory is given back without a search.
std::atomic<char*> lowest{reinterpret_cast<char*>(UINTPTR_MAX)};
std::atomic<char*> highest{nullptr};

struct sigaction previous_action;

// Says what was touched, if it is beside guarded memory, and has the process end as it would have.
void OnFault(int, siginfo_t* info, void*) {
  // No lock: it may be this thread that holds it.
  auto* const touched = static_cast<char*>(info->si_addr);
  for (const auto& [start, allocation] : Allocations()) {
    const char* const pages_end = allocation.pages + allocation.page_bytes;
    if (touched < allocation.pages || touched >= pages_end) continue;
    char message[200];
    const bool before = touched < start;
    const int length = std::snprintf(
        message, sizeof message,
        "The compiled function touches memory that is not its own, %lld bytes %s %s.\n",
        static_cast<long long>(before ? start - touched : touched - start - allocation.bytes + 1),
        before ? "before the start of" : "beyond the end of", allocation.name);
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, message, static_cast<std::size_t>(length));
    break;
  }
  sigaction(SIGSEGV, &previous_action, nullptr);
}

std::size_t RoundedUp(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

void WatchFaults() {
  [[maybe_unused]] static const bool watched = [] {
    struct sigaction action = {};
    action.sa_sigaction = OnFault;
    action.sa_flags = SA_SIGINFO;
    return sigaction(SIGSEGV, &action, &previous_action) == 0;
  }();
}

// Memory that valgrind guards: it has put functions of its own in the place of memalign and others.
// It takes it for a fault to ask for nothing, so that there is a byte then, which nobody may touch.
void* AllocateUnderValgrind(std::size_t bytes, std::size_t alignment) {
  void* const start = memalign(alignment, bytes == 0 ? 1 : bytes);
  if (bytes == 0) static_cast<void>(VALGRIND_MAKE_MEM_NOACCESS(start, 1));
  return start;
}

// Null where there is no memory.
void* Allocate(std::size_t bytes, std::size_t alignment, const char* name) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  WatchFaults();
  const std::size_t inner = RoundedUp(bytes + alignment, kPage);
  const std::size_t page_bytes = inner + 2 * kPage;
  void* const mapped =
      mmap(nullptr, page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const pages = static_cast<char*>(mapped);
  if (mprotect(pages + kPage, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(pages, page_bytes);
    return nullptr;
  }
  std::memset(pages + kPage, kNothing, inner);
  const std::size_t place =
      guarded_end == GuardedEnd::kFront ? 0 : (inner - bytes) / alignment * alignment;
  char* const start = pages + kPage + place;
  const std::lock_guard<std::mutex> lock(AllocationsMutex());
  Allocation& allocation = Allocations()[start];
  allocation = {pages, page_bytes, bytes, {}};
  std::snprintf(allocation.name, sizeof allocation.name, "%s", name);
  if (pages < lowest) lowest = pages;
  if (pages + page_bytes > highest) highest = pages + page_bytes;
  return start;
}

// Whether it was guarded memory.
bool Free(char* start) {
  if (start < lowest || start >= highest) return false;
  std::map<char*, Allocation>::node_type freed;
  {
    const std::lock_guard<std::mutex> lock(AllocationsMutex());
    freed = Allocations().extract(start);
  }
  if (freed.empty()) return false;
  // The addresses stay taken, so that who goes on using them is found out.
  const Allocation& allocation = freed.mapped();
  mmap(allocation.pages, allocation.page_bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return true;
}

}  // namespace

void SetGuardedEnd(GuardedEnd end) { guarded_end = end; }

void* AllocateGuarded(std::size_t bytes, std::size_t alignment, const char* name) {
  void* const start = RUNNING_ON_VALGRIND ? AllocateUnderValgrind(bytes, alignment)
                                          : Allocate(bytes, alignment, name);
  if (start == nullptr) throw std::bad_alloc();
  return start;
}

std::int64_t GuardedAllocations() {
  const std::lock_guard<std::mutex> lock(AllocationsMutex());
  return static_cast<std::int64_t>(Allocations().size());
}

}  // namespace plumbline

extern "C" {

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  void* const start = plumbline::Allocate(bytes, alignment, "a temporary or a result");
  if (start == nullptr) errno = ENOMEM;
  return start;
}

void free(void* pointer) noexcept {
  if (pointer == nullptr || plumbline::Free(static_cast<char*>(pointer))) return;
  __libc_free(pointer);
}
}
