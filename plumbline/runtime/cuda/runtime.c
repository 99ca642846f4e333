#include "plumbline/runtime/cuda/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plumbline/runtime/cuda/driver.h"

enum { kMostDevices = 64, kMostGraphs = 8 };

// What a program does for calls with one key. One that has been met once has no `exec`.
typedef struct {
  uint64_t* key;
  int64_t count;
  CUgraphExec exec;
} Graph;

// What a program has on one device.
typedef struct {
  CUmodule module;
  _Atomic(CUdeviceptr)* residents;
  int64_t count, bytes;
  Graph graphs[kMostGraphs];
} Loaded;

// What it has on all, by their numbers.
typedef struct Devices {
  struct Devices* next;
  plumbline_cuda_program* program;
  Loaded* on[kMostDevices];
} Devices;

static plumbline_cuda_driver driver;

// What keeps this process from using any GPU, found out once; empty if nothing does.
static char unusable[256];

// Held while what outlives a call is looked up and changed.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static CUcontext contexts[kMostDevices];
static Devices* programs;

typedef struct {
  const void* image;
  Loaded* loaded;
  CUstream stream;
  // The one that launches are captured of, to become the graph with this key.
  CUstream captured;
  const uint64_t* key;
  int64_t key_words;
  CUdeviceptr* allocated;
  size_t count, capacity;
  int is_current, has_failed;
  int64_t planned;
} Call;

static _Thread_local Call call;

// Of what went wrong last in this thread.
static _Thread_local char text[512];

static const char kNoMemoryOfHost[] = "there is no memory of the host";
static const char kNoDevice[] = "the NVIDIA driver gives no GPU that can be used";
static const char kNoModule[] = "the NVIDIA driver does not take the kernels of this program";
static const char kNoLaunch[] = "a kernel could not be launched, or one before it failed";
static const char kNoCopy[] = "a copy to or from device memory failed, or a kernel before it";
static const char kNoGraph[] = "the launches of this program cannot be made a graph";

// What goes wrong first is what is told.
__attribute__((format(printf, 1, 2))) static void Fail(const char* format, ...) {
  if (call.has_failed) return;
  call.has_failed = 1;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
}

static const char* NameOf(CUresult error) {
  const char* name = NULL;
  // It does not know those of newer drivers.
  return driver.cuGetErrorName(error, &name) == 0 && name != NULL ? name : "an unknown error";
}

// Whether a call of the driver succeeded; if not, that is what went wrong.
static int Succeeds(const char* problem, const char* function, CUresult error) {
  if (error != 0) Fail("%s: %s: %s (%d)", problem, function, NameOf(error), error);
  return error == 0;
}

#define TRY(problem, function, arguments) Succeeds(problem, #function, driver.function arguments)

static void Open(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    snprintf(
        unusable, sizeof(unusable),
        "no NVIDIA driver was found: there is no library libcuda.so.1 that can be loaded here");
    return;
  }
#define PLUMBLINE_FIND(name, parameters)                                        \
  *(void**)&driver.name = dlsym(library, #name);                                \
  if (driver.name == NULL) {                                                    \
    snprintf(unusable, sizeof(unusable),                                        \
             "the NVIDIA driver is too old: its library has no function " #name \
             ", which those of CUDA 11.4 and later have");                      \
    return;                                                                     \
  }
  PLUMBLINE_CUDA_FUNCTIONS(PLUMBLINE_FIND)
#undef PLUMBLINE_FIND
  const CUresult error = driver.cuInit(0);
  if (error != 0) {
    snprintf(unusable, sizeof(unusable), "%s: cuInit: %s (%d)", kNoDevice, NameOf(error), error);
  }
}

static int IsUsable(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, Open);
  return unusable[0] == 0;
}

// The one context of a device that all libraries of a process share. With the mutex held.
static CUcontext Context(int device) {
  if (contexts[device] == NULL) {
    CUdevice handle = 0;
    CUcontext context = NULL;
    if (TRY(kNoDevice, cuDeviceGet, (&handle, device)) &&
        TRY(kNoDevice, cuDevicePrimaryCtxRetain, (&context, handle))) {
      contexts[device] = context;
    }
  }
  return contexts[device];
}

