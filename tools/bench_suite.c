/* bench_suite.c - the suites of `tilemm bench gemm --suite`: lists of products, each with the ratio
 * to its peer that is aimed at.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "bench.h"

enum { NN = 0, NT, TN, TT };
enum { ROW = TILEMM_ROW_MAJOR, COL = TILEMM_COL_MAJOR };
enum { FP32 = TILEMM_MATH_FP32, STRICT = TILEMM_MATH_FP32_STRICT, TF32 = TILEMM_MATH_TF32 };

#define EVERY_WAY(math, n, goal)                                                                   \
    {math, ROW, NN, n, n, n, 1, 0, goal}, {math, ROW, NT, n, n, n, 1, 0, goal},                    \
        {math, ROW, TN, n, n, n, 1, 0, goal}, {math, ROW, TT, n, n, n, 1, 0, goal},                \
        {math, COL, NN, n, n, n, 1, 0, goal}, {math, COL, NT, n, n, n, 1, 0, goal},                \
        {math, COL, TN, n, n, n, 1, 0, goal},                                                      \
    {                                                                                              \
        math, COL, TT, n, n, n, 1, 0, goal                                                         \
    }
#define ONE(math, m, n, k, goal)                                                                   \
    {                                                                                              \
        math, COL, NN, m, n, k, 1, 0, goal                                                         \
    }
#define CUBE(math, n, goal) ONE(math, n, n, n, goal)
#define BATCH(math, n, count, goal)                                                                \
    {                                                                                              \
        math, COL, NN, n, n, n, count, 0, goal                                                     \
    }
#define ARRAYS(math, n, count, goal)                                                               \
    {                                                                                              \
        math, COL, NN, n, n, n, count, 1, goal                                                     \
    }

static const bench_row_t h200[] = {
    EVERY_WAY(FP32, 4096, 4.6),
    EVERY_WAY(FP32, 8192, 4.8),
    EVERY_WAY(FP32, 16384, 4.4),
    CUBE(FP32, 2048, 3.8),
    CUBE(FP32, 1024, 2.5),
    CUBE(FP32, 512, 1.3),
    ONE(FP32, 4095, 4097, 4093, 4.0),
    CUBE(FP32, 5000, 4.3),
    ONE(FP32, 1023, 1025, 8191, 3.5),
    ONE(FP32, 128, 128, 1048576, 2.5),
    ONE(FP32, 8192, 128, 8192, 2.5),
    ONE(FP32, 8192, 16, 8192, 2.0),
    ONE(FP32, 16, 8192, 8192, 2.0),
    ONE(FP32, 16384, 16384, 32, 2.0),
    ONE(FP32, 8192, 1, 8192, 1.0),
    {FP32, COL, TN, 8192, 1, 8192, 1, 0, 1.0},
    ONE(FP32, 1, 8192, 8192, 1.0),
    CUBE(STRICT, 1024, 1.0),
    CUBE(STRICT, 2048, 1.0),
    CUBE(STRICT, 4096, 1.0),
    CUBE(STRICT, 8192, 1.0),
    CUBE(STRICT, 16384, 1.0),
    ONE(STRICT, 4095, 4097, 4093, 1.0),
    CUBE(STRICT, 5000, 1.0),
    ONE(STRICT, 1023, 1025, 8191, 1.0),
    CUBE(STRICT, 64, 1.2),
    CUBE(STRICT, 128, 1.2),
    CUBE(STRICT, 256, 1.2),
    CUBE(STRICT, 512, 1.2),
    CUBE(FP32, 64, 1.2),
    CUBE(FP32, 128, 1.2),
    CUBE(FP32, 256, 1.2),
    BATCH(FP32, 8, 65536, 4.0),
    BATCH(FP32, 16, 16384, 3.0),
    BATCH(FP32, 32, 16384, 1.5),
    BATCH(FP32, 64, 8192, 1.5),
    BATCH(FP32, 128, 2048, 2.0),
    ARRAYS(FP32, 16, 16384, 0),
    ARRAYS(FP32, 128, 2048, 0),
    CUBE(TF32, 4096, 1.6),
    CUBE(TF32, 8192, 1.6),
    CUBE(TF32, 16384, 1.6),
};

/* On the CPU, against OpenBLAS. The goal of the squares depends on the instruction set: `cpu` is
 * AVX-512 against OPENBLAS_CORETYPE=SkylakeX, `cpu-avx2` TILEMM_ARCH=avx2 against Haswell. */
