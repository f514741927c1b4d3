/* buffers.cu - SGEMM, step 5: two buffers for Ms and Ns. Shows double buffering: the next tiles are
 * fetched into registers while the present ones are multiplied, and are stored to the other buffer.
 * So the latency of memory is hidden, and one barrier a step is enough.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "sgemm.h"

enum { EDGE = 128, DEPTH = 8, PITCH = EDGE + 4, THREADS = 256 };

/* A thread's elements of C are those of step 4. */
static __global__ void __launch_bounds__(THREADS, 2)
    buffers(float *c, const float *a, const float *b, int n)
{
    __shared__ __align__(16) float Ms[2][DEPTH][PITCH], Ns[2][DEPTH][EDGE];
    const int t = threadIdx.x, x = t % 16 * 4, y = t / 16 * 4;
    const int am = t / 2, ak = t % 2 * 4, bk = t / 32, bn = t % 32 * 4; /* what it fetches */
    const size_t col = blockIdx.x * EDGE, row = blockIdx.y * EDGE;
    const float *from_a = &a[(row + am) * n + ak], *from_b = &b[(size_t)bk * n + col + bn];
    float4 next_a = *(const float4 *)from_a, next_b = *(const float4 *)from_b;
    float sum[8][8] = {};

    for (int k0 = 0, now = 0; k0 < n; k0 += DEPTH, now ^= 1) {
        Ms[now][ak + 0][am] = next_a.x;
        Ms[now][ak + 1][am] = next_a.y;
        Ms[now][ak + 2][am] = next_a.z;
        Ms[now][ak + 3][am] = next_a.w;
        *(float4 *)&Ns[now][bk][bn] = next_b;
        /* After the barrier all threads have multiplied the tiles before these: their buffer is
         * free. */
        __syncthreads();
        if (k0 + DEPTH < n) {
            next_a = *(const float4 *)(from_a + k0 + DEPTH);
            next_b = *(const float4 *)(from_b + (size_t)(k0 + DEPTH) * n);
        }
        for (int k = 0; k < DEPTH; k++) {
            float m[8], v[8];

            *(float4 *)&m[0] = *(const float4 *)&Ms[now][k][y];
            *(float4 *)&m[4] = *(const float4 *)&Ms[now][k][y + 64];
            *(float4 *)&v[0] = *(const float4 *)&Ns[now][k][x];
            *(float4 *)&v[4] = *(const float4 *)&Ns[now][k][x + 64];
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++)
                    sum[i][j] += m[i] * v[j];
        }
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j += 4)
            *(float4 *)&c[(row + y + i % 4 + i / 4 * 64) * n + col + x + j * 16] =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}

static void step(float *c, const float *a, const float *b, int n, cudaStream_t stream)
{
    buffers<<<dim3(n / EDGE, n / EDGE), THREADS, 0, stream>>>(c, a, b, n);
}

int main(int argc, char **argv)
{
    example_begin("SGEMM 5: two buffers, the next tiles fetched while the present are used", 50);
    predict_shared("store of Ms", 4, true,
                   [](int lane) { return (lane % 2 * 4 * PITCH + lane / 2) * 4; });
    predict_shared("store of Ns", 16, true, [](int lane) { return lane * 16; });
    predict_shared("load of Ms", 16, false, [](int lane) { return lane / 16 * 16; });
    predict_shared("load of Ns", 16, false, [](int lane) { return lane % 16 * 16; });
    return sgemm_ladder(argc, argv, "double", step);
}
