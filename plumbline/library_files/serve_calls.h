// Calls a program for another process, which reads and writes its tensors through pipes.
//
// Requests follow each other on standard input, replies on standard output, in 64-bit words of this
// machine's byte order. A request is either
//
//   count >= 0, count times (kind, word), and the bytes of each argument that is `kIn` or `kInout`;
//   or -1, count, and so many bytes: the path of the file of weights to load;
//   or -2: how much of its stack the program has used so far.
//
// The word of a `kValue` is what the entry is handed, of all other kinds how many bytes its memory
// has. A reply is the length of what the program says as it fails and that text, or 0 and the bytes
// of each argument that is `kOut` or `kInout`. Loading weights is answered alike, without bytes,
// and the stack with a count of bytes; 0 where nobody counts them.

#ifndef PLUMBLINE_LIBRARY_FILES_SERVE_CALLS_H_
#define PLUMBLINE_LIBRARY_FILES_SERVE_CALLS_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <malloc.h>
#define aligned_alloc(alignment, size) _aligned_malloc(size, alignment)
#define free_aligned _aligned_free
#else
#define free_aligned free
#endif

typedef char* Entry(const uint64_t* words);

enum { kValue, kIn, kOut, kInout, kScratch };

enum { kAlignment = 64 };

static const int64_t kLoadWeights = -1, kStackBytes = -2;

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(EXIT_FAILURE);
}

// Returns 0 where the input ends before the first byte.
static int read_bytes(void* bytes, size_t count) {
  size_t done = fread(bytes, 1, count, stdin);
  if (done == 0 && count > 0) return 0;
  if (done < count) fail("a request is cut off");
  return 1;
}

static void read_rest(void* bytes, size_t count) {
  if (!read_bytes(bytes, count)) fail("a request is cut off");
}

static int64_t read_word(void) {
  int64_t word;
  read_rest(&word, sizeof word);
  return word;
}

static void write_bytes(const void* bytes, size_t count) {
  if (fwrite(bytes, 1, count, stdout) < count) fail("a reply cannot be written");
}

static void reply(const char* message) {
  int64_t length = message ? (int64_t)strlen(message) : 0;
  write_bytes(&length, sizeof length);
  if (message) write_bytes(message, (size_t)length);
}

// Memory of so many bytes, of the alignment that programs ask of a workspace.
static void* new_memory(int64_t count) {
  size_t size = ((size_t)count / kAlignment + 1) * kAlignment;
  void* memory = count < 0 || count > INT64_MAX / 2 ? NULL : aligned_alloc(kAlignment, size);
  if (!memory) fail("there is no memory for an argument");
  return memory;
}

static void call(Entry* entry, int64_t count) {
  int64_t *kinds = new_memory(count * 16), *sizes = kinds + count;
  uint64_t* words = new_memory(count * 8);
  for (int64_t i = 0; i < count; ++i) {
    kinds[i] = read_word();
    sizes[i] = read_word();
  }
  for (int64_t i = 0; i < count; ++i) {
    if (kinds[i] == kValue) {
      words[i] = (uint64_t)sizes[i];
      continue;
    }
    void* memory = new_memory(sizes[i]);
    words[i] = (uint64_t)(uintptr_t)memory;
    if (kinds[i] == kIn || kinds[i] == kInout) read_rest(memory, (size_t)sizes[i]);
  }
  char* message = entry(words);
  reply(message);
  for (int64_t i = 0; i < count; ++i) {
    if (kinds[i] == kValue) continue;
    void* memory = (void*)(uintptr_t)words[i];
    if (!message && (kinds[i] == kOut || kinds[i] == kInout)) write_bytes(memory, (size_t)sizes[i]);
    free_aligned(memory);
  }
  free(message);
  free_aligned(words);
  free_aligned(kinds);
}

// Answers what is asked of a program, until there is no more. `load_weights` gives what keeps it
// from loading them from a file, `stack_bytes` how much of the stack was used.
static void serve_calls(Entry* entry, const char* (*load_weights)(const char* path),
                        int64_t (*stack_bytes)(void)) {
  for (int64_t request; read_bytes(&request, sizeof request); fflush(stdout)) {
    if (request == kLoadWeights) {
      int64_t length = read_word();
      char* path = new_memory(length + 1);
      read_rest(path, (size_t)length);
      path[length] = '\0';
      reply(load_weights(path));
      free_aligned(path);
    } else if (request == kStackBytes) {
      int64_t bytes = stack_bytes();
      write_bytes(&bytes, sizeof bytes);
    } else if (request >= 0 && request < INT64_MAX / 32) {
      call(entry, request);
    } else {
      fail("there is no such request");
    }
  }
}

#endif  // PLUMBLINE_LIBRARY_FILES_SERVE_CALLS_H_
