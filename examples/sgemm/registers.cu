/* registers.cu - SGEMM, step 3: each thread computes 8 x 8 elements of C in registers. Shows
 * register blocking: 16 loads from shared memory now serve 64 multiply-adds. Ms is stored
 * transposed, so that a column of A's tile lies in one row; its pad keeps the stores free of bank
 * conflicts.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "sgemm.h"

enum { EDGE = 128, DEPTH = 8, PITCH = EDGE + 4, THREADS = 256 };

/* A thread's rows of C are 16 apart, as are its columns: neighbouring threads load neighbours. */
static __global__ void __launch_bounds__(THREADS)
    registers(float *c, const float *a, const float *b, int n)
{
    __shared__ float Ms[DEPTH][PITCH], Ns[DEPTH][EDGE];
    const int t = threadIdx.x, x = t % 16, y = t / 16;
    const size_t col = blockIdx.x * EDGE, row = blockIdx.y * EDGE;
    float sum[8][8] = {};

    for (int k0 = 0; k0 < n; k0 += DEPTH) {
        for (int i = t; i < EDGE * DEPTH; i += THREADS) {
            Ms[i % DEPTH][i / DEPTH] = a[(row + i / DEPTH) * n + k0 + i % DEPTH];
            Ns[i / EDGE][i % EDGE] = b[(size_t)(k0 + i / EDGE) * n + col + i % EDGE];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            float m[8], v[8];

            for (int i = 0; i < 8; i++) {
                m[i] = Ms[k][y + i * 16];
                v[i] = Ns[k][x + i * 16];
            }
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++)
                    sum[i][j] += m[i] * v[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            c[(row + y + i * 16) * n + col + x + j * 16] = sum[i][j];
}

int main(int argc, char **argv)
{
    example_begin("SGEMM 3: 8 x 8 elements of C in each thread's registers", 50);
    predict_shared("store of Ms", 4, true,
                   [](int lane) { return (lane % DEPTH * PITCH + lane / DEPTH) * 4; });
    predict_shared("load of Ms", 4, false, [](int lane) { return lane / 16 * 4; });
    predict_shared("load of Ns", 4, false, [](int lane) { return lane % 16 * 4; });
    return sgemm_ladder(argc, argv, "8 x 8", registers, EDGE, EDGE, THREADS);
}
