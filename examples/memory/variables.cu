/* variables.cu - __device__ and __managed__ variables. Shows a variable in device memory that the
 * host reaches by its symbol alone, through copies; one that both sides name and use; and what the
 * first use on the other side costs, when its pages move.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "../example.h"

enum { COUNT = 1 << 20, THREADS = 256 };

static __device__ int on_device[COUNT];
static __managed__ int managed[COUNT];

template <bool MANAGED>
static __global__ void add(int v)
{
    (MANAGED ? managed : on_device)[blockIdx.x * THREADS + threadIdx.x] += v;
}

/* By the host's clock: its own work is included. */
template <class Work>
static void show(const char *what, Work work)
{
    printf("%-50s %9.1f us\n", what, seconds_once(work) * 1e6);
}

int main(void)
{
    std::vector<int> host(COUNT);
    cudaFuncAttributes attributes;
    void *address;

    example_begin("__device__ and __managed__ variables", 50);
    for (int i = 0; i < COUNT; i++)
        host[i] = i;
    /* Kernels are loaded at their first use: not within what is timed. */
    CUDA(cudaFuncGetAttributes(&attributes, add<false>));
    CUDA(cudaFuncGetAttributes(&attributes, add<true>));

    show("__device__: copy 4 MiB to the symbol",
         [&] { CUDA(cudaMemcpyToSymbol(on_device, host.data(), sizeof on_device)); });
    const auto add_to_device = [] { add<false><<<COUNT / THREADS, THREADS>>>(1); };
    show("__device__: a kernel adds to it", add_to_device);
    show("__device__: a kernel adds to it again", add_to_device);
    show("__device__: copy from the symbol",
         [&] { CUDA(cudaMemcpyFromSymbol(host.data(), on_device, sizeof on_device)); });
    for (int i = 0; i < COUNT; i++)
        expect(host[i] == i + 2, "__device__");

    /* The symbol's address serves every call that takes a pointer. */
    CUDA(cudaGetSymbolAddress(&address, on_device));
    CUDA(cudaMemset(address, 0, sizeof on_device));
    CUDA(cudaMemcpyFromSymbol(host.data(), on_device, sizeof(int), (COUNT - 1) * sizeof(int)));
    expect(host[0] == 0, "cudaGetSymbolAddress");

    show("__managed__: the host writes it", [] {
        for (int i = 0; i < COUNT; i++)
            managed[i] = i;
    });
    const auto add_to_managed = [] { add<true><<<COUNT / THREADS, THREADS>>>(1); };
    const auto read_managed = [] {
        for (int i = 0; i < COUNT; i++)
            expect(managed[i] == i + 2, "__managed__");
    };
    show("__managed__: a kernel adds to it, pages move", add_to_managed);
    show("__managed__: a kernel adds to it again", add_to_managed);
    show("__managed__: the host reads it, pages move back", read_managed);
    show("__managed__: the host reads it again", read_managed);
    return 0;
}
