/* gpu.c - device memory, streams, events and graphs through the CUDA driver, loaded at run time.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "gpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

typedef unsigned long long device_address; /* CUdeviceptr */

/* The functions of the driver in use: X(member, symbol, parameters). "_v2" is the ABI of the CUDA
 * 11 to 13 drivers where the function's meaning changed once. */
#define DRIVER_FUNCTIONS(X)                                                                        \
    X(init, "cuInit", (unsigned flags))                                                            \
    X(error_string, "cuGetErrorString", (int error, const char **text))                            \
    X(driver_version, "cuDriverGetVersion", (int *version))                                        \
    X(device_count, "cuDeviceGetCount", (int *count))                                              \
    X(device_get, "cuDeviceGet", (int *device, int ordinal))                                       \
    X(device_name, "cuDeviceGetName", (char *name, int length, int device))                        \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t * bytes, int device))                          \
    X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))           \
    X(context_retain, "cuDevicePrimaryCtxRetain", (void **context, int device))                    \
    X(context_set, "cuCtxSetCurrent", (void *context))                                             \
    X(synchronize, "cuCtxSynchronize", (void))                                                     \
    X(malloc, "cuMemAlloc_v2", (device_address * address, size_t bytes))                           \
    X(malloc_managed, "cuMemAllocManaged",                                                         \
      (device_address * address, size_t bytes, unsigned flags))                                    \
    X(malloc_host, "cuMemAllocHost_v2", (void **host, size_t bytes))                               \
    X(free, "cuMemFree_v2", (device_address address))                                              \
    X(free_host, "cuMemFreeHost", (void *host))                                                    \
    X(memory_info, "cuMemGetInfo_v2", (size_t * free_bytes, size_t * total_bytes))                 \
    X(to_device, "cuMemcpyHtoD_v2", (device_address to, const void *from, size_t bytes))           \
    X(to_host, "cuMemcpyDtoH_v2", (void *to, device_address from, size_t bytes))                   \
    X(to_device_async, "cuMemcpyHtoDAsync_v2",                                                     \
      (device_address to, const void *from, size_t bytes, void *stream))                           \
    X(to_host_async, "cuMemcpyDtoHAsync_v2",                                                       \
      (void *to, device_address from, size_t bytes, void *stream))                                 \
    X(copy_async, "cuMemcpyDtoDAsync_v2",                                                          \
      (device_address to, device_address from, size_t bytes, void *stream))                        \
    X(fill_async, "cuMemsetD8Async",                                                               \
      (device_address to, unsigned char byte, size_t bytes, void *stream))                         \
    X(stream_create, "cuStreamCreate", (void **stream, unsigned flags))                            \
    X(stream_destroy, "cuStreamDestroy_v2", (void *stream))                                        \
    X(stream_synchronize, "cuStreamSynchronize", (void *stream))                                   \
    X(event_create, "cuEventCreate", (void **event, unsigned flags))                               \
    X(event_destroy, "cuEventDestroy_v2", (void *event))                                           \
    X(event_record, "cuEventRecord", (void *event, void *stream))                                  \
    X(event_synchronize, "cuEventSynchronize", (void *event))                                      \
    X(event_elapsed, "cuEventElapsedTime", (float *milliseconds, void *start, void *end))          \
    X(capture_begin, "cuStreamBeginCapture_v2", (void *stream, int mode))                          \
    X(capture_end, "cuStreamEndCapture", (void *stream, void **graph))                             \
    X(graph_instantiate, "cuGraphInstantiateWithFlags",                                            \
      (void **executable, void *graph, unsigned long long flags))                                  \
    X(graph_launch, "cuGraphLaunch", (void *executable, void *stream))                             \
    X(graph_free, "cuGraphDestroy", (void *graph))                                                 \
    X(executable_free, "cuGraphExecDestroy", (void *executable))

static struct {
#define MEMBER(name, symbol, parameters) int(*name) parameters;
    DRIVER_FUNCTIONS(MEMBER)
#undef MEMBER
} driver;

