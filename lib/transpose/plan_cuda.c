/* plan_cuda.c - see plan_cuda.h: the rows of kernels, and plans out of place.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_cuda.h"

#include <stdio.h>
#include <string.h>

#include "cost_cuda.h"
#include "lib/size.h"

#define cost tilemm__transpose_cost

/* ---- rows ----------------------------------------------------------------------------------- */

#define STRING(text) STRING_OF(text)
#define STRING_OF(text) #text
/* clang-format off */
#define ROW(method, tag, ...)                                                                      \
    {STRING(TILEMM__TRANSPOSE_NAME(method, tag)), TILEMM__TRANSPOSE_BY_##method, __VA_ARGS__},
/* clang-format on */
const tilemm__transpose_row_t tilemm__transpose_rows[TILEMM__TRANSPOSE_VARIANTS] = {
    TILEMM__TRANSPOSE_ROWS(ROW)};

tilemm__transpose_variant_t tilemm__transpose_row(tilemm__transpose_by_t method, int bytes,
                                                  int alignment, int facet)
{
    int found = TILEMM__TRANSPOSE_VARIANTS;
    for (int i = 0; i < TILEMM__TRANSPOSE_VARIANTS; i++) {
        const tilemm__transpose_row_t *row = &tilemm__transpose_rows[i];
        if (row->method == method && row->bytes == bytes && row->facet == facet &&
            row->access <= alignment &&
            (found == TILEMM__TRANSPOSE_VARIANTS ||
             row->access > tilemm__transpose_rows[found].access))
            found = i;
    }
    return (tilemm__transpose_variant_t)found;
}

int tilemm__transpose_is_allowed(const tilemm__limits_t *limits, const char *name)
{
    return strncmp(name, limits->variant, strlen(limits->variant)) == 0;
}

int tilemm__transpose_alignment(const void *pointer, int64_t ld, int64_t stride, int64_t batch,
                                size_t elem_size)
{
    uint64_t all = (uint64_t)(uintptr_t)pointer | (uint64_t)ld * elem_size | 16;
    if (batch > 1)
        all |= (uint64_t)stride * elem_size;
    return (int)(all & -all);
}

/* ---- the problem ---------------------------------------------------------------------------- */

/* What choices depend on. */
typedef struct {
    const tilemm__transpose_args_t *args;
    int size; /* of an element */
    int sm_count;
    int zero;                     /* fill with zeros */
    int64_t shorter, each, bytes; /* side; elements of a matrix; bytes of all */
    int aligned_dst, aligned;     /* of the destination, of both operands */
    int streaming;                /* more data than the L2 cache should hold */
    int64_t packed_bytes;         /* of a matrix that fits in shared memory */
} problem_t;

/* x y, or INT64_MAX if that is less. */
static int64_t product(int64_t x, int64_t y)
{
    return x != 0 && y > INT64_MAX / x ? INT64_MAX : x * y;
}

static problem_t problem_of(const tilemm__transpose_args_t *args,
                            const tilemm__cuda_traits_t *traits)
{
    problem_t p = {.args = args, .size = (int)args->elem_size, .sm_count = traits->sm_count};
    p.zero = args->scaled && args->alpha == 0.0f;
    p.shorter = tilemm__min(args->rows, args->cols);
    p.each = product(args->rows, args->cols);
    p.bytes = product(product(p.each, p.size), args->batch_count);
    p.aligned_dst = tilemm__transpose_alignment(args->dst, args->ld_dst, args->stride_dst,
                                                args->batch_count, args->elem_size);
    p.aligned = p.aligned_dst;
    if (!p.zero)
        p.aligned = (int)tilemm__min(
            p.aligned, tilemm__transpose_alignment(args->src, args->ld_src, args->stride_src,
                                                   args->batch_count, args->elem_size));
    p.packed_bytes = tilemm__min(cost.packed_bytes, (int64_t)traits->shared_per_block - 32);
    p.streaming = p.bytes > (int64_t)((double)traits->l2_bytes * cost.streaming_share);
    return p;
}

/* The gathering kernel takes results without gaps. */
static int is_gapless(const tilemm__transpose_args_t *args, int64_t each)
{
    return tilemm__transpose_alignment(args->dst, 0, 0, 1, args->elem_size) == 16 &&
           args->ld_dst == args->rows && (args->batch_count == 1 || args->stride_dst == each);
}

/* The packed kernel takes a batch without gaps on either side. */
static int is_packed(const problem_t *p)
{
    const tilemm__transpose_args_t *args = p->args;
    return p->size <= 2 && args->batch_count > 1 && args->rows * p->size >= 16 &&
           args->ld_src == args->cols && args->ld_dst == args->rows &&
           args->stride_src == p->each && args->stride_dst == p->each &&
           p->each * p->size <= p->packed_bytes;
}

/* The kernel for few columns has a row for each number of them. */
static int is_few(const problem_t *p)
{
    const tilemm__transpose_args_t *args = p->args;
    return args->batch_count == 1 && args->ld_src == args->cols && p->aligned_dst == 16 &&
           tilemm__transpose_alignment(args->src, 0, 0, 1, args->elem_size) == 16;
}

/* Whether an index of 32 bits holds every element of source and result, and the ones that the last
 * blocks number behind the end. */
static int has_short_index(const tilemm__transpose_args_t *args)
{
    /* As far from the first matrix as an index comes: the stride may be negative. */
    const int64_t stride = args->stride_src < 0 ? -args->stride_src : args->stride_src;
    const int64_t last = (args->batch_count - 1) * stride + args->rows * args->ld_src + args->cols;
    const int64_t room = INT32_MAX - 2 * TILEMM__TRANSPOSE_THREADS * 16;
    return last <= room && args->rows * args->cols * args->batch_count <= room;
}

/* ---- copies --------------------------------------------------------------------------------- */

static void fill_copy(const problem_t *p, const tilemm__transpose_row_t *row,
                      tilemm__transpose_cuda_plan_t *plan)
{
    const tilemm__transpose_args_t *args = p->args;
    /* Filling with zeros may come with a transpose: the shape is the result's. */
    const int64_t rows = args->trans ? args->cols : args->rows;
    const int64_t cols = args->trans ? args->rows : args->cols;
    tilemm__transpose_copy_t *copy = &plan->arm.copy;
    /* What is not read need not be there: it has the shape of the result, too. */
    copy->of.src = p->zero ? args->dst : args->src;
    copy->of.dst = args->dst;
    copy->of.rows = rows;
    copy->of.cols = cols;
    copy->of.batch = args->batch_count;
    copy->of.ld_src = p->zero ? args->ld_dst : args->ld_src;
    copy->of.ld_dst = args->ld_dst;
    copy->of.stride_src = p->zero ? args->stride_dst : args->stride_src;
    copy->of.stride_dst = args->stride_dst;
    copy->of.elem_size = p->size;
    copy->of.unit = row->access;
    copy->of.scaled = args->scaled && args->alpha != 1.0f;
    copy->of.zero = p->zero;
    copy->of.alpha = args->alpha;
    /* As one row, where nothing lies between rows. */
    if (copy->of.ld_dst == cols && copy->of.ld_src == cols &&
        (args->batch_count == 1 ||
         (copy->of.stride_dst == rows * cols && copy->of.stride_src == rows * cols))) {
        copy->of.cols = rows * cols * args->batch_count;
        copy->of.rows = copy->of.batch = 1;
    }
    /* In a row, the last perhaps in part. */
    const int64_t units = tilemm__div_up(copy->of.cols, tilemm__max(row->access / p->size, 1));
    for (copy->of.block_cols = 1;
         copy->of.block_cols < units && copy->of.block_cols < row->threads;)
        copy->of.block_cols *= 2;
    /* A thread's units lie along the row where a row has enough of them, else down the rows. */
    if (units >= (int64_t)copy->of.block_cols * TILEMM__COPY_UNITS) {
        copy->col_step = copy->of.block_cols;
        copy->tile_rows = row->threads / copy->of.block_cols;
        copy->tile_cols = copy->of.block_cols * TILEMM__COPY_UNITS;
    } else {
        copy->row_step = row->threads / copy->of.block_cols;
        copy->tile_rows = copy->row_step * TILEMM__COPY_UNITS;
        copy->tile_cols = copy->of.block_cols;
    }
    copy->tiles_down = (uint64_t)tilemm__div_up(copy->of.rows, copy->tile_rows);
    copy->tiles_across = (uint64_t)tilemm__div_up(units, copy->tile_cols);
    copy->tiles = copy->tiles_down * copy->tiles_across * (uint64_t)copy->of.batch;
}

/* ---- strips --------------------------------------------------------------------------------- */

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
static void plan_strip_tile(const problem_t *p, tilemm__transpose_tiles_t *tiles,
                            tilemm__strip_lines_t *lines)
{
    const tilemm__transpose_args_t *args = p->args;
    const int64_t unit = 16 / p->size;
    const int halved =
        lines && p->bytes / TILEMM__TRANSPOSE_STRIP_BYTES < cost.half_strips * (int64_t)p->sm_count;
    const int64_t room = TILEMM__TRANSPOSE_STRIP_BYTES / (halved ? 2 : 1) / p->size;
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

static void fill_strip(tilemm__transpose_strip_t *strip)
{
    const tilemm__transpose_tiles_t *tiles = &strip->of;
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

static void fill_strip_bytes(tilemm__transpose_strip_bytes_t *strip)
{
    const tilemm__transpose_tiles_t *tiles = &strip->of;
    const tilemm__strip_lines_t *lines = &strip->lines;
    strip->in = buffer_of(side_in(tiles), tiles->ld_src, tiles->stride_src,
                          lines->in_line * lines->together * tiles->elem_size);
    strip->out = buffer_of(side_out(tiles), tiles->ld_dst, tiles->stride_dst,
                           lines->out_line * lines->together * tiles->elem_size);
    strip->by_parts = tilemm__division_by((uint32_t)lines->parts);
    strip->by_sets = tilemm__division_by((uint32_t)lines->sets);
    strip->by_down = tilemm__division_by((uint32_t)lines->down);
    count_tiles(tiles, &strip->tile_cols_count, &strip->each, &strip->tiles);
}

/* ---- the choice ----------------------------------------------------------------------------- */

static uint64_t tiles_of(const tilemm__transpose_args_t *args, int64_t tile_rows, int64_t tile_cols)
{
    return (uint64_t)product(
        product(tilemm__div_up(args->rows, tile_rows), tilemm__div_up(args->cols, tile_cols)),
        args->batch_count);
}

/* Square tiles: small ones where there are few, or where more of them is full. */
static int choose_tile(const problem_t *p)
{
    const int large =
        tilemm__transpose_row(TILEMM__TRANSPOSE_BY_tile, p->size, p->aligned, p->streaming);
    const tilemm__transpose_row_t *row = &tilemm__transpose_rows[large];
    int small = large;
    for (int i = large; i < TILEMM__TRANSPOSE_VARIANTS; i++) {
        const tilemm__transpose_row_t *other = &tilemm__transpose_rows[i];
        if (other->method == row->method && other->bytes == row->bytes &&
            other->access == row->access && other->facet == row->facet)
            small = i;
    }
    const int times = row->rows / tilemm__transpose_rows[small].rows;
    const int64_t tiles = (int64_t)tiles_of(p->args, row->rows, row->cols);
    const int64_t small_tiles = (int64_t)tiles_of(p->args, row->rows / times, row->cols / times);
    const int is_few = tiles <= cost.small_tiles * (int64_t)p->sm_count;
    const int is_empty = tiles / 3 * cost.full_thirds > small_tiles / times / times;
    return is_few || is_empty ? small : large;
}

/* The row for the problem by what was measured. */
static int choose(const problem_t *p)
{
    const tilemm__transpose_args_t *args = p->args;
    const int batched = args->batch_count > 1;
    const int64_t bytes = product(p->each, p->size); /* of a matrix */
    const int is_aligned = p->aligned == 16 || p->size == 16 || (p->size == 1 && p->aligned == 8);
    if (p->zero || !args->trans)
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_copy, p->size, p->aligned, 0);
    if (is_few(p) && p->size <= 2 && args->cols >= 2 && args->cols <= cost.few_cols)
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_few, p->size, 16, 0) + (int)args->cols -
               2;
    if (is_packed(p) && !is_aligned && bytes > cost.gather_bytes[p->streaming])
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_packed, p->size, 16, 0);
    if (is_gapless(args, p->each) &&
        ((batched && bytes <= cost.gather_bytes[0]) ||
         (args->rows <= cost.gather_rows[p->size < 4] && args->rows < args->cols) ||
         (args->cols <= cost.gather_cols && p->size <= cost.gather_elem_size)))
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_gather, p->size, 16,
                                     p->streaming | (has_short_index(args) ? 0 : 2));
    if (is_gapless(args, p->each) && (!is_aligned || p->shorter < cost.strip_side) &&
        ((batched && bytes <= cost.odd_bytes[p->size == 2]) ||
         product(p->each, args->batch_count) <= cost.odd_elements[p->size < 4]))
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_gather, p->size, 16,
                                     p->streaming | (has_short_index(args) ? 0 : 2));
    if (is_aligned && !batched && (p->size == 2 || p->size == 4 || p->size == 8) &&
        p->shorter >= cost.tile_side[p->size / 4])
        return choose_tile(p);
    if (p->shorter < cost.strip_side && p->shorter >= cost.narrow_side && !batched &&
        (p->size == 4 ||
         (p->size == 8 &&
          args->rows < args->cols))) /* the row for tall matrices, or the next for wide ones */
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_narrow, p->size, 16, 0) +
               (args->rows < args->cols);
    /* Matrices of a batch that leave little of a small tile empty are no strips. */
    if (p->shorter < cost.strip_side ||
        (batched && !(is_aligned && p->size >= 2) && bytes <= TILEMM__TRANSPOSE_STRIP_BYTES / 2))
        return p->size < 4
                   ? tilemm__transpose_row(TILEMM__TRANSPOSE_BY_strip_bytes, p->size, 16, 1)
                   : tilemm__transpose_row(TILEMM__TRANSPOSE_BY_strip, p->size, p->aligned, 0);
    if (is_aligned)
        return choose_tile(p);
    if (p->size >= 4 && bytes <= cost.narrow_bytes)
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_narrow, p->size, 16, 0);
    return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_shifted, p->size, 16, 0);
}

