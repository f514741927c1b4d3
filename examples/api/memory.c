/* A matrix with aligned rows, and the copy of one column to it. It prints:
 *
 *     3 5 7
 *     rows start at multiples of 64 bytes: yes
 */
#include <stdio.h>
#include <tilemm.h>

int main(void)
{
    const float a[6] = {3, 4, 5, 6, 7, 8};
    float back[3] = {0};
    void *column;
    int64_t ld = 0;
    tilemm_t ctx;
    if (tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) != TILEMM_SUCCESS)
        return 1;
    if (tilemm_alloc_matrix(ctx, TILEMM_MEMORY_HOST, 3, 1, sizeof *a,
                            &column, &ld) != TILEMM_SUCCESS ||
        tilemm_copy_matrix(ctx, 3, 1, sizeof *a, a, 2, column, ld) !=
            TILEMM_SUCCESS ||
        tilemm_copy_matrix(ctx, 3, 1, sizeof *a, column, ld, back, 1) !=
            TILEMM_SUCCESS)
        fprintf(stderr, "%s\n", tilemm_last_error(ctx));
    printf("%g %g %g\n", back[0], back[1], back[2]);
    printf("rows start at multiples of 64 bytes: %s\n",
           ld * sizeof *a % 64 == 0 ? "yes" : "no");
    return tilemm_free_matrix(ctx, column) != TILEMM_SUCCESS ||
           tilemm_destroy(ctx) != TILEMM_SUCCESS;
}