#define FOUR_WAYS(math, m, n, k, count, goal)                                                      \
    {math, ROW, NN, m, n, k, count, 0, goal}, {math, ROW, NT, m, n, k, count, 0, goal},            \
        {math, ROW, TN, m, n, k, count, 0, goal},                                                  \
    {                                                                                              \
        math, ROW, TT, m, n, k, count, 0, goal                                                     \
    }
#define CPU_SUITE(squares)                                                                         \
    FOUR_WAYS(STRICT, 8, 8, 8, 1, 1.0), FOUR_WAYS(STRICT, 16, 16, 16, 1, 1.0),                     \
        FOUR_WAYS(STRICT, 32, 32, 32, 1, 1.0), FOUR_WAYS(STRICT, 64, 64, 64, 1, 1.0),              \
        FOUR_WAYS(STRICT, 128, 128, 128, 1, 1.0), EVERY_WAY(STRICT, 256, squares),                 \
        CUBE(STRICT, 512, squares), EVERY_WAY(STRICT, 1024, squares), CUBE(STRICT, 2048, squares), \
        EVERY_WAY(STRICT, 4096, squares), CUBE(STRICT, 1000, 1.1),                                 \
        ONE(STRICT, 999, 1001, 1003, 1.1), FOUR_WAYS(STRICT, 4096, 8, 4096, 1, 1.1),               \
        FOUR_WAYS(STRICT, 8, 4096, 4096, 1, 1.1), FOUR_WAYS(STRICT, 256, 1, 256, 1, 1.1),          \
        FOUR_WAYS(STRICT, 2048, 1, 2048, 1, 1.1), FOUR_WAYS(STRICT, 4096, 1, 4096, 1, 1.1),        \
        FOUR_WAYS(STRICT, 1, 4096, 4096, 1, 1.1), FOUR_WAYS(STRICT, 2048, 2048, 8, 1, 1.1),        \
        FOUR_WAYS(STRICT, 16, 16, 16, 10000, 1.5)

static const bench_row_t cpu[] = {CPU_SUITE(1.15)};
static const bench_row_t cpu_avx2[] = {CPU_SUITE(1.05)};

/* On a CPU with AMX, against OpenBLAS's best FP32 kernels. */
static const bench_row_t cpu_amx[] = {
    CUBE(FP32, 512, 1.8),  FOUR_WAYS(FP32, 1024, 1024, 1024, 1, 2.0), CUBE(FP32, 2048, 2.0),
    CUBE(FP32, 4096, 2.0), FOUR_WAYS(TF32, 1024, 1024, 1024, 1, 3.8), CUBE(TF32, 2048, 3.8),
    CUBE(TF32, 4096, 3.8),
};

const bench_row_t *bench_suite(const char *name, int *count)
{
    static const struct {
        const char *name;
        const bench_row_t *rows;
        size_t bytes;
    } suites[] = {{"h200", h200, sizeof h200},
                  {"cpu", cpu, sizeof cpu},
                  {"cpu-avx2", cpu_avx2, sizeof cpu_avx2},
                  {"cpu-amx", cpu_amx, sizeof cpu_amx}};

    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++)
        if (strcmp(name, suites[i].name) == 0) {
            *count = (int)(suites[i].bytes / sizeof(bench_row_t));
            return suites[i].rows;
        }
    return NULL;
}
