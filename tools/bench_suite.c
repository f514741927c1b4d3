/* bench_suite.c - the suites of `tilemm bench --suite`: fixed lists of work, each row with the
 * ratio to its peer that is aimed at.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

enum { K = 1 << 10, M = 1 << 20 };

enum { NN = 0, NT, TN, TT };
enum { ROW = TILEMM_ROW_MAJOR, COL = TILEMM_COL_MAJOR };
enum { FP32 = TILEMM_MATH_FP32, STRICT = TILEMM_MATH_FP32_STRICT, TF32 = TILEMM_MATH_TF32 };

#define PRODUCT_IN(memory, limit, math, layout, trans, data, m, n, k, batch, arrays, goal, bound)  \
    {                                                                                              \
        {3, {m, n, k}}, math, layout, trans, data, batch, arrays, 4, 0, TILEMM_SUM, 0, 0, 0, goal, \
            bound, memory, limit                                                                   \
    }
#define PRODUCT_OF(math, layout, trans, data, m, n, k, batch, arrays, goal)                        \
    PRODUCT_IN(0, 0, math, layout, trans, data, m, n, k, batch, arrays, goal, 0)
#define PRODUCT(math, layout, trans, m, n, k, batch, arrays, goal)                                 \
    PRODUCT_OF(math, layout, trans, DATA_NORMAL, m, n, k, batch, arrays, goal)
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

/* Everyday work on a GPU. */
#define COLUMN_MAJOR(math, trans, m, n, k, goal) PRODUCT(math, COL, trans, m, n, k, 1, 0, goal)
#define ROW_MAJOR(math, trans, m, n, k, goal) PRODUCT(math, ROW, trans, m, n, k, 1, 0, goal)
#define ROW_BATCH(trans, m, n, k, count, goal) PRODUCT(FP32, ROW, trans, m, n, k, count, 0, goal)
#define BY_COLUMNS(math, n, goal) ONE(math, 8192, n, 8192, goal)

