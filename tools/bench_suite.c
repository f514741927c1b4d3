/* bench_suite.c - the suites of `tilemm bench --suite`: fixed lists of work, each row with the
 * ratio to its peer that is aimed at.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "bench.h"

enum { K = 1 << 10, M = 1 << 20 };

enum { NN = 0, NT, TN, TT };
enum { ROW = TILEMM_ROW_MAJOR, COL = TILEMM_COL_MAJOR };
enum { FP32 = TILEMM_MATH_FP32, STRICT = TILEMM_MATH_FP32_STRICT, TF32 = TILEMM_MATH_TF32 };

#define PRODUCT(math, layout, trans, m, n, k, batch, arrays, goal)                                 \
    {                                                                                              \
        {3, {m, n, k}}, math, layout, trans, batch, arrays, 4, 0, TILEMM_SUM, 0, 0, 0, goal, 0     \
    }
#define ONE(math, m, n, k, goal) PRODUCT(math, COL, NN, m, n, k, 1, 0, goal)
#define CUBE(math, n, goal) ONE(math, n, n, n, goal)
#define BATCH(math, n, count, goal) PRODUCT(math, COL, NN, n, n, n, count, 0, goal)
#define ARRAYS(math, n, count, goal) PRODUCT(math, COL, NN, n, n, n, count, 1, goal)
#define FOUR_WAYS(math, layout, m, n, k, count, goal)                                              \
    PRODUCT(math, layout, NN, m, n, k, count, 0, goal),                                            \
        PRODUCT(math, layout, NT, m, n, k, count, 0, goal),                                        \
        PRODUCT(math, layout, TN, m, n, k, count, 0, goal),                                        \
        PRODUCT(math, layout, TT, m, n, k, count, 0, goal)
#define EVERY_WAY(math, n, goal)                                                                   \
    FOUR_WAYS(math, ROW, n, n, n, 1, goal), FOUR_WAYS(math, COL, n, n, n, 1, goal)

static const bench_row_t gemm_h200[] = {
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
    PRODUCT(FP32, COL, TN, 8192, 1, 8192, 1, 0, 1.0),
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
#define GEMM_CPU(squares)                                                                          \
    FOUR_WAYS(STRICT, ROW, 8, 8, 8, 1, 1.0), FOUR_WAYS(STRICT, ROW, 16, 16, 16, 1, 1.0),           \
        FOUR_WAYS(STRICT, ROW, 32, 32, 32, 1, 1.0), FOUR_WAYS(STRICT, ROW, 64, 64, 64, 1, 1.0),    \
        FOUR_WAYS(STRICT, ROW, 128, 128, 128, 1, 1.0), EVERY_WAY(STRICT, 256, squares),            \
        CUBE(STRICT, 512, squares), EVERY_WAY(STRICT, 1024, squares), CUBE(STRICT, 2048, squares), \
        EVERY_WAY(STRICT, 4096, squares), CUBE(STRICT, 1000, 1.1),                                 \
        ONE(STRICT, 999, 1001, 1003, 1.1), FOUR_WAYS(STRICT, ROW, 4096, 8, 4096, 1, 1.1),          \
        FOUR_WAYS(STRICT, ROW, 8, 4096, 4096, 1, 1.1),                                             \
        FOUR_WAYS(STRICT, ROW, 256, 1, 256, 1, 1.1),                                               \
        FOUR_WAYS(STRICT, ROW, 2048, 1, 2048, 1, 1.1),                                             \
        FOUR_WAYS(STRICT, ROW, 4096, 1, 4096, 1, 1.1),                                             \
        FOUR_WAYS(STRICT, ROW, 1, 4096, 4096, 1, 1.1),                                             \
        FOUR_WAYS(STRICT, ROW, 2048, 2048, 8, 1, 1.1),                                             \
        FOUR_WAYS(STRICT, ROW, 16, 16, 16, 10000, 1.5)

static const bench_row_t gemm_cpu[] = {GEMM_CPU(1.15)};
static const bench_row_t gemm_cpu_avx2[] = {GEMM_CPU(1.05)};

/* On a CPU with AMX, against OpenBLAS's best FP32 kernels. */
static const bench_row_t gemm_cpu_amx[] = {
    CUBE(FP32, 512, 1.8),  FOUR_WAYS(FP32, ROW, 1024, 1024, 1024, 1, 2.0), CUBE(FP32, 2048, 2.0),
    CUBE(FP32, 4096, 2.0), FOUR_WAYS(TF32, ROW, 1024, 1024, 1024, 1, 3.8), CUBE(TF32, 2048, 3.8),
    CUBE(TF32, 4096, 3.8),
};