enum { MAX_DEVICES = 64, STREAM_NON_BLOCKING = 1, ATTACH_GLOBAL = 1, CAPTURE_GLOBAL = 0 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_ready; /* the driver */
static void *contexts[MAX_DEVICES];
static char error_text[256];

static device_address address_of(const void *device)
{
    return (device_address)(uintptr_t)device;
}

/* Keep what went wrong, if anything did. Returns error. */
static int keep_error(const char *what, int error)
{
    const char *text = NULL;
    if (error && (!driver.error_string || driver.error_string(error, &text) != 0 || !text))
        text = "unknown error";
    if (error)
        snprintf(error_text, sizeof error_text, "%s: %s (%d)", what, text, error);
    return error;
}

static void load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(error_text, sizeof error_text, "no CUDA driver: %s", dlerror());
        return;
    }
#define LOAD(name, symbol, parameters)                                                             \
    *(void **)&driver.name = dlsym(library, symbol);                                               \
    if (!driver.name) {                                                                            \
        snprintf(error_text, sizeof error_text, "the CUDA driver is too old: it has no %s",        \
                 symbol);                                                                          \
        return;                                                                                    \
    }
    DRIVER_FUNCTIONS(LOAD)
#undef LOAD
    is_ready = keep_error("cuInit", driver.init(0)) == 0;
}

/* Whether the driver is there. */
static int has_driver(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_driver);
    return is_ready;
}

/* Called with the lock held. */
static int take_context(int ordinal)
{
    int device;
    if (ordinal < 0 || ordinal >= MAX_DEVICES || driver.device_get(&device, ordinal) != 0) {
        snprintf(error_text, sizeof error_text, "there is no CUDA device %d", ordinal);
        return -1;
    }
    if (!contexts[ordinal] && keep_error("cuDevicePrimaryCtxRetain",
                                         driver.context_retain(&contexts[ordinal], device)) != 0) {
        contexts[ordinal] = NULL;
        return -1;
    }
    return keep_error("cuCtxSetCurrent", driver.context_set(contexts[ordinal])) != 0 ? -1 : 0;
}

int gpu_open(int device)
{
    if (!has_driver())
        return -1;
    pthread_mutex_lock(&lock);
    const int result = take_context(device);
    pthread_mutex_unlock(&lock);
    return result;
}

const char *gpu_error(void)
{
    return error_text;
}

int gpu_count(void)
{
    int count = 0;
    return has_driver() && driver.device_count(&count) == 0 ? count : 0;
}

int gpu_driver_version(void)
{
    int version = 0;
    return is_ready && driver.driver_version(&version) == 0 ? version : 0;
}

int gpu_describe(int ordinal, gpu_traits_t *traits)
{
    const struct {
        int attribute, *value; /* CUdevice_attribute */
    } wanted[] = {
        {13 /* clock rate */, &traits->clock_khz},
        {16 /* multiprocessors */, &traits->sm_count},
        {38 /* L2 cache size */, &traits->l2_bytes},
        {39 /* threads per multiprocessor */, &traits->max_threads_per_sm},
        {75 /* compute capability, major */, &traits->cc_major},
        {76 /* minor */, &traits->cc_minor},
        {81 /* shared memory per multiprocessor */, &traits->shared_per_sm},
        {97 /* shared memory per block, on request */, &traits->shared_per_block},
    };
    *traits = (gpu_traits_t){0};
    if (!is_ready)
        return -1;
    int device, error = driver.device_get(&device, ordinal);
    if (!error)
        error = driver.device_name(traits->name, sizeof traits->name, device);
    if (!error)
        error = driver.device_memory(&traits->memory_bytes, device);
    for (size_t i = 0; !error && i < sizeof wanted / sizeof wanted[0]; i++)
        error = driver.device_attribute(wanted[i].value, wanted[i].attribute, device);
    return error;
}

