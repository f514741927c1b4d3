/* The sum, the norm and the largest element of a vector. It prints:
 *
 *     sum 5, norm 9.53939
 *     largest |x|: -6 at 5
 */
#include <stdio.h>
#include <tilemm.h>

int main(void)
{
    enum { N = 6 };
    const float x[N] = {1, -2, 3, 4, 5, -6};
    float sum = 0, norm = 0;
    int64_t at = -1;
    tilemm_t ctx;
    if (tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) != TILEMM_SUCCESS)
        return 1;
    if (tilemm_ssum(ctx, N, x, 1, &sum) != TILEMM_SUCCESS ||
        tilemm_snrm2(ctx, N, x, 1, &norm) != TILEMM_SUCCESS ||
        tilemm_isamax(ctx, N, x, 1, &at) != TILEMM_SUCCESS) {
        fprintf(stderr, "%s\n", tilemm_last_error(ctx));
        return 1;
    }
    printf("sum %g, norm %g\n", sum, norm);
    printf("largest |x|: %g at %d\n", x[at], (int)at);
    return tilemm_destroy(ctx) != TILEMM_SUCCESS;
}