/* The goals: the ratio to a copy of the same bytes, and to the peer. */
#define TRANSPOSE(rows, cols, elem_size, batch, in_place, copy_goal, goal)                         \
    {                                                                                              \
        {2, {rows, cols}}, 0, 0, 0, batch, 0, elem_size, in_place, TILEMM_SUM, 0, 0, 0, goal,      \
            copy_goal                                                                              \
    }

static const bench_row_t transpose_h200[] = {
    TRANSPOSE(4096, 4096, 4, 1, 0, 0.95, 1.05),   TRANSPOSE(8192, 8192, 4, 1, 0, 1.0, 1.05),
    TRANSPOSE(16384, 16384, 4, 1, 0, 1.0, 1.05),  TRANSPOSE(32768, 32768, 4, 1, 0, 1.0, 1.05),
    TRANSPOSE(16385, 16383, 4, 1, 0, 0.95, 1.05), TRANSPOSE(1048576, 128, 4, 1, 0, 0.95, 1.05),
    TRANSPOSE(128, 1048576, 4, 1, 0, 0.95, 1.05), TRANSPOSE(65536, 31, 4, 1, 0, 0.8, 1.05),
    TRANSPOSE(16384, 16384, 1, 1, 0, 0.9, 0),     TRANSPOSE(16384, 16384, 2, 1, 0, 0.95, 0),
    TRANSPOSE(16384, 16384, 8, 1, 0, 1.0, 0),     TRANSPOSE(16384, 16384, 16, 1, 0, 1.0, 0),
    TRANSPOSE(64, 64, 4, 1, 0, 0, 1.0),           TRANSPOSE(128, 128, 4, 1, 0, 0, 1.0),
    TRANSPOSE(256, 256, 4, 1, 0, 0, 1.0),         TRANSPOSE(512, 512, 4, 1, 0, 0, 1.0),
    TRANSPOSE(1024, 1024, 4, 1, 0, 0, 1.0),       TRANSPOSE(32, 32, 4, 65536, 0, 0.9, 0),
    TRANSPOSE(3, 5, 4, 65536, 0, 0.7, 0),         TRANSPOSE(16384, 16384, 4, 1, 1, 0.95, 0),
    TRANSPOSE(16384, 12289, 4, 1, 1, 0.5, 0),     TRANSPOSE(12289, 16384, 4, 1, 1, 0.5, 0),
};

/* One thread. Out of place the goal beside OpenBLAS holds only where OpenBLAS falls below a third
 * of a copy (bench_transpose.c). */
static const bench_row_t transpose_cpu[] = {
    TRANSPOSE(1024, 1024, 4, 1, 0, 0.8, 4.0), TRANSPOSE(2048, 2048, 4, 1, 0, 0.8, 4.0),
    TRANSPOSE(4096, 4096, 4, 1, 0, 0.8, 4.0), TRANSPOSE(8192, 8192, 4, 1, 0, 0.8, 4.0),
    TRANSPOSE(3000, 5008, 4, 1, 0, 0.8, 4.0), TRANSPOSE(3001, 5003, 4, 1, 0, 0.8, 4.0),
    TRANSPOSE(4096, 4096, 1, 1, 0, 0, 0),     TRANSPOSE(4096, 4096, 2, 1, 0, 0, 0),
    TRANSPOSE(4096, 4096, 8, 1, 0, 0, 0),     TRANSPOSE(4096, 4096, 16, 1, 0, 0, 0),
    TRANSPOSE(64, 64, 4, 1, 0, 0, 1.0),       TRANSPOSE(256, 256, 4, 1, 0, 0, 1.0),
    TRANSPOSE(1024, 1024, 4, 1, 1, 0, 5.0),   TRANSPOSE(4096, 4096, 4, 1, 1, 0, 5.0),
    TRANSPOSE(8192, 8192, 4, 1, 1, 0, 5.0),   TRANSPOSE(4096, 3073, 4, 1, 1, 0, 0),
};

enum { VECTOR = -1, ROWS = TILEMM_AXIS_ROWS, COLS = TILEMM_AXIS_COLS };

/* The goal: the ratio to the peer, or of axes to the sum of all elements. */
#define REDUCE(op, axis, arg, dims, rows, cols, segments, goal)                                    \
    {                                                                                              \
        {dims, {rows, cols}}, 0, 0, 0, 1, 0, 4, 0, op, axis, arg, segments, goal, 0                \
    }
#define WHOLE(op, n, goal) REDUCE(op, VECTOR, 0, 1, n, 0, 0, goal)
#define SEGMENTED(n, segments) REDUCE(TILEMM_SUM, VECTOR, 0, 1, n, 0, segments, 0)
#define AXES(op, arg, rows, cols, goal)                                                            \
    REDUCE(op, ROWS, arg, 2, rows, cols, 0, goal), REDUCE(op, COLS, arg, 2, rows, cols, 0, goal)