static Loaded* NewLoaded(int64_t residents) {
  Loaded* loaded = calloc(1, sizeof(*loaded));
  if (loaded == NULL) return NULL;
  loaded->count = residents;
  loaded->residents = calloc((size_t)residents + 1, sizeof(*loaded->residents));
  if (loaded->residents != NULL) return loaded;
  free(loaded);
  return NULL;
}

// What the program has on a device, which is nothing at first. With the mutex held.
static Loaded* OnDevice(plumbline_cuda_program* program, int device, int64_t residents) {
  Devices* devices = program->loaded;
  if (devices == NULL) {
    devices = calloc(1, sizeof(*devices));
    if (devices == NULL) return NULL;
    devices->program = program;
    devices->next = programs;
    programs = program->loaded = devices;
  }
  if (devices->on[device] == NULL) devices->on[device] = NewLoaded(residents);
  return devices->on[device];
}

static int Same(const Graph* graph, const uint64_t* key, int64_t count) {
  return graph->key != NULL && graph->count == count &&
         memcmp(graph->key, key, (size_t)count * sizeof(*key)) == 0;
}

static Graph* Find(Loaded* loaded, const uint64_t* key, int64_t count) {
  for (int i = 0; i < kMostGraphs; ++i) {
    if (Same(&loaded->graphs[i], key, count)) return &loaded->graphs[i];
  }
  return NULL;
}

// Remembers a key of which a call has succeeded, if it is new. Graphs stay, as they may be running.
static void Remember(Loaded* loaded, const uint64_t* key, int64_t count) {
  if (Find(loaded, key, count) != NULL) return;
  Graph* place = NULL;
  for (int i = 0; i < kMostGraphs && place == NULL; ++i) {
    if (loaded->graphs[i].key == NULL) place = &loaded->graphs[i];
  }
  for (int i = 0; i < kMostGraphs && place == NULL; ++i) {
    if (loaded->graphs[i].exec == NULL) place = &loaded->graphs[i];
  }
  if (place == NULL) return;
  uint64_t* copy = malloc((size_t)count * sizeof(*copy));
  if (copy == NULL) return;
  memcpy(copy, key, (size_t)count * sizeof(*copy));
  free(place->key);
  place->key = copy;
  place->count = count;
}

static void BeginCapture(void) {
  // A stream that is captured already, for a graph of the caller's, takes the launches as they are.
  int status = 0;
  if (!TRY(kNoGraph, cuStreamIsCapturing, (call.stream, &status)) || status) return;
  CUstream stream = NULL;
  if (!TRY(kNoGraph, cuStreamCreate, (&stream, PLUMBLINE_CUDA_STREAM_NON_BLOCKING))) return;
  if (TRY(kNoGraph, cuStreamBeginCapture_v2, (stream, PLUMBLINE_CUDA_CAPTURE_THREAD_LOCAL))) {
    call.captured = stream;
  } else {
    driver.cuStreamDestroy_v2(stream);
  }
}

void plumbline_cuda_begin(plumbline_cuda_program* program, const void* image, int64_t residents,
                          int64_t planned, int32_t device, void* stream, const uint64_t* key,
                          int64_t count) {
  memset(&call, 0, sizeof(call));
  call.image = image;
  call.stream = stream;
  call.planned = planned;
  if (!IsUsable()) {
    Fail("%s", unusable);
    return;
  }
  if (device < 0) device = 0;
  if (device >= kMostDevices) {
    Fail("tensors are on device %d, where programs run on the first %d", device, kMostDevices);
    return;
  }
  int is_repeated = 0;
  pthread_mutex_lock(&mutex);
  const CUcontext context = Context(device);
  if (context != NULL) {
    call.loaded = OnDevice(program, device, residents);
    if (call.loaded == NULL) {
      Fail("%s", kNoMemoryOfHost);
    } else if (key != NULL) {
      is_repeated = Find(call.loaded, key, count) != NULL;
    }
  }
  pthread_mutex_unlock(&mutex);
  if (call.has_failed) return;
  call.is_current = TRY(kNoDevice, cuCtxPushCurrent_v2, (context));
  call.key = key;
  call.key_words = count;
  if (is_repeated && call.is_current) BeginCapture();
}

