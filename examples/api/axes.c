/* Sums of columns, maxima of rows with their places, and sums of segments.
 * It prints:
 *
 *     column sums 5 3 -3
 *     row 0: 3 at 2
 *     row 1: 5 at 1
 *     segment sums -1 6
 */
#include <stdio.h>
#include <tilemm.h>

int main(void)
{
    enum { ROWS = 2, COLS = 3, SEGMENTS = 2 };
    const float a[ROWS * COLS] = {1, -2, 3, 4, 5, -6};
    const int64_t offsets[SEGMENTS + 1] = {0, 2, 6};
    float columns[COLS] = {0}, rows[ROWS] = {0}, segments[SEGMENTS] = {0};
    int64_t at[ROWS] = {0};
    tilemm_t ctx;
    if (tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) != TILEMM_SUCCESS)
        return 1;
    if (tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR,
                       ROWS, COLS, a, COLS, columns, 1) != TILEMM_SUCCESS ||
        tilemm_sargreduce(ctx, TILEMM_MAX, TILEMM_AXIS_COLS,
                          TILEMM_ROW_MAJOR, ROWS, COLS, a, COLS, rows, 1,
                          at) != TILEMM_SUCCESS ||
        tilemm_sreduce_segments(ctx, TILEMM_SUM, SEGMENTS, a, offsets,
                                segments) != TILEMM_SUCCESS)
        fprintf(stderr, "%s\n", tilemm_last_error(ctx));
    printf("column sums %g %g %g\n", columns[0], columns[1], columns[2]);
    for (int i = 0; i < ROWS; i++)
        printf("row %d: %g at %d\n", i, rows[i], (int)at[i]);
    printf("segment sums %g %g\n", segments[0], segments[1]);
    return tilemm_destroy(ctx) != TILEMM_SUCCESS;
}
