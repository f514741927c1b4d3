/* constant.cu - constant memory, read uniformly and divergently. Shows that it serves one word at a
 * time: a warp whose lanes all read the same word is served at once, one whose lanes read 32 words
 * takes 32 turns. Global memory through L1 has no such cost: 32 words are one line.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "../example.h"

enum { SIZE = 512, READS = 256, THREADS = 256, COUNT = 1 << 20 };

static __constant__ int table[SIZE];

/* The words are zeros and ones: each address depends on the word before, so that one read follows
 * the other. */
static __host__ __device__ unsigned walk(const int *words, unsigned at)
{
    unsigned sum = 0;

    for (int r = 0; r < READS; r++) {
        const int v = words[at];
        at = (at + 32 + v * 64) % SIZE;
        sum = sum * 3 + v;
    }
    return sum;
}

/* Lanes read words `stride` apart. */
template <bool CONSTANT>
static __global__ void read(unsigned *out, const int *global, int stride)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = walk(CONSTANT ? table : global, i % 32 * stride);
}

static void show(const char *what, void (*kernel)(unsigned *, const int *, int), int stride,
                 const int *global, const int *values)
{
    std::vector<unsigned> host(COUNT);
    const double time = seconds(host, [&](cudaStream_t stream, unsigned *out) {
        kernel<<<COUNT / THREADS, THREADS, 0, stream>>>(out, global, stride);
    });

    for (unsigned lane = 0; lane < 32; lane++) {
        const unsigned sum = walk(values, lane * stride);
        for (unsigned i = lane; i < COUNT; i += 32)
            expect(host[i] == sum, what);
    }
    printf("%-42s %8.1f us\n", what, time * 1e6);
}

int main(void)
{
    std::vector<int> values(SIZE);

    example_begin("constant memory, read uniformly and divergently", 50);
    for (int i = 0; i < SIZE; i++)
        values[i] = i / 32 % 3 == 1; /* the same for 32 words: lanes keep their distance */
    CUDA(cudaMemcpyToSymbol(table, values.data(), SIZE * sizeof(int)));
    int *global = to_device(values);
    show("constant, one word for the warp", read<true>, 0, global, values.data());
    show("constant, a word for each lane", read<true>, 1, global, values.data());
    show("global, one word for the warp", read<false>, 0, global, values.data());
    show("global, a word for each lane", read<false>, 1, global, values.data());
    CUDA(cudaFree(global));
    return 0;
}