int32_t plumbline_cuda_replay(plumbline_cuda_program* program, int32_t device, void* stream,
                              const uint64_t* key, int64_t count) {
  if (device < 0) device = 0;
  if (device >= kMostDevices) return 0;
  int32_t done = 0;
  pthread_mutex_lock(&mutex);
  const Devices* devices = program->loaded;
  Loaded* loaded = devices == NULL ? NULL : devices->on[device];
  const Graph* graph = loaded == NULL ? NULL : Find(loaded, key, count);
  if (graph != NULL && graph->exec != NULL && driver.cuCtxPushCurrent_v2(contexts[device]) == 0) {
    // A stream that the caller captures takes no graph, but its launches. Where it fails, the call
    // is made without it, and says why that fails.
    int is_captured = 0;
    done = driver.cuStreamIsCapturing(stream, &is_captured) == 0 && !is_captured &&
           driver.cuGraphLaunch(graph->exec, stream) == 0;
    CUcontext popped = NULL;
    driver.cuCtxPopCurrent_v2(&popped);
  }
  pthread_mutex_unlock(&mutex);
  return done;
}

int32_t plumbline_cuda_device_of(const void* pointer) {
  if (pointer == NULL || !IsUsable()) return PLUMBLINE_CUDA_ANYWHERE;
  int attributes[] = {PLUMBLINE_CUDA_POINTER_MEMORY_TYPE, PLUMBLINE_CUDA_POINTER_IS_MANAGED,
                      PLUMBLINE_CUDA_POINTER_DEVICE_ORDINAL};
  unsigned type = 0, is_managed = 0;
  int device = 0;
  void* values[] = {&type, &is_managed, &device};
  // Asked for one attribute, the driver refuses what is the C library's; so it says zeros.
  const CUresult error = driver.cuPointerGetAttributes(3, attributes, values, (CUdeviceptr)pointer);
  if (error != 0 || is_managed) return PLUMBLINE_CUDA_ANYWHERE;
  return type == PLUMBLINE_CUDA_MEMORY_IS_DEVICE ? device : PLUMBLINE_CUDA_HOST;
}

// What GPUs the PTX of an image says that it is for: "sm_80"; empty where it is no PTX.
static void ChipOf(const void* image, char chip[16]) {
  static const char kTarget[] = ".target ";
  chip[0] = '\0';
  if (memcmp(image, "//", 2) != 0) return;
  const char* said = strstr(image, kTarget);
  if (said != NULL) sscanf(said + sizeof(kTarget) - 1, "%15[a-z0-9_]", chip);
}

// The program's module, which its first launch loads. One that could not be is tried again.
static CUmodule Module(void) {
  pthread_mutex_lock(&mutex);
  CUmodule module = call.loaded->module;
  if (module == NULL) {
    const CUresult error = driver.cuModuleLoadData(&module, call.image);
    if (error == 0) {
      call.loaded->module = module;
    } else {
      char chip[16];
      ChipOf(call.image, chip);
      Fail("%s%s%s: cuModuleLoadData: %s (%d)", kNoModule,
           chip[0] == '\0' ? "" : ", which are for GPUs from ", chip, NameOf(error), error);
    }
  }
  pthread_mutex_unlock(&mutex);
  return module;
}

static CUdeviceptr Allocate(int64_t bytes) {
  CUdeviceptr pointer = 0;
  // The driver refuses to allocate nothing.
  const CUresult error = driver.cuMemAlloc_v2(&pointer, bytes > 0 ? (size_t)bytes : 1);
  if (error == 0) return pointer;
  Fail(
      "there is no device memory for %lld bytes: cuMemAlloc_v2: %s (%d); calls take at least %lld "
      "bytes, and the program's weights have %lld so far",
      (long long)bytes, NameOf(error), error, (long long)call.planned,
      (long long)call.loaded->bytes);
  return 0;
}

void* plumbline_cuda_allocate(int64_t bytes) {
  if (call.has_failed) return NULL;
  if (call.count == call.capacity) {
    const size_t capacity = 2 * call.capacity + 16;
    CUdeviceptr* more = realloc(call.allocated, capacity * sizeof(*more));
    if (more == NULL) {
      Fail("%s", kNoMemoryOfHost);
      return NULL;
    }
    call.allocated = more;
    call.capacity = capacity;
  }
  const CUdeviceptr pointer = Allocate(bytes);
  if (pointer != 0) call.allocated[call.count++] = pointer;
  return (void*)pointer;
}

