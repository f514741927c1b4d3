/* C = A B, and what ran it. */
#include <stdio.h>
#include <tilemm.h>

int main(void)
{
    enum { M = 2, N = 3, K = 4 };
    const float a[M * K] = {1, 2, 3, 4, 5, 6, 7, 8};
    const float b[K * N] = {1, 0, 2, 0, 1, 2, 1, 0, 2, 0, 1, 2};
    float c[M * N];
    tilemm_t ctx;
    if (tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) != TILEMM_SUCCESS)
        return 1;
    if (tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, M, N, K, 1.0f, a, K,
                     b, N, 0.0f, c, N) != TILEMM_SUCCESS)
        fprintf(stderr, "%s\n", tilemm_last_error(ctx));
    printf("%g %g %g\n%g %g %g\n%s\n", c[0], c[1], c[2], c[3], c[4], c[5], tilemm_last_kernel(ctx));
    return tilemm_destroy(ctx) != TILEMM_SUCCESS;
}
