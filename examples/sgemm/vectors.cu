/* vectors.cu - SGEMM, step 4: loads of 16 bytes, from global and from shared memory. Shows that
 * four loads from shared memory, not 16, now serve 64 multiply-adds: fewer instructions for the
 * same bytes leave more issue slots to the multiply-adds.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "vectors.h"

static __global__ void __launch_bounds__(THREADS)
    vectors(float *c, const float *a, const float *b, int n)
{
    __shared__ __align__(16) ms_t Ms;
    __shared__ __align__(16) ns_t Ns;
    const int t = threadIdx.x, x = t % 16 * 4, y = t / 16 * 4;
    const size_t col = blockIdx.x * EDGE, row = blockIdx.y * EDGE;
    float sum[8][8] = {};

    for (int k0 = 0; k0 < n; k0 += DEPTH) {
        const int am = t / 2, ak = t % 2 * 4, bk = t / 32, bn = t % 32 * 4; /* what it fetches */

        store_transposed(Ms, ak, am, *(const float4 *)&a[(row + am) * n + k0 + ak]);
        *(float4 *)&Ns[bk][bn] = *(const float4 *)&b[(size_t)(k0 + bk) * n + col + bn];
        __syncthreads();
        multiply(sum, Ms, Ns, x, y);
        __syncthreads();
    }
    write(c, n, sum, row + y, col + x);
}

int main(int argc, char **argv)
{
    example_begin("SGEMM 4: loads of 16 bytes", 50);
    predict_global("load of A, 4096 wide", 16, false,
                   [](int lane) { return (lane / 2 * 4096 + lane % 2 * 4) * 4; });
    predict_tiles();
    return sgemm_ladder(argc, argv, "float4", vectors, EDGE, EDGE, THREADS);
}
