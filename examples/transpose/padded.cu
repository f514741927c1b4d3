/* padded.cu - transpose, step 3: a word of padding at the end of each row of the tile. Shows a tile
 * free of bank conflicts: with an odd pitch a column meets every bank once, as a row does.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "tile.h"

static __host__ __device__ int at(int row, int col)
{
    return row * (EDGE + 1) + col;
}

int main(int argc, char **argv)
{
    return run<EDGE *(EDGE + 1)>(argc, argv, "transpose 3: a padded tile");
}
