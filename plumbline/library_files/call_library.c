// Calls a program of a shared object for another process (serve_calls.h): call_library LIBRARY
// FUNCTION, under whatever runs code of the library's architecture.

#include <dlfcn.h>

#include "serve_calls.h"

enum { kMostName = 4096 };

static void* library;
static const char* function;

// The address of the function that is called as the program, with an ending of its own.
static void* find(const char* ending) {
  char name[kMostName];
  if (snprintf(name, sizeof name, "%s%s", function, ending) >= (int)sizeof name) return NULL;
  return dlsym(library, name);
}

static const char* load_weights(const char* path) {
  int (*load)(const char*) = (int (*)(const char*))find("_load_weights");
  const char* (*error)(int) = (const char* (*)(int))find("_error");
  if (!load || !error) fail("the program loads no weights");
  int code = load(path);
  return code ? error(code) : NULL;
}

// Its stack grows as it is used.
static int64_t stack_bytes(void) { return 0; }

int main(int count, char** arguments) {
  if (count != 3) fail("call_library LIBRARY FUNCTION");
  library = dlopen(arguments[1], RTLD_NOW);
  if (!library) fail(dlerror());
  function = arguments[2];
  Entry* entry = (Entry*)find("_packed");
  if (!entry) fail("the library has no such program");
  serve_calls(entry, load_weights, stack_bytes);
  return 0;
}