static const bench_row_t gemm_everyday[] = {
    /* one to four columns or rows */
    ONE(FP32, 4096, 1, 4096, 1.0),
    COLUMN_MAJOR(FP32, TN, 4096, 1, 4096, 1.0),
    ONE(FP32, 1000000, 1, 100, 1.0),
    COLUMN_MAJOR(FP32, TN, 100, 1, 1000000, 1.0),
    COLUMN_MAJOR(FP32, TN, 1 * M, 1, 128, 1.0),
    ONE(FP32, 65536, 2, 512, 1.0),
    COLUMN_MAJOR(FP32, TN, 65536, 2, 512, 1.0),
    COLUMN_MAJOR(FP32, TN, 512, 2, 65536, 1.0),
    ONE(FP32, 16384, 4, 4096, 1.0),
    COLUMN_MAJOR(FP32, TN, 16384, 4, 4096, 1.0),
    COLUMN_MAJOR(FP32, TN, 64, 4, 1 * M, 1.0),
    ONE(FP32, 1, 16384, 4096, 1.0),
    COLUMN_MAJOR(FP32, NT, 1, 16384, 4096, 1.0),
    ONE(FP32, 2, 65536, 512, 1.0),
    ONE(FP32, 4, 16384, 4096, 1.0),
    /* more columns */
    BY_COLUMNS(FP32, 8, 1.8),
    BY_COLUMNS(FP32, 16, 1.8),
    BY_COLUMNS(FP32, 24, 1.8),
    BY_COLUMNS(FP32, 32, 1.8),
    BY_COLUMNS(FP32, 48, 1.8),
    BY_COLUMNS(FP32, 64, 1.8),
    BY_COLUMNS(FP32, 96, 1.8),
    BY_COLUMNS(FP32, 128, 1.8),
    ROW_MAJOR(FP32, NT, 64, 11008, 4096, 1.8),
    COLUMN_MAJOR(FP32, TN, 5000, 50, 5000, 1.8),
    /* short k, a million rows */
    ONE(FP32, 1000000, 64, 8, 1.3),
    ONE(FP32, 1000000, 128, 16, 1.3),
    ONE(FP32, 1000000, 32, 32, 1.3),
    ROW_MAJOR(FP32, NN, 1000000, 32, 32, 1.3),
    ROW_MAJOR(FP32, NT, 1000000, 100, 50, 1.3),
    ONE(FP32, 1000000, 64, 64, 1.3),
    /* batches, attention */
    BATCH(FP32, 20, 10000, 1.5),
    BATCH(FP32, 24, 8000, 1.5),
    BATCH(FP32, 36, 4000, 1.5),
    BATCH(FP32, 48, 4000, 1.5),
    BATCH(FP32, 64, 2000, 1.5),
    BATCH(FP32, 100, 1000, 1.5),
    BATCH(FP32, 128, 500, 1.5),
    BATCH(FP32, 200, 200, 1.5),
    BATCH(FP32, 256, 128, 2.2),
    BATCH(FP32, 300, 64, 2.2),
    BATCH(FP32, 400, 50, 2.2),
    BATCH(FP32, 600, 20, 2.2),
    ROW_BATCH(NT, 1024, 1024, 64, 96, 1.5),
    ROW_BATCH(NN, 1024, 64, 1024, 96, 1.5),
    ROW_BATCH(NT, 197, 197, 64, 768, 1.5),
    ROW_BATCH(NN, 197, 64, 197, 768, 1.5),
    ROW_BATCH(NT, 2048, 2048, 128, 32, 1.5),
    ROW_BATCH(NN, 2048, 128, 2048, 32, 1.5),
    /* squares, primes */
    CUBE(FP32, 256, 1.0),
    CUBE(FP32, 512, 1.4),
    CUBE(FP32, 768, 1.4),
    CUBE(FP32, 1024, 2.8),
    CUBE(FP32, 1500, 2.8),
    CUBE(FP32, 2048, 3.9),
    CUBE(FP32, 3000, 3.9),
    EVERY_WAY(FP32, 4096, 4.7),
    EVERY_WAY(FP32, 8192, 4.7),
    CUBE(FP32, 509, 1.0),
    CUBE(FP32, 1023, 2.0),
    CUBE(TF32, 509, 1.0),
    CUBE(TF32, 2047, 1.0),
    ONE(FP32, 997, 1009, 1013, 1.4),
    CUBE(FP32, 2039, 2.8),
    CUBE(FP32, 4093, 3.9),
    /* layers of networks, forward and backward */
    ROW_MAJOR(FP32, NT, 256, 512, 784, 1.0),
    ROW_MAJOR(FP32, NT, 8192, 1024, 479, 1.4),
    ROW_MAJOR(FP32, NT, 2048, 3072, 768, 1.4),
    ROW_MAJOR(FP32, NT, 2048, 768, 3072, 1.4),
    ROW_MAJOR(FP32, NN, 16384, 768, 3072, 1.4),
    ROW_MAJOR(FP32, TN, 768, 3072, 16384, 1.4),
    ROW_MAJOR(FP32, NT, 2048, 50257, 768, 1.4),
    /* convolutions: filters, pixels of a batch, taps */
    ROW_MAJOR(FP32, NN, 64, 50176, 27, 1.0),
    ROW_MAJOR(FP32, NN, 64, 12544, 147, 1.0),
    ROW_MAJOR(FP32, NN, 64, 100352, 576, 1.4),
    ROW_MAJOR(FP32, NN, 128, 25088, 1152, 1.4),
    ROW_MAJOR(FP32, NN, 256, 6272, 2304, 1.4),
    ROW_MAJOR(FP32, NN, 512, 1568, 4608, 1.4),
    ROW_MAJOR(FP32, NN, 256, 100352, 64, 1.3),
    /* Gram matrices, distances, updates of factorisations */
    COLUMN_MAJOR(FP32, TN, 64, 64, 1000000, 1.4),
    COLUMN_MAJOR(FP32, TN, 500, 500, 100000, 1.4),
    COLUMN_MAJOR(FP32, TN, 2000, 2000, 20000, 1.4),
    COLUMN_MAJOR(FP32, NT, 10000, 10000, 128, 1.4),
    COLUMN_MAJOR(FP32, NT, 20000, 100, 784, 1.4),
    ONE(FP32, 2000, 2000, 32, 1.0),
    ONE(FP32, 4000, 4000, 64, 1.3),
    COLUMN_MAJOR(FP32, NT, 3968, 3968, 128, 1.4),
    ONE(FP32, 8000, 8000, 256, 1.4),
    COLUMN_MAJOR(FP32, TN, 128, 4000, 4096, 1.4),
    /* TF32 */
    CUBE(TF32, 256, 1.1),
    CUBE(TF32, 512, 1.1),
    CUBE(TF32, 1000, 1.1),
    CUBE(TF32, 1500, 1.1),
    CUBE(TF32, 2000, 1.1),
    CUBE(TF32, 3000, 1.1),
    CUBE(TF32, 4096, 1.5),
    BY_COLUMNS(TF32, 16, 1.1),
    BY_COLUMNS(TF32, 32, 1.1),
    BY_COLUMNS(TF32, 64, 1.1),
    BY_COLUMNS(TF32, 128, 1.1),
    BY_COLUMNS(TF32, 256, 1.1),
    ROW_MAJOR(TF32, NT, 2048, 3072, 768, 1.1),
    /* strict */
    COLUMN_MAJOR(STRICT, TN, 1 * M, 1, 128, 1.0),
    BY_COLUMNS(STRICT, 1, 1.0),
    BY_COLUMNS(STRICT, 4, 1.0),
    BY_COLUMNS(STRICT, 32, 1.0),
    BY_COLUMNS(STRICT, 64, 1.0),
    BY_COLUMNS(STRICT, 128, 1.0),
    ONE(STRICT, 1000000, 32, 32, 1.0),
    BATCH(STRICT, 24, 8000, 1.0),
    BATCH(STRICT, 100, 1000, 1.0),
    BATCH(STRICT, 300, 64, 1.0),
    CUBE(STRICT, 256, 1.0),
    CUBE(STRICT, 512, 1.0),
    CUBE(STRICT, 1000, 1.0),
    CUBE(STRICT, 2039, 1.0),
    CUBE(STRICT, 4096, 1.0),
    ROW_MAJOR(STRICT, NN, 128, 25088, 1152, 1.0),
    COLUMN_MAJOR(STRICT, TN, 500, 500, 100000, 1.0),
};

