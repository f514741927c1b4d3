/* sgemm.h - what the steps of the SGEMM ladder share: sizes, check and speed.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include "../example.h"

/* A step: C = A B, all n x n and row-major; and a kernel that is all of a step. */
typedef void step_t(float *c, const float *a, const float *b, int n, cudaStream_t stream);
typedef void kernel_t(float *c, const float *a, const float *b, int n);

/* Sizes are multiples of this, so that steps need no code for edges. */
enum { SGEMM_UNIT = 128 };

/* Between -1 and 1, with 24 significant bits. */
static inline float entry(uint32_t index, uint32_t seed)
{
    uint32_t x = (index + seed) * 2654435761u;

    x = (x ^ x >> 15) * 2246822519u;
    return (float)((int32_t)(x ^ x >> 13) >> 8) / 8388608.0f;
}

/* 64 rows by 64 columns of C, evenly spread, against FP64: the worst error, in the unit roundoff of
 * FP32 times |A||B|. A chain of FP32 multiply-adds makes about 1 on such data; 10 bits instead of
 * 24 make 100 and more. */
static inline double sgemm_error(const std::vector<float> &a, const std::vector<float> &b,
                                 const std::vector<float> &c, int n)
{
    double worst = 0;

    for (int s = 0; s < 64; s++) {
        const size_t row = (size_t)s * (n - 1) / 63;
        double sum[64] = {}, absolute[64] = {};

        for (int k = 0; k < n; k++) {
            for (int t = 0; t < 64; t++) {
                const double term =
                    (double)a[row * n + k] * b[(size_t)k * n + (size_t)t * (n - 1) / 63];
                sum[t] += term;
                absolute[t] += fabs(term);
            }
        }
        for (int t = 0; t < 64; t++) {
            const double error = fabs(c[row * n + (size_t)t * (n - 1) / 63] - sum[t]);
            const double units = error / absolute[t] * 16777216;
            worst = units <= worst ? worst : units; /* NaN, too, is the worst */
        }
    }
    return worst;
}

template <class Step>
static void sgemm_run(const char *name, int n, Step step)
{
    const size_t count = (size_t)n * n;
    std::vector<float> a(count), b(count), c(count);

    for (size_t i = 0; i < count; i++) {
        a[i] = entry((uint32_t)i, 1);
        b[i] = entry((uint32_t)i, 0x9e3779b9);
    }
    float *da = to_device(a), *db = to_device(b);
    const double time =
        seconds(c, [&](cudaStream_t stream, float *dc) { step(dc, da, db, n, stream); });
    const double error = sgemm_error(a, b, c, n);
    printf("%-8s %5d^3 %10.1f us %8.0f GF/s, error %.1f units\n", name, n, time * 1e6,
           2.0 * n * n * n / time / 1e9, error);
    expect(error < 16, "C is less accurate than FP32 makes it");
    CUDA(cudaFree(da));
    CUDA(cudaFree(db));
}

/* The ladder's sizes, or the one on the command line. */
template <class Step>
static int sgemm_ladder(int argc, char **argv, const char *name, Step step)
{
    static const int size[] = {512, 1024, 2048, 4096};

    if (argc == 2) {
        sgemm_run(name, size_argument(argv[1], SGEMM_UNIT), step);
    } else if (argc == 1) {
        for (int n : size)
            sgemm_run(name, n, step);
    } else {
        fprintf(stderr, "usage: %s [N]\n", argv[0]);
        return 1;
    }
    return 0;
}

/* The same for a kernel whose blocks of `threads` compute cols x rows of C each. */
static inline int sgemm_ladder(int argc, char **argv, const char *name, kernel_t *kernel, int cols,
                               int rows, dim3 threads)
{
    const auto step = [=](float *c, const float *a, const float *b, int n, cudaStream_t stream) {
        kernel<<<dim3(n / cols, n / rows), threads, 0, stream>>>(c, a, b, n);
    };
    return sgemm_ladder(argc, argv, name, step);
}
