/* library.cu - transpose, step 7: the library's kernel, chosen for the chip and the size. Shows
 * what the library adds to these steps: any size, alignment and element of 1 to 16 bytes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "transpose.h"

static tilemm_t context;

static void step(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    expect(tilemm_set_stream(context, stream) == TILEMM_SUCCESS &&
               tilemm_transpose(context, rows, cols, sizeof(float), in, cols, out, rows) ==
                   TILEMM_SUCCESS,
           tilemm_last_error(context));
}

int main(int argc, char **argv)
{
    example_begin("transpose 7: tilemm_transpose", 75);
    context = example_context();
    const int status = transpose_ladder(argc, argv, step);
    printf("the kernel: %s\n", tilemm_last_kernel(context));
    return tilemm_destroy(context) != TILEMM_SUCCESS || status;
}
