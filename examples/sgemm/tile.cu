/* tile.cu - SGEMM, step 2: tiles Ms of A and Ns of B in shared memory, of 16 x 16 and of 32 x 32.
 * Shows reuse: an element that is fetched once serves 16 or 32 threads. But each multiply-add still
 * takes two loads from shared memory, which are now the limit.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "sgemm.h"

template <int EDGE>
static __global__ void tile(float *c, const float *a, const float *b, int n)
{
    __shared__ float Ms[EDGE][EDGE], Ns[EDGE][EDGE];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t col = blockIdx.x * EDGE + x, row = blockIdx.y * EDGE + y;
    float sum = 0;

    for (int k0 = 0; k0 < n; k0 += EDGE) {
        Ms[y][x] = a[row * n + k0 + x];
        Ns[y][x] = b[(size_t)(k0 + y) * n + col];
        __syncthreads();
        for (int k = 0; k < EDGE; k++)
            sum += Ms[y][k] * Ns[k][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

int main(int argc, char **argv)
{
    example_begin("SGEMM 2: tiles Ms and Ns in shared memory", 50);
    predict_shared("store of Ms and Ns", 4, true, [](int lane) { return lane * 4; });
    predict_shared("load of Ms, 16 wide", 4, false, [](int lane) { return lane / 16 * 16 * 4; });
    predict_shared("load of Ns, 16 wide", 4, false, [](int lane) { return lane % 16 * 4; });
    predict_shared("load of Ms, 32 wide", 4, false, [](int) { return 0; });
    predict_shared("load of Ns, 32 wide", 4, false, [](int lane) { return lane * 4; });
    return sgemm_ladder(argc, argv, "16 x 16", tile<16>, 16, 16, dim3(16, 16)) ||
           sgemm_ladder(argc, argv, "32 x 32", tile<32>, 32, 32, dim3(32, 32));
}
