/* plan_strips_cuda.c - strips of transposes on a GPU: tiles as narrow or as low as the matrix. See
 * kernels/transpose/cuda/strip.cu and strip_bytes.cu.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "cost_cuda.h"
#include "lib/size.h"
#include "plan_cuda.h"

#define cost tilemm__transpose_cost

/* The bytes of an access that suits every line of a strip's tile, on one side: 16 or an element. A
 * line is `width` elements, of full_width; or a matrix, or the tile, where nothing lies between. */
static int strip_unit(const tilemm__transpose_args_t *args, int tile_batch, const void *pointer,
                      int64_t ld, int64_t stride, int64_t width, int64_t full_width, int64_t height,
                      int64_t full_height)
{
    const int64_t size = (int64_t)args->elem_size;
    uint64_t all = (uint64_t)(uintptr_t)pointer | 16;
    int64_t length = width, lines = height * tile_batch;
    if (args->batch_count > 1)
        all |= (uint64_t)(stride * size);
    if (width == full_width && ld == full_width) {
        length = width * height;
        lines = tile_batch;
        if (height < full_height)
            all |= (uint64_t)(length * size);
        else if (lines > 1 && stride == length) {
            length *= lines;
            lines = 1;
            all = (uint64_t)(uintptr_t)pointer | 16 | (uint64_t)(length * size);
        }
    } else {
        all |= (uint64_t)(ld * size);
        if (width < full_width)
            all |= (uint64_t)(width * size);
    }
    if (lines > 1)
        all |= (uint64_t)(length * size);
    return (all & -all) == 16 && size < 16 ? 16 : (int)size;
}

/* How many lanes of a warp are busy, on average, where each transposes `together` of the lines. */
static int busy_lanes(int lines, int together)
{
    const int wanted = (lines - 1) / together + 1;
    return wanted / ((wanted - 1) / 32 + 1);
}

/* What lanes transpose: columns or rows of a matrix; or whole matrices, if that keeps as many lanes
 * busy: then lanes' lines at a time, if there are that many. */
static void plan_lines(tilemm__transpose_tiles_t *tiles, tilemm__strip_lines_t *lines)
{
    enum { LANES = 32 };
    const int size = tiles->elem_size, rows = tiles->tile_rows, cols = tiles->tile_cols;
    const int area = rows * cols, batch = tiles->tile_batch;
    const int matrix = tilemm__strip_together(area * size);
    lines->groups = batch;
    lines->lines = cols >= rows ? cols : rows;
    lines->in_line = cols >= rows ? 1 : cols;
    lines->out_line = cols >= rows ? rows : 1;
    lines->across = cols >= rows ? 1 : cols;
    lines->down = cols >= rows ? rows : 1;
    lines->together = tilemm__strip_together(lines->in_line * lines->out_line * size);
    if (batch > 1 && busy_lanes(batch, matrix) >= busy_lanes(lines->lines, lines->together)) {
        if (batch >= LANES * matrix)
            tiles->tile_batch -= batch % (LANES * matrix);
        lines->groups = 1;
        lines->lines = tiles->tile_batch;
        lines->in_line = lines->out_line = area;
        lines->across = cols;
        lines->down = rows;
        lines->together = matrix;
    }
    lines->sets = (lines->lines - 1) / (LANES * lines->together) + 1;
    const int warps = TILEMM__TRANSPOSE_THREADS / LANES / (lines->groups * lines->sets);
    lines->parts = warps > 1 ? warps : 1;
    lines->elements = ((lines->across * lines->down - 1) / lines->parts + 4) / 4 * 4;
}

/* A tile as narrow as the matrix, with as much of its other side as there is room for, and as many
 * matrices; in multiples of 16 bytes, so that these may be accessed at once. */
static void plan_tile(const tilemm__transpose_args_t *args, int64_t bytes, int sm_count,
                      tilemm__transpose_tiles_t *tiles, tilemm__strip_lines_t *lines)
{
    const int size = tiles->elem_size;
    const int64_t unit = 16 / size;
    const int halved =
        lines && bytes / TILEMM__TRANSPOSE_STRIP_BYTES < cost.half_strips * (int64_t)sm_count;
    const int64_t room = TILEMM__TRANSPOSE_STRIP_BYTES / (halved ? 2 : 1) / size;
    int64_t rows = args->rows, cols = args->cols;
    if (cols <= rows)
        rows = tilemm__min(rows, room / cols / unit * unit);
    else
        cols = tilemm__min(cols, room / rows / unit * unit);
    tiles->tile_rows = (int)rows;
    tiles->tile_cols = (int)cols;
    if (rows == args->rows && cols == args->cols && args->batch_count > 1) {
        tiles->tile_batch = (int)tilemm__min(room / (rows * cols), args->batch_count);
        if (tiles->tile_batch > unit)
            tiles->tile_batch -= tiles->tile_batch % (int)unit;
    }
    if (lines)
        plan_lines(tiles, lines);
    tiles->unit_in = strip_unit(args, tiles->tile_batch, args->src, args->ld_src, args->stride_src,
                                cols, args->cols, rows, args->rows);
    tiles->unit_out = strip_unit(args, tiles->tile_batch, args->dst, args->ld_dst, args->stride_dst,
                                 rows, args->rows, cols, args->cols);
}

