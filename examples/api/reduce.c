/* Sums and extremes of a vector, and of a matrix along each axis. */
#include <stdio.h>
#include <tilemm.h>

int main(void)
{
    enum { ROWS = 2, COLS = 3 };
    const float a[ROWS * COLS] = {1, -2, 3, 4, 5, -6};
    float sum = 0, norm = 0, columns[COLS], rows[ROWS];
    int64_t largest = -1;
    tilemm_t ctx;
    if (tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) != TILEMM_SUCCESS)
        return 1;
    if (tilemm_ssum(ctx, ROWS * COLS, a, 1, &sum) != TILEMM_SUCCESS ||
        tilemm_snrm2(ctx, ROWS * COLS, a, 1, &norm) != TILEMM_SUCCESS ||
        tilemm_isamax(ctx, ROWS * COLS, a, 1, &largest) != TILEMM_SUCCESS ||
        tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, ROWS, COLS, a, COLS,
                       columns, 1) != TILEMM_SUCCESS ||
        tilemm_sreduce(ctx, TILEMM_MAX, TILEMM_AXIS_COLS, TILEMM_ROW_MAJOR, ROWS, COLS, a, COLS,
                       rows, 1) != TILEMM_SUCCESS)
        fprintf(stderr, "%s\n", tilemm_last_error(ctx));
    printf("sum %g, norm %g, largest |x| at %lld\n", sum, norm, (long long)largest);
    printf("column sums %g %g %g\n", columns[0], columns[1], columns[2]);
    printf("row maxima %g %g\n", rows[0], rows[1]);
    return tilemm_destroy(ctx) != TILEMM_SUCCESS;
}
