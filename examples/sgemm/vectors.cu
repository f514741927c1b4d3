/* vectors.cu - SGEMM, step 4: loads of 16 bytes, from global and from shared memory. Shows that
 * four loads from shared memory, not 16, now serve 64 multiply-adds: fewer instructions for the
 * same bytes leave more issue slots to the multiply-adds.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "sgemm.h"

enum { EDGE = 128, DEPTH = 8, PITCH = EDGE + 4, THREADS = 256 };

/* A thread's rows of C are y * 4 to y * 4 + 3 and the same plus 64; its columns likewise. */
static __global__ void __launch_bounds__(THREADS)
    vectors(float *c, const float *a, const float *b, int n)
{
    __shared__ __align__(16) float Ms[DEPTH][PITCH], Ns[DEPTH][EDGE];
    const int t = threadIdx.x, x = t % 16 * 4, y = t / 16 * 4;
    const size_t col = blockIdx.x * EDGE, row = blockIdx.y * EDGE;
    float sum[8][8] = {};

    for (int k0 = 0; k0 < n; k0 += DEPTH) {
        const int am = t / 2, ak = t % 2 * 4, bk = t / 32, bn = t % 32 * 4; /* what it fetches */
        const float4 fetched = *(const float4 *)&a[(row + am) * n + k0 + ak];

        Ms[ak + 0][am] = fetched.x;
        Ms[ak + 1][am] = fetched.y;
        Ms[ak + 2][am] = fetched.z;
        Ms[ak + 3][am] = fetched.w;
        *(float4 *)&Ns[bk][bn] = *(const float4 *)&b[(size_t)(k0 + bk) * n + col + bn];
        __syncthreads();
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
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j += 4)
            *(float4 *)&c[(row + y + i % 4 + i / 4 * 64) * n + col + x + j * 16] =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}

static void step(float *c, const float *a, const float *b, int n, cudaStream_t stream)
{
    vectors<<<dim3(n / EDGE, n / EDGE), THREADS, 0, stream>>>(c, a, b, n);
}

int main(int argc, char **argv)
{
    example_begin("SGEMM 4: loads of 16 bytes", 50);
    predict_global("load of A, 4096 wide", 16, false,
                   [](int lane) { return (lane / 2 * 4096 + lane % 2 * 4) * 4; });
    predict_shared("store of Ms", 4, true,
                   [](int lane) { return (lane % 2 * 4 * PITCH + lane / 2) * 4; });
    predict_shared("store of Ns", 16, true, [](int lane) { return lane * 16; });
    predict_shared("load of Ms", 16, false, [](int lane) { return lane / 16 * 16; });
    predict_shared("load of Ns", 16, false, [](int lane) { return lane % 16 * 16; });
    return sgemm_ladder(argc, argv, "float4", step);
}
