// What programs for WebAssembly and for microcontrollers call in place of functions of the C library,
// which begin without plumbline_.
//
// Programs hand sizes of 64 bits, and size_t has 32 there. And nothing is written to files, so that a
// module runs wherever WebAssembly does, and a microcontroller needs nothing that stands for them.

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

// Of the C library, which need not be there before programs are linked. That of microcontrollers,
// newlib, has aligned_alloc for other systems only.
void* malloc(size_t bytes);
#ifdef __arm__
void* memalign(size_t alignment, size_t bytes);
#define aligned_alloc memalign
#else
void* aligned_alloc(size_t alignment, size_t bytes);
#endif

static int fits(int64_t bytes) { return bytes >= 0 && (uint64_t)bytes <= SIZE_MAX; }

void* plumbline_malloc(int64_t bytes) { return fits(bytes) ? malloc((size_t)bytes) : NULL; }

void* plumbline_aligned_alloc(int64_t alignment, int64_t bytes) {
  return fits(bytes) ? aligned_alloc((size_t)alignment, (size_t)bytes) : NULL;
}

#ifdef __arm__
// What code calls by the names of the Arm ABI to convert float16, and GCC's library has by others.
#define HELPER __attribute__((weak, pcs("aapcs")))
float __gnu_h2f_ieee(uint16_t half) __attribute__((pcs("aapcs")));
uint16_t __gnu_f2h_ieee(float single) __attribute__((pcs("aapcs")));
uint16_t __gnu_d2h_ieee(double number) __attribute__((pcs("aapcs")));
HELPER float __aeabi_h2f(uint16_t half) { return __gnu_h2f_ieee(half); }
HELPER uint16_t __aeabi_f2h(float single) { return __gnu_f2h_ieee(single); }
HELPER uint16_t __aeabi_d2h(double number) { return __gnu_d2h_ieee(number); }
#endif

// There is one kind of pages.
int plumbline_madvise(void* memory, int64_t bytes, int advice) {
  (void)memory, (void)bytes, (void)advice;
  return 0;
}

int plumbline_dprintf(int file, const char* format, ...) {
  (void)file, (void)format;
  return 0;
}

_Noreturn void plumbline_abort(void) { __builtin_trap(); }

struct text {
  char* place;
  int64_t room;
  int length;
};

static void add(struct text* text, char c) {
  if (text->length < text->room - 1) text->place[text->length] = c;
  ++text->length;
}

static void add_number(struct text* text, int64_t number) {
  char digits[20];
  int count = 0;
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  do {
    digits[count++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  if (number < 0) add(text, '-');
  while (count > 0) add(text, digits[--count]);
}

// Of the conversions %s, %lld and %%, which are all that formats of failures have.
int plumbline_snprintf(char* place, int64_t room, const char* format, ...) {
  struct text text = {place, room, 0};
  va_list arguments;
  va_start(arguments, format);
  for (; *format; ++format) {
    if (*format != '%') {
      add(&text, *format);
      continue;
    }
    switch (*++format) {
      case 's':
        for (const char* part = va_arg(arguments, const char*); *part; ++part) add(&text, *part);
        break;
      case 'l':
        format += 2;
        add_number(&text, va_arg(arguments, long long));
        break;
      default:
        add(&text, *format);
    }
  }
  va_end(arguments);
  if (room > 0) place[text.length < room ? text.length : room - 1] = '\0';
  return text.length;
}
