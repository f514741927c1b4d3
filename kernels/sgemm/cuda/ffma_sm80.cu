/* ffma_sm80.cu - the kernels of SGEMM by FP32 multiply-adds on shared tiles (ffma_sm80.cuh).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "ffma_sm80.cuh"

/* ---- variants ------------------------------------------------------------------------------- */

/* A's rows run along k unless it is transposed, B's do if it is. */
#define THREADS(m, n, quads_m, quads_n, groups)                                                    \
    ((m) / (quads_m) * ((n) / (quads_n)) / 16 * (groups))
#define KERNEL(name, trans_a, trans_b, m, n, k, quads_m, quads_n, groups, stages, blocks)          \
    typedef ffma_sm80::shape<m, n, k, quads_m, quads_n, groups, stages, !(trans_a),                \
                             (trans_b) != 0>                                                       \
        name##_t;                                                                                  \
    static __global__ void __launch_bounds__(THREADS(m, n, quads_m, quads_n, groups), blocks)      \
        name(const __grid_constant__ tilemm__sgemm_ffma_t problem)                                 \
    {                                                                                              \
        ffma_sm80::body<name##_t>(problem, problem.first + blockIdx.x);                            \
    }
TILEMM__SGEMM_FFMA_SM80_ROWS(KERNEL)

typedef struct {
    void (*kernel)(tilemm__sgemm_ffma_t);
    unsigned threads;
    size_t shared; /* compute capability 8.6 has no more than 99 KiB */
} variant_t;

#define VARIANT(name, trans_a, trans_b, m, n, k, quads_m, quads_n, groups, stages, blocks)         \
    {name, THREADS(m, n, quads_m, quads_n, groups), (stages) * ((m) + (n)) * (k) * sizeof(float)},
static const variant_t variants[] = {TILEMM__SGEMM_FFMA_SM80_ROWS(VARIANT)};

extern "C" int tilemm__sgemm_ffma_sm80_launch(const tilemm__sgemm_ffma_t *problem, void *stream)
{
    const variant_t &row = variants[problem->variant - TILEMM__sgemm_ffma_sm80_128x128x16_nn];
    return launch_grids(row.kernel, *problem,
                        {0, row.threads, row.shared, problem->cluster, problem->concurrent != 0},
                        stream);
}