/* Every family of data: at least the peer's speed, and 1.8 times it from 2048 on where rows are
 * aligned. */
#define SIZES_OF(data, name, text)                                                                 \
    PRODUCT_OF(FP32, COL, NN, data, 768, 768, 768, 1, 0, 1.0),                                     \
        PRODUCT_OF(FP32, COL, NN, data, 2047, 2047, 2047, 1, 0, 1.0),                              \
        PRODUCT_OF(FP32, COL, NN, data, 2048, 2048, 2048, 1, 0, 1.8),                              \
        PRODUCT_OF(FP32, COL, NN, data, 5000, 5000, 5000, 1, 0, 1.8),

static const bench_row_t gemm_data[] = {DATA_SUITE(SIZES_OF)};

/* The goals: the ratio to a copy of the same bytes, and to the peer. */
#define TRANSPOSE_IN(memory, rows, cols, elem_size, batch, in_place, bytes_goal, goal)             \
    {                                                                                              \
        {2, {rows, cols}}, 0, 0, 0, 0, batch, 0, elem_size, in_place, TILEMM_SUM, 0, 0, 0, goal,   \
            bytes_goal, memory, 0                                                                  \
    }
#define TRANSPOSE(rows, cols, elem_size, batch, in_place, bytes_goal, goal)                        \
    TRANSPOSE_IN(0, rows, cols, elem_size, batch, in_place, bytes_goal, goal)

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