void plumbline_cuda_free(void* pointer) {
  for (size_t i = call.count; i-- > 0;) {
    if (call.allocated[i] != (CUdeviceptr)pointer) continue;
    call.allocated[i] = call.allocated[--call.count];
    // It waits for kernels, and so tells of what went wrong in them.
    TRY(kNoCopy, cuMemFree_v2, ((CUdeviceptr)pointer));
    return;
  }
}

void* plumbline_cuda_resident(int64_t number, const void* source, int64_t bytes) {
  if (call.has_failed) return NULL;
  _Atomic(CUdeviceptr)* place = &call.loaded->residents[number];
  CUdeviceptr pointer = atomic_load_explicit(place, memory_order_acquire);
  if (pointer != 0) return (void*)pointer;
  pthread_mutex_lock(&mutex);
  pointer = atomic_load_explicit(place, memory_order_relaxed);
  if (pointer == 0 && (pointer = Allocate(bytes)) != 0) {
    // No other stream waits for a copy of memory that is not pinned, but by this.
    if ((bytes <= 0 || TRY(kNoCopy, cuMemcpyHtoD_v2, (pointer, source, (size_t)bytes))) &&
        TRY(kNoCopy, cuStreamSynchronize, (NULL))) {
      call.loaded->bytes += bytes;
      atomic_store_explicit(place, pointer, memory_order_release);
    } else {
      driver.cuMemFree_v2(pointer);
      pointer = 0;
    }
  }
  pthread_mutex_unlock(&mutex);
  return (void*)pointer;
}

static CUstream Queue(void) { return call.captured != NULL ? call.captured : call.stream; }

void plumbline_cuda_copy_to_device(void* target, const void* source, int64_t bytes) {
  if (call.has_failed || bytes <= 0) return;
  TRY(kNoCopy, cuMemcpyHtoD_v2, ((CUdeviceptr)target, source, (size_t)bytes));
}

void plumbline_cuda_put_on_device(void* target, const void* source, int64_t bytes) {
  const CUdeviceptr place = (CUdeviceptr)target;
  const char* from = source;
  int64_t at = 0;
  for (uint32_t word; !call.has_failed && at + (int64_t)sizeof(word) <= bytes; at += sizeof(word)) {
    memcpy(&word, from + at, sizeof(word));
    TRY(kNoCopy, cuMemsetD32Async, (place + at, word, 1, Queue()));
  }
  for (; !call.has_failed && at < bytes; ++at) {
    TRY(kNoCopy, cuMemsetD8Async, (place + at, (unsigned char)from[at], 1, Queue()));
  }
}

void plumbline_cuda_copy_on_device(void* target, const void* source, int64_t bytes) {
  if (call.has_failed || bytes <= 0) return;
  TRY(kNoCopy, cuMemcpyDtoDAsync_v2,
      ((CUdeviceptr)target, (CUdeviceptr)source, (size_t)bytes, Queue()));
}

void plumbline_cuda_copy_to_host(void* target, const void* source, int64_t bytes) {
  if (call.has_failed || bytes <= 0) return;
  TRY(kNoCopy, cuMemcpyDtoH_v2, (target, (CUdeviceptr)source, (size_t)bytes));
}

void plumbline_cuda_launch(const char* kernel, int64_t blocks, int64_t threads,
                           int64_t shared_bytes, uint64_t* words, int64_t count) {
  if (call.has_failed) return;
  const CUmodule module = Module();
  CUfunction function = NULL;
  if (call.has_failed || !TRY(kNoLaunch, cuModuleGetFunction, (&function, module, kernel))) {
    return;
  }
  // More than a kernel may declare is given to those alone for which it is allowed.
  if (shared_bytes > 0 && !TRY(kNoLaunch, cuFuncSetAttribute,
                               (function, PLUMBLINE_CUDA_MOST_SHARED_BYTES, (int)shared_bytes))) {
    return;
  }
  void** parameters = malloc((size_t)(count + 1) * sizeof(*parameters));
  if (parameters == NULL) {
    Fail("%s", kNoMemoryOfHost);
    return;
  }
  for (int64_t i = 0; i < count; ++i) parameters[i] = &words[i];
  TRY(kNoLaunch, cuLaunchKernel,
      (function, (unsigned)blocks, 1, 1, (unsigned)threads, 1, 1, (unsigned)shared_bytes, Queue(),
       parameters, NULL));
  free(parameters);
}

