/* shared.cu - static and dynamic shared memory. Shows three arrays carved out of one dynamic block,
 * each aligned for its type; that the same work takes the same time in arrays of fixed size; and
 * that the bytes of a block decide how many blocks fit a multiprocessor. Above 48 KiB a kernel must
 * ask.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "../example.h"

enum { THREADS = 250, BLOCKS = 8192 }; /* 250 chars end at no multiple of 4 */

/* The next multiple of `alignment`, a power of two. */
static __host__ __device__ size_t aligned(size_t offset, size_t alignment)
{
    return (offset + alignment - 1) & ~(alignment - 1);
}

/* Where the arrays lie in the block, for n elements each: the same for the kernel and its launch.
 */
typedef struct {
    size_t chars, floats, doubles, bytes;
} carved_t;

static __host__ __device__ carved_t carve(int n)
{
    carved_t at;

    at.chars = 0;
    at.floats = aligned(at.chars + n * sizeof(char), alignof(float));
    at.doubles = aligned(at.floats + n * sizeof(float), alignof(double));
    at.bytes = at.doubles + n * sizeof(double);
    return at;
}

/* Each thread leaves its numbers for the one at the other end of the block. */
static __device__ void exchange(double *out, char *c, float *f, double *d, int n)
{
    const int i = threadIdx.x, other = n - 1 - i;

    c[i] = (char)(i % 100);
    f[i] = i * 0.5f;
    d[i] = i + (double)blockIdx.x;
    __syncthreads();
    out[blockIdx.x * (size_t)n + i] = c[other] + f[other] + d[other];
}

static __global__ void dynamic_arrays(double *out)
{
    extern __shared__ __align__(16) unsigned char block[];
    const carved_t at = carve(blockDim.x);

    exchange(out, (char *)(block + at.chars), (float *)(block + at.floats),
             (double *)(block + at.doubles), blockDim.x);
}

static __global__ void static_arrays(double *out)
{
    __shared__ char c[THREADS];
    __shared__ float f[THREADS];
    __shared__ double d[THREADS];

    exchange(out, c, f, d, THREADS);
}

static void show(const char *what, void (*kernel)(double *), size_t dynamic)
{
    const size_t count = (size_t)BLOCKS * THREADS;
    std::vector<double> host(count);
    cudaFuncAttributes attributes;

    CUDA(cudaFuncGetAttributes(&attributes, (const void *)kernel));
    const double time = seconds(host, [&](cudaStream_t stream, double *out) {
        kernel<<<BLOCKS, THREADS, dynamic, stream>>>(out);
    });
    for (size_t i = 0; i < count; i++) {
        const int other = THREADS - 1 - (int)(i % THREADS);
        expect(host[i] == other % 100 + other * 0.5 + other + (double)(i / THREADS), what);
    }
    printf("%-8s %5zu bytes static, %5zu dynamic: %7.1f us\n", what, attributes.sharedSizeBytes,
           dynamic, time * 1e6);
}

int main(void)
{
    const carved_t at = carve(THREADS);
    int most, blocks;

    example_begin("shared memory, static and dynamic", 50);
    printf("%d chars at %zu, floats at %zu, doubles at %zu, %zu bytes in all\n", THREADS, at.chars,
           at.floats, at.doubles, at.bytes);
    show("static", static_arrays, 0);
    show("dynamic", dynamic_arrays, at.bytes);

    CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CUDA(cudaFuncSetAttribute(dynamic_arrays, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    for (size_t bytes = 4096; bytes <= (size_t)most; bytes *= 2) {
        CUDA(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic_arrays, THREADS, bytes));
        printf("%6zu bytes a block: %2d blocks of %d threads on a multiprocessor\n", bytes, blocks,
               THREADS);
    }
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic_arrays, THREADS,
                                                       (size_t)most));
    expect(blocks == 1, "a block that takes all shared memory is alone");
    printf("%6d bytes a block: %2d, the most that one may ask for\n", most, blocks);
    return 0;
}
