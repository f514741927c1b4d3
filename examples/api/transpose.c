/* The transpose of a matrix, into another and in place. It prints:
 *
 *     1 4
 *     2 5
 *     3 6
 *     in place: the same
 */
#include <stdio.h>
#include <string.h>
#include <tilemm.h>

int main(void)
{
    enum { ROWS = 2, COLS = 3 };
    float a[ROWS * COLS] = {1, 2, 3, 4, 5, 6}, t[COLS * ROWS] = {0};
    tilemm_t ctx;
    if (tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) != TILEMM_SUCCESS)
        return 1;
    if (tilemm_transpose(ctx, ROWS, COLS, sizeof *a, a, COLS, t, ROWS) !=
            TILEMM_SUCCESS ||
        tilemm_transpose_inplace(ctx, ROWS, COLS, sizeof *a, a, COLS,
                                 ROWS) != TILEMM_SUCCESS)
        fprintf(stderr, "%s\n", tilemm_last_error(ctx));
    for (int i = 0; i < COLS; i++)
        printf("%g %g\n", t[i * ROWS], t[i * ROWS + 1]);
    const int same = memcmp(t, a, sizeof t) == 0;
    printf("in place: %s\n", same ? "the same" : "different");
    return tilemm_destroy(ctx) != TILEMM_SUCCESS || !same;
}
