/* registers.cu - registers against local memory. Shows the same kernel with room for its 96 numbers
 * in registers, and with a bound of 64 registers, which spills some of them to local memory; and
 * one that indexes its array by a number known only when it runs, which puts all of it there.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "../example.h"

enum { HELD = 96, THREADS = 256, COUNT = 1 << 20, ROUNDS = 16 };

/* Every number is read and written in every round, so that all are alive throughout. The number of
 * rounds is an argument, so that the compiler cannot compute the result. Registers have no index: a
 * loop that is not unrolled needs an array in memory. */
template <int BOUND, int UNROLL> /* of a block's threads: 1024 leave each of them 64 registers */
static __global__ void __launch_bounds__(BOUND) held(unsigned *out, int rounds)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x[HELD], sum = 0;

#pragma unroll UNROLL
    for (int j = 0; j < HELD; j++)
        x[j] = i + j;
    for (int r = 0; r < rounds; r++) {
#pragma unroll UNROLL
        for (int j = 0; j < HELD; j++)
            x[j] = x[j] * 5 + x[(j + 1) % HELD];
    }
#pragma unroll UNROLL
    for (int j = 0; j < HELD; j++)
        sum ^= x[j];
    out[i] = sum;
}

static unsigned expected(unsigned i)
{
    unsigned x[HELD], sum = 0;

    for (int j = 0; j < HELD; j++)
        x[j] = i + j;
    for (int r = 0; r < ROUNDS; r++)
        for (int j = 0; j < HELD; j++)
            x[j] = x[j] * 5 + x[(j + 1) % HELD];
    for (int j = 0; j < HELD; j++)
        sum ^= x[j];
    return sum;
}

static void show(const char *what, void (*kernel)(unsigned *, int))
{
    std::vector<unsigned> host(COUNT);
    cudaFuncAttributes attributes;

    CUDA(cudaFuncGetAttributes(&attributes, (const void *)kernel));
    const double time = seconds(host, [&](cudaStream_t stream, unsigned *out) {
        kernel<<<COUNT / THREADS, THREADS, 0, stream>>>(out, ROUNDS);
    });
    for (unsigned i = 0; i < COUNT; i += 997)
        expect(host[i] == expected(i), what);
    printf("%-22s %3d registers, %4zu bytes of local memory a thread: %8.1f us\n", what,
           attributes.numRegs, attributes.localSizeBytes, time * 1e6);
}

int main(void)
{
    example_begin("registers, and what spills from them", 50);
    show("in registers", held<THREADS, HELD>);
    show("some of it spilled", held<1024, HELD>);
    show("an array with an index", held<THREADS, 1>);
    return 0;
}
