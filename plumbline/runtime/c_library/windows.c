// What programs for Windows call in place of functions of the C library of Linux, which begin without
// plumbline_: those that the library of Windows has not, or with other sizes of numbers.

#define __USE_MINGW_ANSI_STDIO 1

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Windows gives back aligned memory by a function of its own, and has none of no bytes.
void* plumbline_aligned_alloc(size_t alignment, size_t bytes) {
  return _aligned_malloc(bytes > 0 ? bytes : 1, alignment);
}

void plumbline_free(void* memory) { _aligned_free(memory); }

// A process takes large pages of Windows by a right of its user's.
int plumbline_madvise(void* memory, size_t bytes, int advice) {
  (void)memory, (void)bytes, (void)advice;
  return 0;
}

// A long has 32 bits.
long long plumbline_strtol(const char* text, char** end, int base) { return strtoll(text, end, base); }

int plumbline_dprintf(int file, const char* format, ...) {
  (void)file;  // Standard error, always.
  va_list arguments;
  va_start(arguments, format);
  int written = vfprintf(stderr, format, arguments);
  va_end(arguments);
  return written;
}

int plumbline_snprintf(char* place, size_t room, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(place, room, format, arguments);
  va_end(arguments);
  return length;
}