const char* plumbline_cuda_failure(void) { return call.has_failed ? text : NULL; }

const char* plumbline_last_text(void) { return text; }

// Makes a graph of what was captured, queues it, and keeps it for the next call.
static void EndCapture(void) {
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  const int is_captured = TRY(kNoGraph, cuStreamEndCapture, (call.captured, &graph));
  driver.cuStreamDestroy_v2(call.captured);
  if (is_captured && graph != NULL) {
    if (!call.has_failed) {
      TRY(kNoGraph, cuGraphInstantiateWithFlags, (&exec, graph, 0));
    }
    driver.cuGraphDestroy(graph);
  }
  if (exec == NULL) return;
  pthread_mutex_lock(&mutex);
  Graph* place = Find(call.loaded, call.key, call.key_words);
  const int is_queued = TRY(kNoGraph, cuGraphLaunch, (exec, call.stream));
  if (is_queued && place != NULL && place->exec == NULL) {
    place->exec = exec;
    exec = NULL;
  }
  pthread_mutex_unlock(&mutex);
  if (exec == NULL) return;
  // Another thread was first with the same graph.
  if (is_queued) driver.cuStreamSynchronize(call.stream);
  driver.cuGraphExecDestroy(exec);
}

void plumbline_cuda_submit(int32_t waits) {
  if (call.captured != NULL) {
    EndCapture();
    call.captured = NULL;
  } else if (call.key != NULL && !call.has_failed) {
    // Of a call that has failed, weights may not be there, which are not uploaded in a capture.
    pthread_mutex_lock(&mutex);
    Remember(call.loaded, call.key, call.key_words);
    pthread_mutex_unlock(&mutex);
  }
  if (waits && !call.has_failed) {
    TRY(kNoLaunch, cuStreamSynchronize, (call.stream));
  }
}

void plumbline_cuda_end(void) {
  plumbline_cuda_submit(0);
  while (call.count > 0) driver.cuMemFree_v2(call.allocated[--call.count]);
  free(call.allocated);
  if (call.is_current) {
    CUcontext popped = NULL;
    driver.cuCtxPopCurrent_v2(&popped);
  }
  memset(&call, 0, sizeof(call));
}

// -- the end of a program -------------------------------------------------------------------------

static void Unload(Loaded* loaded) {
  for (int i = 0; i < kMostGraphs; ++i) {
    if (loaded->graphs[i].exec != NULL) driver.cuGraphExecDestroy(loaded->graphs[i].exec);
    free(loaded->graphs[i].key);
  }
  for (int64_t i = 0; i < loaded->count; ++i) {
    const CUdeviceptr pointer = atomic_load(&loaded->residents[i]);
    if (pointer != 0) driver.cuMemFree_v2(pointer);
  }
  if (loaded->module != NULL) driver.cuModuleUnload(loaded->module);
  free((void*)loaded->residents);
  free(loaded);
}

static void UnloadAll(Devices* devices) {
  for (int device = 0; device < kMostDevices; ++device) {
    if (devices->on[device] == NULL) continue;
    CUcontext popped = NULL;
    // A driver that is shutting down has given all back already, and refuses.
    if (driver.cuCtxPushCurrent_v2(contexts[device]) == 0) {
      Unload(devices->on[device]);
      driver.cuCtxPopCurrent_v2(&popped);
    }
  }
  devices->program->loaded = NULL;
  free(devices);
}

void plumbline_cuda_unload(plumbline_cuda_program* program) {
  pthread_mutex_lock(&mutex);
  for (Devices** place = &programs; *place != NULL; place = &(*place)->next) {
    Devices* devices = *place;
    if (devices->program != program) continue;
    *place = devices->next;
    UnloadAll(devices);
    break;
  }
  pthread_mutex_unlock(&mutex);
}

// When the library that this is linked to is closed, or the process ends.
__attribute__((destructor)) static void Close(void) {
  while (programs != NULL) {
    Devices* devices = programs;
    programs = devices->next;
    UnloadAll(devices);
  }
  for (int device = 0; device < kMostDevices; ++device) {
    if (contexts[device] != NULL) driver.cuDevicePrimaryCtxRelease_v2(device);
  }
}