/* Products of random shapes: any side from 1 on, seldom a multiple of anything. */
static const bench_row_t gemm_ragged[] = {
    PRODUCT(STRICT, ROW, NN, 6492, 1, 384, 1, 0, 1.0),
    PRODUCT(TF32, ROW, NT, 11008, 1, 1677, 1, 0, 1.0),
    PRODUCT(FP32, ROW, TN, 1463, 175, 72, 1, 0, 1.0),
    PRODUCT(FP32, ROW, NN, 370, 31, 64, 192, 0, 1.0),
    PRODUCT(FP32, ROW, NN, 21, 574, 7665, 1, 0, 1.0),
    PRODUCT(FP32, ROW, NN, 4, 128, 8637, 1, 0, 1.0),
    PRODUCT(FP32, ROW, NN, 10837, 39, 310, 1, 0, 1.0),
    PRODUCT(FP32, COL, NT, 5790, 864, 8, 1, 0, 1.0),
    PRODUCT(STRICT, COL, NN, 15599, 378, 1516, 1, 0, 1.0),
    PRODUCT(FP32, ROW, NN, 1342, 2737, 288, 1, 0, 1.0),
    PRODUCT(STRICT, COL, NT, 1, 962, 3860, 1, 0, 1.0),
    PRODUCT(STRICT, ROW, TT, 8621, 2746, 32, 1, 0, 1.0),
    PRODUCT(STRICT, ROW, TT, 192, 209, 62, 1600, 0, 1.0),
    PRODUCT(FP32, ROW, NN, 450, 128, 149, 644, 0, 1.0),
    PRODUCT(FP32, ROW, TT, 56, 1, 26, 1056, 0, 1.0),
    PRODUCT(TF32, ROW, NT, 1134, 352, 256, 1, 0, 1.0),
    PRODUCT(STRICT, COL, NT, 5024, 193, 4928, 1, 0, 1.0),
    PRODUCT(FP32, COL, TN, 992, 112, 102, 6, 0, 1.0),
    PRODUCT(STRICT, ROW, TN, 4832, 512, 38, 1, 0, 1.0),
    PRODUCT(FP32, ROW, TT, 480, 1, 13150, 10, 0, 1.0),
    PRODUCT(FP32, ROW, NN, 32, 428, 5792, 1, 0, 1.0),
    PRODUCT(FP32, COL, NN, 116, 16, 5, 235, 0, 1.0),
    PRODUCT(TF32, COL, NT, 4340, 1, 1, 346, 0, 1.0),
    PRODUCT(FP32, COL, NN, 1600, 1, 6299, 1, 0, 1.0),
    PRODUCT(FP32, ROW, NT, 1364, 128, 19532, 1, 0, 1.0),
    PRODUCT(FP32, ROW, TT, 1600, 477, 3, 1, 0, 1.0),
    PRODUCT(FP32, COL, NT, 50, 7396, 37, 32, 0, 1.0),
    PRODUCT(FP32, ROW, TN, 64, 640, 3, 1248, 0, 1.0),
    PRODUCT(TF32, COL, NT, 34, 1433, 13465, 1, 0, 1.0),
    PRODUCT(STRICT, ROW, TN, 272, 7455, 13, 1, 0, 1.0),
    PRODUCT(STRICT, ROW, NN, 32, 1731, 11, 2, 0, 1.0),
    PRODUCT(FP32, ROW, TT, 5208, 1312, 52, 1, 0, 1.0),
    PRODUCT(TF32, ROW, TT, 32, 5469, 14624, 1, 0, 1.0),
    PRODUCT(STRICT, ROW, NN, 5344, 162, 1539, 1, 0, 1.0),
    PRODUCT(FP32, COL, NT, 64, 2, 32, 944, 0, 1.0),
    PRODUCT(STRICT, ROW, NT, 390, 2048, 24, 1, 0, 1.0),
    PRODUCT(FP32, ROW, TN, 8416, 128, 536, 1, 0, 1.0),
    PRODUCT(TF32, ROW, NN, 1, 64, 672, 64, 0, 1.0),
    PRODUCT(FP32, COL, NT, 135, 39, 2054, 1, 0, 1.0),
    PRODUCT(STRICT, ROW, TN, 182, 1, 9376, 1, 0, 1.0),
};

