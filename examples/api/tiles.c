/* A tile of 32 x 32 floats that a warp reads by rows and by columns: the
 * pad without conflicts, and the swizzle. It prints:
 *
 *     pad: 33 elements a row, 0 conflicts
 *     swizzle: element (1, 0) at 33, 0 conflicts
 */
#include <stdio.h>
#include <tilemm.h>

int main(void)
{
    const tilemm_tile_access_t accesses[2] = {
        {.high = 1, .wide = 32, .vector = 1},
        {.high = 32, .wide = 1, .vector = 1},
    };
    tilemm_tile_layout_t pad, swizzle;
    if (tilemm_model_best_padding(90, 32, 32, 4, accesses, 2, 0, &pad) !=
            TILEMM_SUCCESS ||
        tilemm_model_best_padding(90, 32, 32, 4, accesses, 2, 1,
                                  &swizzle) != TILEMM_SUCCESS)
        return 1;
    printf("pad: %d elements a row, %d conflicts\n", pad.pitch,
           pad.conflicts);
    printf("swizzle: element (1, 0) at %d, %d conflicts\n",
           (int)tilemm_model_tile_index(&swizzle, 1, 0), swizzle.conflicts);
    return 0;
}
