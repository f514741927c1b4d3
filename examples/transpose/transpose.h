/* transpose.h - what the steps of the transpose ladder share: sizes, check and bandwidth.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "../example.h"

/* A step: out (cols x rows) is the transpose of in (rows x cols), both row-major. */
typedef void step_t(float *out, const float *in, int rows, int cols, cudaStream_t stream);

/* Sizes are multiples of this, so that steps need no code for edges. */
enum { TRANSPOSE_UNIT = 64 };

/* A number that floats hold exactly, another one for each element of a tile. */
static inline float element(uint32_t index)
{
    return (float)(index * 2654435761u >> 8);
}

static inline void transpose_run(int rows, int cols, step_t *step)
{
    const size_t count = (size_t)rows * cols, bytes = count * sizeof(float);
    std::vector<float> host(count);
    float *in, *out;

    CUDA(cudaMalloc(&in, bytes));
    CUDA(cudaMalloc(&out, bytes));
    for (size_t i = 0; i < count; i++)
        host[i] = element((uint32_t)i);
    CUDA(cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice));

    /* A transpose cannot be faster than a plain copy. */
    const double copy = seconds([&](cudaStream_t stream) {
        CUDA(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream));
    });
    CUDA(cudaMemset(out, 0xff, bytes));
    CUDA(cudaDeviceSynchronize());
    const double time = seconds([&](cudaStream_t stream) { step(out, in, rows, cols, stream); });

    CUDA(cudaMemcpy(host.data(), out, bytes, cudaMemcpyDeviceToHost));
    for (int col = 0; col < cols; col++)
        for (int row = 0; row < rows; row++)
            expect(host[(size_t)col * rows + row] == element((uint32_t)row * cols + col),
                   "an element of the transpose");
    printf("%5d x %-5d %9.2f us %7.0f GB/s, a copy %7.0f GB/s, ratio %.2f\n", rows, cols,
           time * 1e6, 2 * bytes / time / 1e9, 2 * bytes / copy / 1e9, copy / time);
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
}

/* The ladder's sizes, or the one on the command line. The smaller ones stay within L2. */
static inline int transpose_ladder(int argc, char **argv, step_t *step)
{
    static const int size[][2] = {{128, 128}, {512, 512}, {1024, 1024}, {1024, 2048}, {8192, 8192}};

    if (argc == 3) {
        transpose_run(size_argument(argv[1], TRANSPOSE_UNIT),
                      size_argument(argv[2], TRANSPOSE_UNIT), step);
    } else if (argc == 1) {
        for (const int(&s)[2] : size)
            transpose_run(s[0], s[1], step);
    } else {
        fprintf(stderr, "usage: %s [ROWS COLS]\n", argv[0]);
        return 1;
    }
    return 0;
}