int gpu_to_device(void *device, const void *host, size_t bytes)
{
    int error = bytes ? driver.to_device(address_of(device), host, bytes) : 0;
    /* From pageable memory the last piece may still be on its way, which streams that do not wait
     * for the default stream would not see. */
    return error ? error : driver.stream_synchronize(NULL);
}

void *gpu_capture_end(void *stream)
{
    void *graph = NULL, *executable = NULL;
    if (driver.capture_end(stream, &graph) != 0 || !graph)
        return NULL;
    if (driver.graph_instantiate(&executable, graph, 0) != 0)
        executable = NULL;
    driver.graph_free(graph);
    return executable;
}

/* Functions that are the driver's, in the order of gpu.h. NULL may be freed or destroyed. */
#define CREATE(name, type, parameters, call)                                                       \
    void *name parameters                                                                          \
    {                                                                                              \
        type made = 0;                                                                             \
        return call == 0 ? (void *)(uintptr_t)made : NULL;                                         \
    }
CREATE(gpu_malloc, device_address, (size_t bytes), driver.malloc(&made, bytes ? bytes : 1))
CREATE(gpu_malloc_managed, device_address, (size_t bytes),
       driver.malloc_managed(&made, bytes, ATTACH_GLOBAL))
CREATE(gpu_malloc_host, void *, (size_t bytes), driver.malloc_host(&made, bytes))
CREATE(gpu_stream_create, void *, (void), driver.stream_create(&made, STREAM_NON_BLOCKING))
CREATE(gpu_event_create, void *, (void), driver.event_create(&made, 0))
#undef CREATE
#define CALL(name, parameters, call)                                                               \
    int name parameters                                                                            \
    {                                                                                              \
        return call;                                                                               \
    }
CALL(gpu_to_host, (void *host, const void *device, size_t bytes),
     bytes ? driver.to_host(host, address_of(device), bytes) : 0)
CALL(gpu_to_device_async, (void *device, const void *host, size_t bytes, void *stream),
     bytes ? driver.to_device_async(address_of(device), host, bytes, stream) : 0)
CALL(gpu_to_host_async, (void *host, const void *device, size_t bytes, void *stream),
     bytes ? driver.to_host_async(host, address_of(device), bytes, stream) : 0)
CALL(gpu_copy_async, (void *to, const void *from, size_t bytes, void *stream),
     bytes ? driver.copy_async(address_of(to), address_of(from), bytes, stream) : 0)
CALL(gpu_fill_async, (void *device, unsigned char byte, size_t bytes, void *stream),
     bytes ? driver.fill_async(address_of(device), byte, bytes, stream) : 0)
CALL(gpu_free, (void *device), device ? driver.free(address_of(device)) : 0)
CALL(gpu_free_host, (void *host), host ? driver.free_host(host) : 0)
CALL(gpu_memory, (size_t * free_bytes, size_t *total_bytes),
     driver.memory_info(free_bytes, total_bytes))
CALL(gpu_synchronize, (void), driver.synchronize())
CALL(gpu_stream_destroy, (void *stream), stream ? driver.stream_destroy(stream) : 0)
CALL(gpu_stream_synchronize, (void *stream), driver.stream_synchronize(stream))
CALL(gpu_event_destroy, (void *event), event ? driver.event_destroy(event) : 0)
CALL(gpu_event_record, (void *event, void *stream), driver.event_record(event, stream))
CALL(gpu_event_synchronize, (void *event), driver.event_synchronize(event))
CALL(gpu_event_elapsed, (float *milliseconds, void *start, void *end),
     driver.event_elapsed(milliseconds, start, end))
CALL(gpu_capture_begin, (void *stream), driver.capture_begin(stream, CAPTURE_GLOBAL))
CALL(gpu_graph_launch, (void *graph, void *stream), driver.graph_launch(graph, stream))
CALL(gpu_graph_destroy, (void *graph), graph ? driver.executable_free(graph) : 0)
#undef CALL
