/* streams.cu - two streams that overlap copies and kernels. Shows the same work, eight pieces that
 * are copied to the GPU, computed and copied back, in one stream and in two: there a piece is
 * computed while its neighbours are copied. Events in the streams take the times.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "../example.h"

enum { PIECES = 8, PIECE = 1 << 20, THREADS = 256 };

static __global__ void work(unsigned *x, int rounds)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    unsigned v = x[i];

    for (int r = 0; r < rounds; r++)
        v = v * 1664525 + 1013904223;
    x[i] = v;
}

static void piece(unsigned *host, unsigned *device, int number, int rounds, cudaStream_t stream)
{
    const size_t at = (size_t)number * PIECE, bytes = PIECE * sizeof *host;

    CUDA(cudaMemcpyAsync(device + at, host + at, bytes, cudaMemcpyHostToDevice, stream));
    work<<<PIECE / THREADS, THREADS, 0, stream>>>(device + at, rounds);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpyAsync(host + at, device + at, bytes, cudaMemcpyDeviceToHost, stream));
}

/* Milliseconds for all pieces, dealt out to one or two streams. The second stream starts after the
 * first event, and the last event waits for it. */
static float run(unsigned *host, unsigned *device, int rounds, int streams)
{
    cudaStream_t stream[2];
    cudaEvent_t start, stop, joined;
    float ms;

    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    CUDA(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    for (cudaStream_t &s : stream)
        CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (unsigned i = 0; i < PIECES * PIECE; i++)
        host[i] = i;

    CUDA(cudaEventRecord(start, stream[0]));
    CUDA(cudaStreamWaitEvent(stream[1], start, 0));
    for (int i = 0; i < PIECES; i++)
        piece(host, device, i, rounds, stream[i % streams]);
    CUDA(cudaEventRecord(joined, stream[1]));
    CUDA(cudaStreamWaitEvent(stream[0], joined, 0));
    CUDA(cudaEventRecord(stop, stream[0]));
    CUDA(cudaEventSynchronize(stop));
    CUDA(cudaEventElapsedTime(&ms, start, stop));

    unsigned factor = 1, term = 0; /* of all the rounds */
    for (int r = 0; r < rounds; r++) {
        term = term * 1664525 + 1013904223;
        factor *= 1664525;
    }
    for (unsigned i = 0; i < PIECES * PIECE; i++)
        expect(host[i] == i * factor + term, streams == 1 ? "one stream" : "two streams");
    for (cudaStream_t s : stream)
        CUDA(cudaStreamDestroy(s));
    for (cudaEvent_t e : {start, stop, joined})
        CUDA(cudaEventDestroy(e));
    return ms;
}

int main(void)
{
    unsigned *host, *device;

    example_begin("two streams that overlap copies and kernels", 50);
    CUDA(cudaMallocHost(&host, sizeof *host * PIECES * PIECE)); /* pageable copies do not overlap */
    CUDA(cudaMalloc(&device, sizeof *device * PIECES * PIECE));
    run(host, device, 1, 1); /* warms up */

    /* Choose the rounds so that the kernels take about as long as the copies. */
    const float copies = run(host, device, 1, 1);
    const float with_1024 = run(host, device, 1024, 1);
    const int rounds = (int)std::min(1e6f, 1024 * copies / std::max(with_1024 - copies, 1e-3f)) + 1;
    const float one = run(host, device, rounds, 1), two = run(host, device, rounds, 2);

    printf(
        "copies alone %.2f ms; with kernels, in one stream %.2f ms, in two %.2f ms: %.2f times\n",
        copies, one, two, one / two);
    CUDA(cudaFreeHost(host));
    CUDA(cudaFree(device));
    return 0;
}
