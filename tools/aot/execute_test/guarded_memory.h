// Memory between pages that nobody may touch, so that a function which reads or writes beside it
// ends there, with a message, and not with numbers that happen to be right.
//
// Linked into a test, it also stands in for aligned_alloc, which compiled functions have their
// temporaries and results from: every such allocation is guarded, holds bytes that no function
// should rely on, and is counted until it is given back with free().
//
// Under valgrind, memory is valgrind's, which sees more: each byte on either side, what is read
// before anybody has written it, and what is not given back. No allocation is counted here then.

#ifndef TOOLS_AOT_EXECUTE_TEST_GUARDED_MEMORY_H_
#define TOOLS_AOT_EXECUTE_TEST_GUARDED_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace plumbline {

// Which end of an allocation lies right at a guarding page. Between the other end and the page
// there are as many bytes as fill the page, which are not watched.
enum class GuardedEnd { kBack, kFront };

// Where allocations lie from now on; kBack at first.
void SetGuardedEnd(GuardedEnd end);

// New memory, to be given back with free(); at least aligned so. `name` is what a message calls it.
// Throws std::bad_alloc.
void* AllocateGuarded(std::size_t bytes, std::size_t alignment, const char* name);

// How many allocations have not been given back.
std::int64_t GuardedAllocations();

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_GUARDED_MEMORY_H_
