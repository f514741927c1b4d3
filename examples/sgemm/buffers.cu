/* buffers.cu - SGEMM, step 5: two buffers for Ms and Ns. Shows double buffering: the next tiles are
 * fetched into registers while the present ones are multiplied, and are stored to the other buffer.
 * So the latency of memory is hidden, and one barrier a step is enough.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "vectors.h"

static __global__ void __launch_bounds__(THREADS, 2)
    buffers(float *c, const float *a, const float *b, int n)
{
    __shared__ __align__(16) ms_t Ms[2];
    __shared__ __align__(16) ns_t Ns[2];
    const int t = threadIdx.x, x = t % 16 * 4, y = t / 16 * 4;
    const int am = t / 2, ak = t % 2 * 4, bk = t / 32, bn = t % 32 * 4; /* what it fetches */
    const size_t col = blockIdx.x * EDGE, row = blockIdx.y * EDGE;
    const float *from_a = &a[(row + am) * n + ak], *from_b = &b[(size_t)bk * n + col + bn];
    float4 next_a = *(const float4 *)from_a, next_b = *(const float4 *)from_b;
    float sum[8][8] = {};

    for (int k0 = 0, now = 0; k0 < n; k0 += DEPTH, now ^= 1) {
        store_transposed(Ms[now], ak, am, next_a);
        *(float4 *)&Ns[now][bk][bn] = next_b;
        /* After the barrier all threads have multiplied the tiles before these: their buffer is
         * free. */
        __syncthreads();
        if (k0 + DEPTH < n) {
            next_a = *(const float4 *)(from_a + k0 + DEPTH);
            next_b = *(const float4 *)(from_b + (size_t)(k0 + DEPTH) * n);
        }
        multiply(sum, Ms[now], Ns[now], x, y);
    }
    write(c, n, sum, row + y, col + x);
}

int main(int argc, char **argv)
{
    example_begin("SGEMM 5: two buffers, the next tiles fetched while the present are used", 50);
    predict_tiles();
    return sgemm_ladder(argc, argv, "double", buffers, EDGE, EDGE, THREADS);
}