/* The lines of one side of a strip: `length` consecutive elements, `each` times a matrix, of
 * full_length and ld and stride in memory. */
static tilemm__strip_side_t side_of(const tilemm__transpose_tiles_t *tiles, int length, int each,
                                    int64_t full_length, int64_t ld, int64_t stride, int unit_bytes)
{
    const int area = length * each;
    const int whole = tiles->tile_rows == tiles->rows && tiles->tile_cols == tiles->cols;
    const int packed = length == full_length && ld == full_length;
    const int together = packed && whole && stride == tiles->rows * tiles->cols;
    tilemm__strip_side_t side = {.unit = (int)tilemm__max(unit_bytes / tiles->elem_size, 1)};
    side.length = together ? area * tiles->tile_batch : packed ? area : length;
    side.each = together ? 0 : packed ? 1 : each;
    side.lines = together ? 1 : side.each * tiles->tile_batch;
    side.by_each = tilemm__division_by(side.each ? (uint32_t)side.each : 1);
    while (side.log_lanes < 8 && side.unit << side.log_lanes < side.length)
        side.log_lanes++;
    return side;
}

static tilemm__strip_side_t side_in(const tilemm__transpose_tiles_t *tiles)
{
    return side_of(tiles, tiles->tile_cols, tiles->tile_rows, tiles->cols, tiles->ld_src,
                   tiles->stride_src, tiles->unit_in);
}

static tilemm__strip_side_t side_out(const tilemm__transpose_tiles_t *tiles)
{
    return side_of(tiles, tiles->tile_rows, tiles->tile_cols, tiles->rows, tiles->ld_dst,
                   tiles->stride_dst, tiles->unit_out);
}

/* Tiles in a row of them, in a matrix, in all. */
static void count_tiles(const tilemm__transpose_tiles_t *tiles, uint64_t *across, uint64_t *each,
                        uint64_t *all)
{
    *across = (uint64_t)tilemm__div_up(tiles->cols, tiles->tile_cols);
    *each = (uint64_t)tilemm__div_up(tiles->rows, tiles->tile_rows) * *across;
    *all = *each * (uint64_t)tilemm__div_up(tiles->batch, tiles->tile_batch);
}

void tilemm__plan_transpose_strip(const tilemm__transpose_args_t *args, int64_t bytes, int sm_count,
                                  tilemm__transpose_strip_t *strip)
{
    tilemm__transpose_tiles_t *tiles = &strip->of;
    plan_tile(args, bytes, sm_count, tiles, NULL);
    strip->in = side_in(tiles);
    strip->out = side_out(tiles);
    strip->by_rows = tilemm__division_by((uint32_t)tiles->tile_rows);
    strip->by_cols = tilemm__division_by((uint32_t)tiles->tile_cols);
    count_tiles(tiles, &strip->tile_cols_count, &strip->each, &strip->tiles);
}

/* Lanes transpose lines that are lanes_apart bytes from each other in the side's buffer. */
static tilemm__strip_buffer_t buffer_of(tilemm__strip_side_t side, int64_t ld, int64_t stride,
                                        int lanes_apart)
{
    tilemm__strip_buffer_t buffer = {.ld = ld, .stride = stride};
    buffer.length = side.length;
    buffer.lines = side.lines;
    buffer.each = side.each;
    buffer.by_each = side.by_each;
    buffer.log_lanes = side.log_lanes;
    buffer.unit = side.unit;
    buffer.period = tilemm__strip_period(lanes_apart);
    buffer.mask = tilemm__strip_mask(lanes_apart);
    buffer.by_period = tilemm__division_by((uint32_t)buffer.period);
    return buffer;
}

void tilemm__plan_transpose_strip_bytes(const tilemm__transpose_args_t *args, int64_t bytes,
                                        int sm_count, tilemm__transpose_strip_bytes_t *strip)
{
    tilemm__transpose_tiles_t *tiles = &strip->of;
    tilemm__strip_lines_t *lines = &strip->lines;
    plan_tile(args, bytes, sm_count, tiles, lines);
    strip->in = buffer_of(side_in(tiles), tiles->ld_src, tiles->stride_src,
                          lines->in_line * lines->together * tiles->elem_size);
    strip->out = buffer_of(side_out(tiles), tiles->ld_dst, tiles->stride_dst,
                           lines->out_line * lines->together * tiles->elem_size);
    strip->by_parts = tilemm__division_by((uint32_t)lines->parts);
    strip->by_sets = tilemm__division_by((uint32_t)lines->sets);
    strip->by_down = tilemm__division_by((uint32_t)lines->down);
    count_tiles(tiles, &strip->tile_cols_count, &strip->each, &strip->tiles);
}
