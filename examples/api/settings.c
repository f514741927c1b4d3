/* A mean that leaves NaN out, on two threads of the CPU. It prints:
 *
 *     mean 2
 */
#include <math.h>
#include <stdio.h>
#include <tilemm.h>

int main(void)
{
    const float x[4] = {1, 2, NAN, 3};
    float mean = 0;
    tilemm_t ctx;
    if (tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) != TILEMM_SUCCESS)
        return 1;
    if (tilemm_set_threads(ctx, 2) != TILEMM_SUCCESS ||
        tilemm_set_math(ctx, TILEMM_MATH_FP32_STRICT) != TILEMM_SUCCESS ||
        tilemm_set_nan_policy(ctx, TILEMM_NAN_IGNORE) != TILEMM_SUCCESS ||
        tilemm_sreduce(ctx, TILEMM_MEAN, TILEMM_AXIS_COLS, TILEMM_ROW_MAJOR,
                       1, 4, x, 4, &mean, 1) != TILEMM_SUCCESS)
        fprintf(stderr, "%s\n", tilemm_last_error(ctx));
    printf("mean %g\n", mean);
    return tilemm_destroy(ctx) != TILEMM_SUCCESS;
}