static const bench_row_t transpose_everyday[] = {
    /* batches with odd sides */
    TRANSPOSE(7, 9, 1, 100000, 0, 0.9, 0),
    TRANSPOSE(33, 65, 1, 5000, 0, 0.9, 0),
    TRANSPOSE(127, 129, 1, 1000, 0, 0.9, 0),
    TRANSPOSE(17, 31, 2, 10000, 0, 0.9, 0),
    TRANSPOSE(63, 65, 2, 2000, 0, 0.9, 0),
    TRANSPOSE(255, 127, 2, 500, 0, 0.9, 0),
    TRANSPOSE(31, 47, 4, 2000, 0, 0.9, 0),
    TRANSPOSE(33, 33, 4, 4000, 0, 0.9, 0),
    TRANSPOSE(101, 99, 4, 400, 0, 0.9, 0),
    TRANSPOSE(255, 257, 4, 100, 0, 0.9, 0),
    TRANSPOSE(13, 29, 8, 10000, 0, 0.9, 0),
    TRANSPOSE(51, 77, 8, 1000, 0, 0.9, 0),
    TRANSPOSE(129, 65, 8, 500, 0, 0.9, 0),
    TRANSPOSE(9, 15, 16, 20000, 0, 0.9, 0),
    TRANSPOSE(33, 47, 16, 2000, 0, 0.9, 0),
    TRANSPOSE(99, 101, 16, 300, 0, 0.9, 0),
    /* images and layers: channels last to first, and back */
    TRANSPOSE(50176, 3, 1, 64, 0, 0.9, 0),
    TRANSPOSE(3, 50176, 1, 64, 0, 0.9, 0),
    TRANSPOSE(2073600, 3, 1, 1, 0, 0.9, 0),
    TRANSPOSE(3, 2073600, 1, 1, 0, 0.9, 0),
    TRANSPOSE(50176, 3, 4, 64, 0, 0.9, 0),
    TRANSPOSE(3, 50176, 4, 64, 0, 0.9, 0),
    TRANSPOSE(3136, 64, 4, 32, 0, 0.9, 0),
    TRANSPOSE(64, 3136, 4, 32, 0, 0.9, 0),
    TRANSPOSE(197, 64, 2, 768, 0, 0.9, 0),
    TRANSPOSE(512, 64, 4, 384, 0, 0.9, 0),
    /* few columns of short elements */
    TRANSPOSE(1000000, 2, 1, 1, 0, 0.9, 0),
    TRANSPOSE(4000001, 5, 1, 1, 0, 0.9, 0),
    TRANSPOSE(3000000, 7, 1, 1, 0, 0.9, 0),
    TRANSPOSE(10000000, 8, 1, 1, 0, 0.9, 0),
    TRANSPOSE(5, 4000001, 1, 1, 0, 0.9, 0),
    TRANSPOSE(1000000, 3, 2, 1, 0, 0.9, 0),
    TRANSPOSE(10000000, 4, 2, 1, 0, 0.9, 0),
    TRANSPOSE(5000000, 6, 2, 1, 0, 0.9, 0),
    TRANSPOSE(2000001, 8, 2, 1, 0, 0.9, 0),
    /* odd sides of bytes */
    TRANSPOSE(9999, 7777, 1, 1, 0, 0.9, 0),
    TRANSPOSE(4095, 4097, 1, 1, 0, 0.9, 0),
    TRANSPOSE(7919, 7907, 1, 1, 0, 0.9, 0),
    TRANSPOSE(1001, 999, 1, 1, 0, 0.9, 0),
    TRANSPOSE(12345, 6789, 2, 1, 0, 0.9, 0),
    /* single ones */
    TRANSPOSE(64, 64, 4, 1, 0, 1.0, 0),
    TRANSPOSE(100, 100, 4, 1, 0, 1.0, 0),
    TRANSPOSE(128, 128, 4, 1, 0, 1.0, 0),
    TRANSPOSE(200, 200, 4, 1, 0, 1.0, 0),
    TRANSPOSE(256, 256, 4, 1, 0, 1.0, 0),
    TRANSPOSE(300, 300, 4, 1, 0, 1.0, 0),
    TRANSPOSE(400, 400, 4, 1, 0, 1.0, 0),
    TRANSPOSE(500, 500, 4, 1, 0, 1.0, 0),
    TRANSPOSE(512, 512, 4, 1, 0, 1.0, 0),
    TRANSPOSE(700, 700, 4, 1, 0, 1.0, 0),
    TRANSPOSE(768, 768, 4, 1, 0, 1.0, 0),
    TRANSPOSE(1000, 1000, 4, 1, 0, 1.0, 0),
    TRANSPOSE(1024, 1024, 4, 1, 0, 1.0, 0),
    /* larger ones */
    TRANSPOSE(3000, 5000, 4, 1, 0, 0.9, 0),
    TRANSPOSE(7919, 4099, 4, 1, 0, 0.9, 0),
    TRANSPOSE(4096, 4096, 4, 1, 0, 0.9, 0),
    TRANSPOSE(100000, 100, 4, 1, 0, 0.9, 0),
    TRANSPOSE(1000000, 10, 4, 1, 0, 0.9, 0),
    TRANSPOSE(10, 1000000, 4, 1, 0, 0.9, 0),
    TRANSPOSE(10000, 10000, 8, 1, 0, 0.9, 0),
    TRANSPOSE(5001, 5003, 16, 1, 0, 0.9, 0),
    /* in place */
    TRANSPOSE(1000, 1000, 4, 1, 1, 0.9, 0),
    TRANSPOSE(5000, 5000, 4, 1, 1, 0.9, 0),
    TRANSPOSE(1080, 1920, 4, 1, 1, 0.45, 0),
    TRANSPOSE(3000, 4000, 4, 1, 1, 0.45, 0),
    TRANSPOSE(10000, 1000, 4, 1, 1, 0.45, 0),
    TRANSPOSE(1000, 10000, 4, 1, 1, 0.45, 0),
    TRANSPOSE(8192, 4096, 4, 1, 1, 0.45, 0),
    TRANSPOSE(4000, 6000, 2, 1, 1, 0.45, 0),
    TRANSPOSE(7000, 5000, 8, 1, 1, 0.45, 0),
};

