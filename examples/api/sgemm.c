/* C = A B. It prints:
 *
 *     4 6 20
 *     12 14 52
 */
#include <stdio.h>
#include <tilemm.h>

int main(void)
{
    enum { M = 2, N = 3, K = 4 };
    const float a[M * K] = {1, 2, 3, 4, 5, 6, 7, 8};
    const float b[K * N] = {1, 0, 2, 0, 1, 2, 1, 0, 2, 0, 1, 2};
    float c[M * N] = {0};
    tilemm_t ctx;
    if (tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) != TILEMM_SUCCESS)
        return 1;
    if (tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS,
                     TILEMM_NO_TRANS, M, N, K, 1.0f, a, K, b, N, 0.0f, c,
                     N) != TILEMM_SUCCESS)
        fprintf(stderr, "%s\n", tilemm_last_error(ctx));
    for (int i = 0; i < M; i++)
        printf("%g %g %g\n", c[i * N], c[i * N + 1], c[i * N + 2]);
    return tilemm_destroy(ctx) != TILEMM_SUCCESS;
}
