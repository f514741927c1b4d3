/* constant.cu - constant memory, read uniformly and divergently. Shows that it serves one word at a
 * time: a warp whose lanes all read the same word is served at once, one whose lanes read 32 words
 * takes 32 turns. Global memory through L1 has no such cost: 32 words are one line.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "../example.h"

enum { SIZE = 512, READS = 256, THREADS = 256, COUNT = 1 << 20 };

static __constant__ int table[SIZE];

/* Lanes read words `stride` apart. The table holds zeros and ones: each address depends on the word
 * before, so that one read follows the other. */
template <bool CONSTANT>
static __global__ void read(unsigned *out, const int *global, int stride)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = i % 32 * stride, sum = 0;

    for (int r = 0; r < READS; r++) {
        const int v = CONSTANT ? table[at] : global[at];
        at = (at + 32 + v * 64) % SIZE;
        sum = sum * 3 + v;
    }
    out[i] = sum;
}

static void show(const char *what, void (*kernel)(unsigned *, const int *, int), int stride,
                 const int *global, const int *values)
{
    std::vector<unsigned> host(COUNT);
    unsigned *out;

    CUDA(cudaMalloc(&out, COUNT * sizeof *out));
    CUDA(cudaMemset(out, 0xff, COUNT * sizeof *out));
    CUDA(cudaDeviceSynchronize());
    const double time = seconds([&](cudaStream_t stream) {
        kernel<<<COUNT / THREADS, THREADS, 0, stream>>>(out, global, stride);
    });
    CUDA(cudaMemcpy(host.data(), out, COUNT * sizeof *out, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(out));
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned at = lane * stride, sum = 0;
        for (int r = 0; r < READS; r++) {
            const int v = values[at];
            at = (at + 32 + v * 64) % SIZE;
            sum = sum * 3 + v;
        }
        for (unsigned i = lane; i < COUNT; i += 32)
            expect(host[i] == sum, what);
    }
    printf("%-42s %8.1f us\n", what, time * 1e6);
}

int main(void)
{
    int values[SIZE], *global;

    example_begin("constant memory, read uniformly and divergently", 50);
    for (int i = 0; i < SIZE; i++)
        values[i] = i / 32 % 3 == 1; /* the same for 32 words: lanes keep their distance */
    CUDA(cudaMemcpyToSymbol(table, values, sizeof values));
    CUDA(cudaMalloc(&global, sizeof values));
    CUDA(cudaMemcpy(global, values, sizeof values, cudaMemcpyHostToDevice));
    show("constant, one word for the warp", read<true>, 0, global, values);
    show("constant, a word for each lane", read<true>, 1, global, values);
    show("global, one word for the warp", read<false>, 0, global, values);
    show("global, a word for each lane", read<false>, 1, global, values);
    CUDA(cudaFree(global));
    return 0;
}