/* Whether a row can do the problem. */
static int is_able(const problem_t *p, const tilemm__transpose_row_t *row)
{
    const int transposes = p->args->trans && !p->zero;
    if (row->bytes != p->size || row->method > TILEMM__TRANSPOSE_BY_few)
        return 0;
    switch (row->method) {
    case TILEMM__TRANSPOSE_BY_copy: return !transposes && row->access <= p->aligned;
    case TILEMM__TRANSPOSE_BY_tile: return transposes && row->access <= p->aligned;
    case TILEMM__TRANSPOSE_BY_strip:
    case TILEMM__TRANSPOSE_BY_strip_bytes:
        return transposes && row->access <= p->aligned &&
               p->shorter <= TILEMM__TRANSPOSE_STRIP_BYTES / 2 / 16;
    case TILEMM__TRANSPOSE_BY_packed: return transposes && is_packed(p);
    case TILEMM__TRANSPOSE_BY_few: return transposes && p->args->cols == row->cols && is_few(p);
    case TILEMM__TRANSPOSE_BY_gather:
        return transposes && is_gapless(p->args, p->each) &&
               (row->facet & 2 || has_short_index(p->args));
    default: return transposes;
    }
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* Fill in the arm, and the launch, of a row. */
static void fill(const problem_t *p, const tilemm__transpose_row_t *row,
                 tilemm__transpose_cuda_plan_t *plan)
{
    const tilemm__transpose_args_t *args = p->args;
    tilemm__transpose_tiles_t *tiles = &plan->arm.tiles;
    if (row->method == TILEMM__TRANSPOSE_BY_copy) {
        fill_copy(p, row, plan);
        plan->launch.concurrent = 0;
        plan->launch.blocks = (unsigned)tilemm__min((int64_t)plan->arm.copy.tiles, INT32_MAX);
        return;
    }
    tiles->src = args->src;
    tiles->dst = args->dst;
    tiles->rows = args->rows;
    tiles->cols = args->cols;
    tiles->batch = args->batch_count;
    tiles->ld_src = args->ld_src;
    tiles->ld_dst = args->ld_dst;
    tiles->stride_src = args->stride_src;
    tiles->stride_dst = args->stride_dst;
    tiles->elem_size = p->size;
    tiles->scaled = args->scaled && args->alpha != 1.0f;
    tiles->alpha = args->alpha;
    tiles->access = row->access;
    tiles->streaming = p->streaming;
    tiles->tile_rows = row->rows;
    tiles->tile_cols = row->cols;
    tiles->tile_batch = 1;
    tiles->unit_in = tiles->unit_out = row->chunk;
    uint64_t count = row->rows ? tiles_of(args, row->rows, row->cols) : 0;
    switch (row->method) {
    case TILEMM__TRANSPOSE_BY_shifted:
        /* Rows of the tile beyond those written, so that writes begin at whole transfers. */
        tiles->halo = p->aligned_dst >= row->chunk ? 0 : p->size == 1 ? 16 : 32 / p->size;
        count = (uint64_t)tilemm__div_up(args->rows + tilemm__max(tiles->halo - 1, 0),
                                         row->rows - tiles->halo) *
                (uint64_t)tilemm__div_up(args->cols, row->cols) * (uint64_t)args->batch_count;
        break;
    case TILEMM__TRANSPOSE_BY_strip:
        plan_strip_tile(p, tiles, NULL);
        fill_strip(&plan->arm.strip);
        count = plan->arm.strip.tiles;
        break;
    case TILEMM__TRANSPOSE_BY_strip_bytes:
        plan_strip_tile(p, tiles, &plan->arm.strip_bytes.lines);
        fill_strip_bytes(&plan->arm.strip_bytes);
        count = plan->arm.strip_bytes.tiles;
        break;
    case TILEMM__TRANSPOSE_BY_few:
        count = (uint64_t)tilemm__div_up(args->rows, (int64_t)row->threads * row->rows);
        break;
    case TILEMM__TRANSPOSE_BY_packed:
        tiles->tile_rows = (int)args->rows;
        tiles->tile_cols = (int)args->cols;
        tiles->tile_batch = (int)tilemm__min(
            args->batch_count,
            tilemm__max(tilemm__min(p->bytes / (2 * p->sm_count), TILEMM__TRANSPOSE_STRIP_BYTES) /
                            (p->each * p->size),
                        1));
        plan->arm.packed.by_rows = tilemm__division_by((uint32_t)args->rows);
        plan->arm.packed.by_cols = tilemm__division_by((uint32_t)args->cols);
        count = (uint64_t)tilemm__div_up(args->batch_count, tiles->tile_batch);
        break;
    case TILEMM__TRANSPOSE_BY_gather:
        if (!(row->facet & 2)) {
            plan->arm.gather.by_each = tilemm__division_by((uint32_t)p->each);
            plan->arm.gather.by_rows = tilemm__division_by((uint32_t)args->rows);
        }
        count = (uint64_t)tilemm__div_up(p->bytes, (int64_t)row->threads * row->chunk);
        break;
    default: break;
    }
    plan->launch.blocks = (unsigned)(count < INT32_MAX ? count : INT32_MAX);
    /* Later the next kernel's blocks would be spread unevenly. */
    tiles->early = count <= (uint64_t)(cost.early_blocks * p->sm_count);
}

int tilemm__plan_transpose_cuda(const tilemm__transpose_args_t *args,
                                const tilemm__limits_t *limits, tilemm__transpose_cuda_plan_t *plan)
{
    const problem_t p = problem_of(args, limits->cuda);
    int variant = choose(&p);
    memset(plan, 0, sizeof *plan);
    for (int i = 0; i < TILEMM__TRANSPOSE_VARIANTS &&
                    !tilemm__transpose_is_allowed(limits, tilemm__transpose_rows[variant].name);
         i++)
        if (is_able(&p, &tilemm__transpose_rows[i]) &&
            tilemm__transpose_is_allowed(limits, tilemm__transpose_rows[i].name))
            variant = i;
    plan->launch.concurrent = limits->cuda->cc >= 90;
    fill(&p, &tilemm__transpose_rows[variant], plan);
    /* Without a swizzle where lanes do not meet in a bank as they are. */
    if (tilemm__transpose_rows[variant].method == TILEMM__TRANSPOSE_BY_strip_bytes &&
        !plan->arm.strip_bytes.in.mask && !plan->arm.strip_bytes.out.mask &&
        tilemm__transpose_rows[variant].facet)
        variant = tilemm__transpose_row(TILEMM__TRANSPOSE_BY_strip_bytes, p.size, 16, 0);
    plan->launch.variant = (tilemm__transpose_variant_t)variant;
    plan->method = tilemm__transpose_rows[variant].method;
    snprintf(plan->name, sizeof plan->name, "%s%s", tilemm__transpose_rows[variant].name,
             p.zero ? "+fill" : "");
    return TILEMM_SUCCESS;
}
