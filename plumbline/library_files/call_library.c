// Calls a program of a shared object for another process (serve_calls.h): call_library LIBRARY
// FUNCTION, under whatever runs code of the library's architecture.

#include "serve_calls.h"

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#include <windows.h>

static void* open_library(const char* path) { return LoadLibraryA(path); }

static void* symbol(void* library, const char* name) {
  return (void*)GetProcAddress(library, name);
}

static const char* problem(void) {
  static char text[64];
  snprintf(text, sizeof text, "it cannot be loaded: error %lu of Windows", GetLastError());
  return text;
}
#else
#include <dlfcn.h>

static void* open_library(const char* path) { return dlopen(path, RTLD_NOW); }

static void* symbol(void* library, const char* name) { return dlsym(library, name); }

static const char* problem(void) { return dlerror(); }
#endif

enum { kMostName = 4096 };

static void* library;
static const char* function;

// The address of the function that is called as the program, with an ending of its own.
static void* find(const char* ending) {
  char name[kMostName];
  if (snprintf(name, sizeof name, "%s%s", function, ending) >= (int)sizeof name) return NULL;
  return symbol(library, name);
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
#ifdef _WIN32
  // Else ends of lines would become others.
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
#endif
  library = open_library(arguments[1]);
  if (!library) fail(problem());
  function = arguments[2];
  Entry* entry = (Entry*)find("_packed");
  if (!entry) fail("the library has no such program");
  serve_calls(entry, load_weights, stack_bytes);
  return 0;
}