#define BY_AXIS(rows, cols, goal)                                                                  \
    AXES(TILEMM_SUM, 0, rows, cols, goal), AXES(TILEMM_MAX, 0, rows, cols, goal),                  \
        AXES(TILEMM_MAX, 1, rows, cols, goal)
#define SHORT(op, goal)                                                                            \
    WHOLE(op, 16, goal), WHOLE(op, 64, goal), WHOLE(op, 256, goal), WHOLE(op, 1024, goal),         \
        WHOLE(op, 4096, goal)

static const bench_row_t reduce_h200[] = {
    WHOLE(TILEMM_SUM, K, 1.0),
    WHOLE(TILEMM_SUM, 64 * K, 1.0),
    WHOLE(TILEMM_SUM, 16 * M, 1.0),
    WHOLE(TILEMM_MAX, 16 * M, 1.0),
    WHOLE(TILEMM_SUM, 256 * M, 1.0),
    WHOLE(TILEMM_MAX, 256 * M, 1.0),
    BY_AXIS(16384, 16384, 0.95),
    SEGMENTED(256 * M, 16 * M),
    SEGMENTED(256 * M, 256 * K),
    SEGMENTED(256 * M, 1000),
    SEGMENTED(256 * M, 1),
    BY_AXIS(M, 128, 0.95),
    BY_AXIS(128, M, 0.95),
    BY_AXIS(65536, 31, 0.8),
    BY_AXIS(65536, 4, 0),
    BY_AXIS(M, 1, 0),
    BY_AXIS(1, M, 0),
    WHOLE(TILEMM_SUM, 1024 * M, 1.0),
    WHOLE(TILEMM_MAX, 1024 * M, 1.0),
    WHOLE(TILEMM_ASUM, 1024 * M, 1.6),
    WHOLE(TILEMM_NRM2, 1024 * M, 1.8),
    WHOLE(REDUCE_IAMAX, 1024 * M, 1.5),
    WHOLE(REDUCE_DOT, 1024 * M, 1.0),
};

static const bench_row_t reduce_cpu[] = {
    WHOLE(TILEMM_SUM, 16 * M, 1.0),  WHOLE(TILEMM_ASUM, 16 * M, 1.0),
    WHOLE(TILEMM_NRM2, 16 * M, 2.0), WHOLE(REDUCE_IAMAX, 16 * M, 1.0),
    WHOLE(REDUCE_DOT, 16 * M, 1.0),  SHORT(TILEMM_SUM, 1.0),
    SHORT(TILEMM_ASUM, 1.0),         SHORT(TILEMM_NRM2, 1.0),
    SHORT(REDUCE_IAMAX, 1.0),        SHORT(REDUCE_DOT, 1.0),
};

static const struct {
    bench_verb_t verb;
    const char *name;
    const bench_row_t *rows;
    int count;
} suites[] = {
    {BENCH_GEMM, "h200", gemm_h200, COUNT_OF(gemm_h200)},
    {BENCH_GEMM, "cpu", gemm_cpu, COUNT_OF(gemm_cpu)},
    {BENCH_GEMM, "cpu-avx2", gemm_cpu_avx2, COUNT_OF(gemm_cpu_avx2)},
    {BENCH_GEMM, "cpu-amx", gemm_cpu_amx, COUNT_OF(gemm_cpu_amx)},
    {BENCH_TRANSPOSE, "h200", transpose_h200, COUNT_OF(transpose_h200)},
    {BENCH_TRANSPOSE, "cpu", transpose_cpu, COUNT_OF(transpose_cpu)},
    {BENCH_REDUCE, "h200", reduce_h200, COUNT_OF(reduce_h200)},
    {BENCH_REDUCE, "cpu", reduce_cpu, COUNT_OF(reduce_cpu)},
};

const bench_row_t *bench_suite(bench_verb_t verb, const char *name, int *count)
{
    *count = 0;
    for (int i = 0; i < COUNT_OF(suites); i++)
        if (suites[i].verb == verb && strcmp(suites[i].name, name) == 0) {
            *count = suites[i].count;
            return suites[i].rows;
        }
    return NULL;
}

/* Whether it is the first suite of that name among those of a verb, or of all. */
static int is_first(bench_verb_t verb, int suite)
{
    for (int i = 0; i < suite; i++)
        if ((verb == BENCH_ALL || suites[i].verb == verb) &&
            strcmp(suites[i].name, suites[suite].name) == 0)
            return 0;
    return verb == BENCH_ALL || suites[suite].verb == verb;
}

const char *bench_suite_name(bench_verb_t verb, int i)
{
    for (int suite = 0; suite < COUNT_OF(suites); suite++)
        if (is_first(verb, suite) && i-- == 0)
            return suites[suite].name;
    return NULL;
}