enum { VECTOR = -1, ROWS = TILEMM_AXIS_ROWS, COLS = TILEMM_AXIS_COLS };

/* The goals: the ratio to the peer, and of axes to the sum of all elements. */
#define REDUCE_IN(memory, op, axis, arg, dims, rows, cols, segments, goal, bytes_goal)             \
    {                                                                                              \
        {dims, {rows, cols}}, 0, 0, 0, 0, 1, 0, 4, 0, op, axis, arg, segments, goal, bytes_goal,   \
            memory, 0                                                                              \
    }
#define REDUCE(op, axis, arg, dims, rows, cols, segments, goal, bytes_goal)                        \
    REDUCE_IN(0, op, axis, arg, dims, rows, cols, segments, goal, bytes_goal)
#define WHOLE(op, n, goal) REDUCE(op, VECTOR, 0, 1, n, 0, 0, goal, 0)
#define SEGMENTED(n, segments) REDUCE(TILEMM_SUM, VECTOR, 0, 1, n, 0, segments, 0, 0)
#define AXES(op, arg, rows, cols, goal)                                                            \
    REDUCE(op, ROWS, arg, 2, rows, cols, 0, 0, goal),                                              \
        REDUCE(op, COLS, arg, 2, rows, cols, 0, 0, goal)
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

