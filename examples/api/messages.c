/* A leading dimension that is too small, and a call that is right. It
 * prints:
 *
 *     invalid argument
 *     sgemm: lda = 1, must be at least 2 (row-major, NO_TRANS, k = 2)
 *     success
 *
 * and to standard error which version and which kernel ran.
 */
#include <stdio.h>
#include <tilemm.h>

int main(void)
{
    const float a[4] = {1, 2, 3, 4}, b[4] = {1, 0, 0, 1};
    float c[4];
    tilemm_t ctx;
    if (tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) != TILEMM_SUCCESS)
        return 1;
    for (int lda = 1; lda <= 2; lda++) {
        const tilemm_status_t status = tilemm_sgemm(
            ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 2, 2,
            2, 1.0f, a, lda, b, 2, 0.0f, c, 2);
        puts(tilemm_status_string(status));
        if (status != TILEMM_SUCCESS)
            puts(tilemm_last_error(ctx));
    }
    fprintf(stderr, "%s, %s\n", tilemm_version(), tilemm_last_kernel(ctx));
    return tilemm_destroy(ctx) != TILEMM_SUCCESS;
}
