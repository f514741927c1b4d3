/* The transpose of a matrix, into another and in place. */
#include <stdio.h>
#include <string.h>
#include <tilemm.h>

int main(void)
{
    enum { ROWS = 2, COLS = 3 };
    const float a[ROWS * COLS] = {1, 2, 3, 4, 5, 6};
    float t[COLS * ROWS], in_place[ROWS * COLS];
    tilemm_t ctx;
    if (tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) != TILEMM_SUCCESS)
        return 1;
    memcpy(in_place, a, sizeof a);
    if (tilemm_transpose(ctx, ROWS, COLS, sizeof *a, a, COLS, t, ROWS) != TILEMM_SUCCESS ||
        tilemm_transpose_inplace(ctx, ROWS, COLS, sizeof *a, in_place, COLS, ROWS) !=
            TILEMM_SUCCESS)
        fprintf(stderr, "%s\n", tilemm_last_error(ctx));
    for (int i = 0; i < COLS; i++)
        printf("%g %g\n", t[i * ROWS], t[i * ROWS + 1]);
    int same = memcmp(t, in_place, sizeof t) == 0;
    printf("in place: %s\n", same ? "the same" : "different");
    return tilemm_destroy(ctx) != TILEMM_SUCCESS || !same;
}