#define UP_TO_4M(op)                                                                               \
    WHOLE(op, 4096, 1.0), WHOLE(op, 65536, 1.0), WHOLE(op, 1000000, 1.0), WHOLE(op, 4 * M, 1.0)
#define DOWN(rows, cols) REDUCE(TILEMM_SUM, ROWS, 0, 2, rows, cols, 0, 1.0, 0)
#define ALONG(rows, cols) REDUCE(TILEMM_SUM, COLS, 0, 2, rows, cols, 0, 1.0, 0)

static const bench_row_t reduce_everyday[] = {
    UP_TO_4M(TILEMM_MAX),
    UP_TO_4M(TILEMM_MIN),
    UP_TO_4M(TILEMM_AMAX),
    UP_TO_4M(REDUCE_IAMAX),
    UP_TO_4M(REDUCE_IAMIN),
    UP_TO_4M(REDUCE_IMAX),
    UP_TO_4M(REDUCE_IMIN),
    WHOLE(TILEMM_SUM, 32 * K, 1.05),
    WHOLE(TILEMM_SUM, 64 * K, 1.05),
    WHOLE(TILEMM_SUM, 100000, 1.05),
    WHOLE(TILEMM_SUM, 128 * K, 1.05),
    WHOLE(TILEMM_SUM, 256 * K, 1.05),
    WHOLE(TILEMM_SUM, 512 * K, 1.05),
    WHOLE(TILEMM_SUM, 1000003, 1.05),
    WHOLE(TILEMM_SUM, 1 * M, 1.05),
    WHOLE(TILEMM_SUM, 4 * M, 1.0),
    WHOLE(TILEMM_SUM, 16 * M, 1.0),
    WHOLE(TILEMM_SUM, 100000000, 1.0),
    WHOLE(REDUCE_DOT, 1 * M, 1.0),
    WHOLE(REDUCE_DOT, 2 * M, 1.0),
    WHOLE(REDUCE_DOT, 5000000, 1.0),
    WHOLE(REDUCE_DOT, 8 * M, 1.0),
    WHOLE(REDUCE_DOT, 20000000, 1.0),
    WHOLE(REDUCE_DOT, 64 * M, 1.0),
    WHOLE(TILEMM_ASUM, 10000, 1.0),
    WHOLE(TILEMM_ASUM, 1000000, 1.0),
    WHOLE(TILEMM_ASUM, 16 * M, 1.0),
    WHOLE(TILEMM_NRM2, 10000, 1.0),
    WHOLE(TILEMM_NRM2, 1000000, 1.0),
    WHOLE(TILEMM_NRM2, 16 * M, 1.0),
    DOWN(100000, 2),
    DOWN(100000, 10),
    DOWN(100000, 64),
    DOWN(1000000, 2),
    DOWN(1000000, 3),
    DOWN(1000000, 4),
    DOWN(1000000, 8),
    DOWN(1000000, 10),
    DOWN(1000000, 16),
    DOWN(1000000, 32),
    DOWN(1000000, 64),
    DOWN(10000000, 2),
    DOWN(10000000, 10),
    DOWN(10000000, 32),
    DOWN(16384, 768),
    DOWN(60000, 784),
    DOWN(2073600, 3),
    DOWN(1080, 1920),
    ALONG(1080, 1920),
    ALONG(16384, 768),
    ALONG(100000, 64),
    ALONG(4096, 50257),
    ALONG(1000000, 10),
    ALONG(1000, 10000),
    /* without a peer */
    AXES(TILEMM_MAX, 0, 1080, 1920, 0),
    AXES(TILEMM_MAX, 1, 10000, 1000, 0),
    AXES(TILEMM_SUMSQ, 0, 16384, 768, 0),
    SEGMENTED(10000000, 100000),
    SEGMENTED(10000000, 1000),
};

/* Operands on the host of a GPU: the goals are ratios to cublasXt, and to the bound. Sizes shrink
 * to what the host's memory holds. */
