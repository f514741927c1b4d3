/* pinned.cu - pageable against pinned host memory. Shows that a copy from or to pageable memory
 * goes through a pinned buffer of the driver and waits for the host to copy, whereas the GPU reads
 * and writes pinned memory by itself; and what it costs to pin memory that is already allocated.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "../example.h"

static const size_t BYTES = 64 << 20;

/* The median of five. */
template <class Work>
static double median(Work work)
{
    double time[5];

    for (double &t : time)
        t = seconds_once(work);
    std::sort(time, time + 5);
    return time[2];
}

static void show(const char *what, unsigned char *host, unsigned char *device)
{
    for (size_t i = 0; i < BYTES; i++)
        host[i] = (unsigned char)(i * 7 + i / 251);
    const double there =
        median([&] { CUDA(cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice)); });
    memset(host, 0, BYTES);
    const double back =
        median([&] { CUDA(cudaMemcpy(host, device, BYTES, cudaMemcpyDeviceToHost)); });
    for (size_t i = 0; i < BYTES; i++)
        expect(host[i] == (unsigned char)(i * 7 + i / 251), what);
    printf("%-28s to the GPU %6.1f GB/s, from it %6.1f GB/s\n", what, BYTES / there / 1e9,
           BYTES / back / 1e9);
    CUDA(cudaMemset(device, 0, BYTES));
}

int main(void)
{
    unsigned char *pageable = (unsigned char *)aligned_alloc(4096, BYTES), *pinned, *device;

    example_begin("pageable against pinned host memory", 50);
    expect(pageable != NULL, "no memory");
    CUDA(cudaMalloc(&device, BYTES));
    show("pageable", pageable, device);
    CUDA(cudaMallocHost(&pinned, BYTES));
    show("pinned by cudaMallocHost", pinned, device);
    CUDA(cudaFreeHost(pinned));

    const double pinning =
        seconds_once([&] { CUDA(cudaHostRegister(pageable, BYTES, cudaHostRegisterDefault)); });
    show("pinned by cudaHostRegister", pageable, device);
    printf("which took %.1f ms for %zu MiB\n", pinning * 1e3, BYTES >> 20);
    CUDA(cudaHostUnregister(pageable));
    CUDA(cudaFree(device));
    free(pageable);
    return 0;
}
