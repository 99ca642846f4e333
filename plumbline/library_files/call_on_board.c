// Calls a program that is linked in for another process (serve_calls.h), on a board without an
// operating system: -DPACKED=foo_packed says which. It is reset here, and reads and writes by
// semihosting, the calls by which a program has a debugger or emulator do that (Arm, "Semihosting
// for AArch32 and AArch64").

#include <malloc.h>

// newlib declares it, and has it for other systems only.
#define aligned_alloc memalign

#include "serve_calls.h"

// Where things lie, by board.lds.
extern char __stack[], __bss_start__[], __bss_end__[];

// Of newlib: opens standard input and output.
void initialise_monitor_handles(void);

Entry PACKED;

static const char* load_weights(const char* path) {
  (void)path;
  return "the program loads no weights";
}

enum { kStackWords = 1 << 20 };

// What is below the stack of who calls the program, and nobody has written to yet.
static const uint32_t kUnused = 0x5AC4ED17;
static uint32_t* top;

static void mark_stack(void) {
  uint32_t here;
  top = &here;
  for (uint32_t* word = top - kStackWords; word < top; ++word) *(volatile uint32_t*)word = kUnused;
}

// What it takes to call the program is in it, some hundred bytes.
static int64_t stack_bytes(void) {
  const uint32_t* word = top - kStackWords;
  while (word < top && *word == kUnused) ++word;
  return (top - word) * (int64_t)sizeof *word;
}

// The register that lets code use coprocessors 10 and 11, which have the registers of floats and
// vectors (Armv8-M Architecture Reference Manual, CPACR).
static volatile uint32_t* const kCoprocessors = (volatile uint32_t*)0xE000ED88;

// What newlib calls before and after programs of C++.
void _init(void) {}
void _fini(void) {}

void begin(void) {
  *kCoprocessors |= 0xFu << 20;
  __asm volatile("dsb\nisb");
  memset(__bss_start__, 0, (size_t)(__bss_end__ - __bss_start__));
  initialise_monitor_handles();
  mark_stack();
  serve_calls(PACKED, load_weights, stack_bytes);
  exit(EXIT_SUCCESS);
}

static void fault(void) {
  fail("the board has a fault: it read or wrote where nothing is, or ran out of its stack");
}

// What the CPU begins with (the same manual, "Vector tables"): its stack, what a reset does, and
// what faults of all kinds do.
__attribute__((section(".vectors"), used)) static void* const kVectors[] = {
    __stack,      (void*)begin, (void*)fault, (void*)fault,
    (void*)fault, (void*)fault, (void*)fault, (void*)fault};
