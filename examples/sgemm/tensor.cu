/* tensor.cu - SGEMM, step 6: the tensor cores, at FP32 accuracy. Shows split
 * precision: a float is the sum of two FP16 numbers of 11 bits, x = hi + lo / 2048, so that three
 * FP16 products make one of FP32: hi * hi + (hi * lo + lo * hi) / 2048. Tensor cores truncate their
 * sums, so those of hi * hi are added to FP32 registers every 32 of k (promotion). FP16's range is
 * narrow: the data here are between -1 and 1. The library scales rows and columns, and computes the
 * rows and columns that do not fit by FP32 multiply-adds.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "sgemm.h"
#include <mma.h>

using namespace nvcuda::wmma;

/* A block of 4 x 2 warps computes 128 x 64 of C, a warp 2 x 2 squares of 16 x 16. The pads let the
 * rows of a square start in different banks, 16 bytes apart. */
enum { ROWS = 128, COLS = 64, DEPTH = 32, THREADS = 256, PAD = 8 };

typedef fragment<accumulator, 16, 16, 16, float> sums_t;
typedef fragment<matrix_a, 16, 16, 16, half, row_major> a_t;
typedef fragment<matrix_b, 16, 16, 16, half, row_major> b_t;

static __device__ void split(float x, half *hi, half *lo)
{
    *hi = __float2half_rn(x);
    *lo = __float2half_rn((x - __half2float(*hi)) * 2048);
}

static __global__ void __launch_bounds__(THREADS)
    tensor(float *c, const float *a, const float *b, int n)
{
    __shared__ __align__(32) half Ms[2][ROWS][DEPTH + PAD], Ns[2][DEPTH][COLS + PAD]; /* hi, lo */
    const int t = threadIdx.x, y = t / 64 * 32, x = t / 32 % 2 * 32;
    const size_t col = blockIdx.x * COLS, row = blockIdx.y * ROWS;
    float next_m[ROWS * DEPTH / THREADS], next_n[DEPTH * COLS / THREADS];
    sums_t sum[2][2], cross[2][2];
    const auto fetch = [&](int k0) {
        for (int i = 0; i < ROWS * DEPTH / THREADS; i++)
            next_m[i] = a[(row + i * (THREADS / DEPTH) + t / DEPTH) * n + k0 + t % DEPTH];
        for (int i = 0; i < DEPTH * COLS / THREADS; i++)
            next_n[i] = b[(size_t)(k0 + i * (THREADS / COLS) + t / COLS) * n + col + t % COLS];
    };

    fetch(0);
    for (int i = 0; i < 4; i++) {
        fill_fragment(sum[i / 2][i % 2], 0.0f);
        fill_fragment(cross[i / 2][i % 2], 0.0f);
    }
    for (int k0 = 0; k0 < n; k0 += DEPTH) {
        sums_t fresh[2][2];

        for (int i = 0; i < ROWS * DEPTH / THREADS; i++)
            split(next_m[i], &Ms[0][i * (THREADS / DEPTH) + t / DEPTH][t % DEPTH],
                  &Ms[1][i * (THREADS / DEPTH) + t / DEPTH][t % DEPTH]);
        for (int i = 0; i < DEPTH * COLS / THREADS; i++)
            split(next_n[i], &Ns[0][i * (THREADS / COLS) + t / COLS][t % COLS],
                  &Ns[1][i * (THREADS / COLS) + t / COLS][t % COLS]);
        __syncthreads();
        if (k0 + DEPTH < n)
            fetch(k0 + DEPTH); /* arrives while these are multiplied */
        for (int i = 0; i < 4; i++)
            fill_fragment(fresh[i / 2][i % 2], 0.0f);
        for (int k = 0; k < DEPTH; k += 16) {
            a_t m[2][2];
            b_t v[2][2];

            for (int part = 0; part < 2; part++) {
                for (int i = 0; i < 2; i++) {
                    load_matrix_sync(m[part][i], &Ms[part][y + i * 16][k], DEPTH + PAD);
                    load_matrix_sync(v[part][i], &Ns[part][k][x + i * 16], COLS + PAD);
                }
            }
            for (int i = 0; i < 2; i++) {
                for (int j = 0; j < 2; j++) {
                    mma_sync(fresh[i][j], m[0][i], v[0][j], fresh[i][j]);
                    mma_sync(cross[i][j], m[0][i], v[1][j], cross[i][j]);
                    mma_sync(cross[i][j], m[1][i], v[0][j], cross[i][j]);
                }
            }
        }
        for (int i = 0; i < 4; i++)
            for (int e = 0; e < sums_t::num_elements; e++)
                sum[i / 2][i % 2].x[e] += fresh[i / 2][i % 2].x[e];
        __syncthreads();
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            for (int e = 0; e < sums_t::num_elements; e++)
                sum[i][j].x[e] += cross[i][j].x[e] / 2048;
            store_matrix_sync(&c[(row + y + i * 16) * n + col + x + j * 16], sum[i][j], (unsigned)n,
                              mem_row_major);
        }
    }
}

int main(int argc, char **argv)
{
    example_begin("SGEMM 6: tensor cores, floats split into two FP16 numbers", 75);
    predict_shared("load of 8 rows of Ms", 4, false,
                   [](int lane) { return lane / 4 * (DEPTH + PAD) * 2 + lane % 4 * 4; });
    predict_shared("load of 8 rows of Ns", 4, false,
                   [](int lane) { return lane / 4 * (COLS + PAD) * 2 + lane % 4 * 4; });
    return sgemm_ladder(argc, argv, "split", tensor, COLS, ROWS, THREADS);
}
