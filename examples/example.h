/* example.h - what the CUDA examples share: the GPU, the clock, the check, and the memory model's
 * prediction for an access.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_EXAMPLE_H
#define TILEMM_EXAMPLE_H

#include <algorithm>
#include <chrono>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>
#include <cuda_runtime.h>
#include <tilemm.h>

/* A CUDA call that must succeed. */
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        const cudaError_t status = (call);                                                         \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The exit status, for Automake's tests too, of an example that this machine cannot run. */
enum { EXAMPLE_SKIPPED = 77 };

static int example_cc;              /* the GPU's compute capability: major * 10 + minor */
static cudaStream_t example_stream; /* where work is timed */

/* Say what is shown and where. Ends the program where there is no GPU, or too old a one. */
static inline void example_begin(const char *what, int needed_cc)
{
    cudaDeviceProp gpu;
    int gpus = 0;

    printf("%s\n", what);
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
        printf("skipped: there is no GPU here\n");
        exit(EXAMPLE_SKIPPED);
    }
    CUDA(cudaGetDeviceProperties(&gpu, 0));
    example_cc = gpu.major * 10 + gpu.minor;
    if (example_cc < needed_cc) {
        printf("skipped: %s has compute capability %d.%d, and this needs %d.%d\n", gpu.name,
               gpu.major, gpu.minor, needed_cc / 10, needed_cc % 10);
        exit(EXAMPLE_SKIPPED);
    }
    CUDA(cudaStreamCreateWithFlags(&example_stream, cudaStreamNonBlocking));
    printf("on %s, compute capability %d.%d\n", gpu.name, gpu.major, gpu.minor);
}

/* End the program unless this holds. */
static inline void expect(bool right, const char *what)
{
    if (!right) {
        fprintf(stderr, "wrong: %s\n", what);
        exit(1);
    }
}

/* A context of the library. Ends the program where the library cannot use this GPU. */
static inline tilemm_t example_context(void)
{
    tilemm_t context;

    if (tilemm_create(&context, TILEMM_BACKEND_CUDA, 0) != TILEMM_SUCCESS) {
        printf("skipped: the library has no CUDA backend for this GPU\n");
        exit(EXAMPLE_SKIPPED);
    }
    return context;
}

/* A size from the command line: a multiple of `unit`. */
static inline int size_argument(const char *text, int unit)
{
    char *end;
    const long size = strtol(text, &end, 10);

    if (*end || size < unit || size > 65536 || size % unit) {
        fprintf(stderr, "%s: a size must be a multiple of %d from %d to 65536\n", text, unit, unit);
        exit(1);
    }
    return (int)size;
}

/* How long work(stream) takes on the GPU: the median of several replays of a graph that holds it
 * often enough for launching to count little. */
template <class Work>
static double seconds(Work work)
{
    const cudaStream_t stream = example_stream;
    cudaEvent_t start, stop;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    float ms[5];
    const auto milliseconds = [&](auto launch) {
        float time;

        CUDA(cudaEventRecord(start, stream));
        launch();
        CUDA(cudaGetLastError());
        CUDA(cudaEventRecord(stop, stream));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaEventElapsedTime(&time, start, stop));
        return time;
    };

    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    milliseconds([&] { work(stream); }); /* warms up */
    const float once = milliseconds([&] { work(stream); });
    const int count = (int)std::min(50.0f, 1 + 10 / once);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < count; i++)
        work(stream);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiateWithFlags(&replay, graph, 0));
    for (float &time : ms)
        time = milliseconds([&] { CUDA(cudaGraphLaunch(replay, stream)); });
    CUDA(cudaGraphExecDestroy(replay));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    std::sort(ms, ms + 5);
    return ms[2] / 1e3 / count;
}

/* A copy of these numbers on the device. */
template <class T>
static T *to_device(const std::vector<T> &numbers)
{
    T *copy;

    CUDA(cudaMalloc(&copy, numbers.size() * sizeof(T)));
    CUDA(cudaMemcpy(copy, numbers.data(), numbers.size() * sizeof(T), cudaMemcpyHostToDevice));
    return copy;
}

/* How long work(stream, out) takes; fetches the results, which it has put at `out` on the device.
 */
template <class T, class Work>
static double seconds(std::vector<T> &results, Work work)
{
    const size_t bytes = results.size() * sizeof(T);
    T *out;

    CUDA(cudaMalloc(&out, bytes));
    CUDA(cudaMemset(out, 0xff, bytes));
    CUDA(cudaDeviceSynchronize());
    const double time = seconds([&](cudaStream_t stream) { work(stream, out); });
    CUDA(cudaMemcpy(results.data(), out, bytes, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(out));
    return time;
}

/* How long work() takes by the host's clock, once, including its work on the GPU. */
template <class Work>
static double seconds_once(Work work)
{
    CUDA(cudaDeviceSynchronize());
    const auto start = std::chrono::steady_clock::now();
    work();
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/* ---- the memory model: one access of a warp, `bytes` at address(lane) by each lane -------------
 */

template <class Address>
static tilemm_warp_access_t warp_access(int bytes, Address address)
{
    tilemm_warp_access_t access;

    access.elem_bytes = bytes;
    access.active = 0xffffffff;
    for (int lane = 0; lane < 32; lane++)
        access.addr[lane] = (uint64_t)address(lane);
    return access;
}

template <class Address>
static void predict_shared(const char *what, int bytes, bool store, Address address)
{
    const tilemm_warp_access_t access = warp_access(bytes, address);
    tilemm_shared_cost_t cost;

    expect((store ? tilemm_model_shared : tilemm_model_shared_load)(example_cc, &access, &cost) ==
               TILEMM_SUCCESS,
           what);
    printf("model: %-26s %2d wavefronts, %2d without conflicts\n", what, cost.wavefronts,
           cost.ideal);
}

template <class Address>
static void predict_global(const char *what, int bytes, bool store, Address address)
{
    const tilemm_warp_access_t access = warp_access(bytes, address);
    tilemm_global_cost_t cost;

    expect(tilemm_model_global(example_cc, 1, store, &access, &cost) == TILEMM_SUCCESS, what);
    printf("model: %-26s %2d transactions, %4d bytes moved for %3d, %.1f %%\n", what,
           cost.transactions, cost.transaction_bytes_total, cost.bytes_requested,
           cost.efficiency * 100);
}

#endif
