/* transpose.h - what the steps of the transpose ladder share: sizes, check and bandwidth.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "../example.h"

/* A step: out (cols x rows) is the transpose of in (rows x cols), both row-major; and a kernel that
 * is all of a step. */
typedef void step_t(float *out, const float *in, int rows, int cols, cudaStream_t stream);
typedef void kernel_t(float *out, const float *in, int rows, int cols);

/* Sizes are multiples of this, so that steps need no code for edges. */
enum { TRANSPOSE_UNIT = 64 };

/* A number that floats hold exactly, another one for each element of a tile. */
static inline float element(uint32_t index)
{
    return (float)(index * 2654435761u >> 8);
}

template <class Step>
static void transpose_run(int rows, int cols, Step step)
{
    const size_t count = (size_t)rows * cols, bytes = count * sizeof(float);
    std::vector<float> host(count);

    for (size_t i = 0; i < count; i++)
        host[i] = element((uint32_t)i);
    float *in = to_device(host);
    /* A transpose cannot be faster than a plain copy. */
    const double copy = seconds(host, [&](cudaStream_t stream, float *out) {
        CUDA(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream));
    });
    const double time =
        seconds(host, [&](cudaStream_t stream, float *out) { step(out, in, rows, cols, stream); });
    for (int col = 0; col < cols; col++)
        for (int row = 0; row < rows; row++)
            expect(host[(size_t)col * rows + row] == element((uint32_t)row * cols + col),
                   "an element of the transpose");
    printf("%5d x %-5d %9.2f us %7.0f GB/s, a copy %7.0f GB/s, ratio %.2f\n", rows, cols,
           time * 1e6, 2 * bytes / time / 1e9, 2 * bytes / copy / 1e9, copy / time);
    CUDA(cudaFree(in));
}

/* The ladder's sizes, or the one on the command line. The smaller ones stay within L2. */
template <class Step>
static int transpose_ladder(int argc, char **argv, Step step)
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

/* The same for a kernel whose blocks of `threads` move tile.x columns of tile.y rows each. */
static inline int transpose_ladder(int argc, char **argv, kernel_t *kernel, dim3 tile, dim3 threads)
{
    const auto step = [=](float *out, const float *in, int rows, int cols, cudaStream_t stream) {
        kernel<<<dim3(cols / tile.x, rows / tile.y), threads, 0, stream>>>(out, in, rows, cols);
    };
    return transpose_ladder(argc, argv, step);
}
