/* library.cu - SGEMM, step 7: the library's kernels. Shows what the library adds to these steps:
 * FP32 multiply-adds alone ("strict"), and split precision on the fastest engine ("fp32"), for any
 * size, layout, transpose and data.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "sgemm.h"

static tilemm_t context;

static void step(float *c, const float *a, const float *b, int n, cudaStream_t stream)
{
    expect(tilemm_set_stream(context, stream) == TILEMM_SUCCESS &&
               tilemm_sgemm(context, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, n, n, n,
                            1.0f, a, n, b, n, 0.0f, c, n) == TILEMM_SUCCESS,
           tilemm_last_error(context));
}

static int run(int argc, char **argv, const char *name, tilemm_math_t math)
{
    expect(tilemm_set_math(context, math) == TILEMM_SUCCESS, tilemm_last_error(context));
    const int status = sgemm_ladder(argc, argv, name, step);
    printf("the kernel: %s\n", tilemm_last_kernel(context));
    return status;
}

int main(int argc, char **argv)
{
    example_begin("SGEMM 7: tilemm_sgemm", 75);
    context = example_context();
    const int status = run(argc, argv, "strict", TILEMM_MATH_FP32_STRICT) ||
                       run(argc, argv, "fp32", TILEMM_MATH_FP32);
    return tilemm_destroy(context) != TILEMM_SUCCESS || status;
}
