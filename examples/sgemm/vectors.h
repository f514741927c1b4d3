/* vectors.h - steps 4 and 5 of the SGEMM ladder: the tiles Ms and Ns, and what a thread does with
 * them by loads and stores of 16 bytes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "sgemm.h"

enum { EDGE = 128, DEPTH = 8, PITCH = EDGE + 4, THREADS = 256 };

typedef float ms_t[DEPTH][PITCH], ns_t[DEPTH][EDGE];

static __device__ void store_transposed(ms_t &Ms, int k, int m, float4 fetched)
{
    Ms[k + 0][m] = fetched.x;
    Ms[k + 1][m] = fetched.y;
    Ms[k + 2][m] = fetched.z;
    Ms[k + 3][m] = fetched.w;
}

/* A thread's rows of C are y to y + 3 and the same plus 64; its columns likewise. */
static __device__ void multiply(float (&sum)[8][8], const ms_t &Ms, const ns_t &Ns, int x, int y)
{
    for (int k = 0; k < DEPTH; k++) {
        float m[8], v[8];

        *(float4 *)&m[0] = *(const float4 *)&Ms[k][y];
        *(float4 *)&m[4] = *(const float4 *)&Ms[k][y + 64];
        *(float4 *)&v[0] = *(const float4 *)&Ns[k][x];
        *(float4 *)&v[4] = *(const float4 *)&Ns[k][x + 64];
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++)
                sum[i][j] += m[i] * v[j];
    }
}

static __device__ void write(float *c, int n, const float (&sum)[8][8], size_t row, size_t col)
{
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j += 4)
            *(float4 *)&c[(row + i % 4 + i / 4 * 64) * n + col + j * 16] =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}

static inline void predict_tiles(void)
{
    predict_shared("store of Ms", 4, true,
                   [](int lane) { return (lane % 2 * 4 * PITCH + lane / 2) * 4; });
    predict_shared("store of Ns", 16, true, [](int lane) { return lane * 16; });
    predict_shared("load of Ms", 16, false, [](int lane) { return lane / 16 * 16; });
    predict_shared("load of Ns", 16, false, [](int lane) { return lane % 16 * 16; });
}