#define HOST_PRODUCT(m, n, k, memory, limit, goal, bound)                                          \
    PRODUCT_IN(memory, limit, FP32, COL, NN, DATA_NORMAL, m, n, k, 1, 0, goal, bound)
#define HOST_CUBE(n, memory, limit, goal, bound) HOST_PRODUCT(n, n, n, memory, limit, goal, bound)
#define HOST_SUM(n, memory, bound) REDUCE_IN(memory, TILEMM_SUM, VECTOR, 0, 1, n, 0, 0, 0, bound)

static const bench_row_t gemm_host[] = {
    HOST_CUBE(32768, MEMORY_PINNED, 0, 3.6, 0),
    HOST_CUBE(32768, MEMORY_PAGEABLE, 0, 18, 0),
    HOST_CUBE(32768, MEMORY_PINNED, (int64_t)4 << 30, 0, 0),
    HOST_CUBE(8192, MEMORY_PINNED, 0, 0, 0.9),
    HOST_CUBE(4096, MEMORY_PINNED, 0, 0, 0.9),
    HOST_PRODUCT(65536, 65536, 1024, MEMORY_PINNED, 0, 0, 0.9),
};
static const bench_row_t transpose_host[] = {
    TRANSPOSE_IN(MEMORY_PINNED, 65536, 32768, 4, 1, 0, 0.82, 0)};
static const bench_row_t reduce_host[] = {
    HOST_SUM((int64_t)1 << 32, MEMORY_PINNED, 0.95),
    HOST_SUM((int64_t)1 << 32, MEMORY_PAGEABLE, 0),
};

enum { H200, EVERYDAY, RAGGED, DATA, HOST, CPU, CPU_AVX2, CPU_AMX };
const word_t suite_words[] = {{"h200", H200},         {"everyday", EVERYDAY}, {"ragged", RAGGED},
                              {"data", DATA},         {"host", HOST},         {"cpu", CPU},
                              {"cpu-avx2", CPU_AVX2}, {"cpu-amx", CPU_AMX},   {0}};

const bench_row_t *bench_suite(bench_verb_t verb, const char *name, int *count)
{
#define ROWS_OF(rows)                                                                              \
    {                                                                                              \
        rows, COUNT_OF(rows)                                                                       \
    }
    static const struct {
        const bench_row_t *rows;
        int count;
    } suites[][BENCH_REDUCE + 1] = {
        [H200] = {[BENCH_GEMM] = ROWS_OF(gemm_h200),
                  [BENCH_TRANSPOSE] = ROWS_OF(transpose_h200),
                  [BENCH_REDUCE] = ROWS_OF(reduce_h200)},
        [EVERYDAY] = {[BENCH_GEMM] = ROWS_OF(gemm_everyday),
                      [BENCH_TRANSPOSE] = ROWS_OF(transpose_everyday),
                      [BENCH_REDUCE] = ROWS_OF(reduce_everyday)},
        [RAGGED] = {[BENCH_GEMM] = ROWS_OF(gemm_ragged)},
        [DATA] = {[BENCH_GEMM] = ROWS_OF(gemm_data)},
        [HOST] = {[BENCH_GEMM] = ROWS_OF(gemm_host),
                  [BENCH_TRANSPOSE] = ROWS_OF(transpose_host),
                  [BENCH_REDUCE] = ROWS_OF(reduce_host)},
        [CPU] = {[BENCH_GEMM] = ROWS_OF(gemm_cpu),
                 [BENCH_TRANSPOSE] = ROWS_OF(transpose_cpu),
                 [BENCH_REDUCE] = ROWS_OF(reduce_cpu)},
        [CPU_AVX2] = {[BENCH_GEMM] = ROWS_OF(gemm_cpu_avx2)},
        [CPU_AMX] = {[BENCH_GEMM] = ROWS_OF(gemm_cpu_amx)},
    };
#undef ROWS_OF
    int suite;
    *count = 0;
    if (parse_word(name, suite_words, &suite) != 0)
        return NULL;
    *count = suites[suite][verb].count;
    return suites[suite][verb].rows;
}
