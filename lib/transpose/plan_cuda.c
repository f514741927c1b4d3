/* plan_cuda.c - see plan_transpose_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_cuda.h"

#include <stdio.h>
#include <string.h>

#include "kernels/transpose/inplace.h"
#include "kernels/transpose/layout.h"

/* A side shorter than this leaves too much of a square tile empty; one shorter than the other, of
 * a tile that is 32 wide, too. */
enum { NARROW = 32, THIN = 17 };

/* Matrices of a batch up to so many bytes, or any of so few rows, or columns of short elements, are
 * gathered: threads side by side read from few lines. */
enum { GATHER_BYTES = 2048, GATHER_ROWS = 16, GATHER_COLS = 4 };

/* Fewer tiles than this for each multiprocessor should be smaller ones. */
enum { FEW_TILES = 4 };

/* Workspace up to this much is worth having whatever the size of the matrix. */
enum { SMALL_WORKSPACE = 4 << 20 };

/* A slice of a run should be no longer than a line, and must not be shorter than a sector. */
enum { SLICE_MOST = 128, SLICE_LEAST = 32 };

/* Panels: every so many-th run is saved at least (few, and a prime, which goes well with any
 * shape), and at most, or chains become too few and too long. */
enum { STRIDE_LEAST = 37, STRIDE_MOST = 257 };

/* Panels that there are at least, so that rows left over are few beside them, and columns. */
enum { PANELS_LEAST = 32, PANEL_COLS_LEAST = 128 };

/* With less workspace than this many elements the single block that needs none moves as fast. */
enum { SHORT_INTERVAL = 8192 };

static int64_t at_most(int64_t x, int64_t limit)
{
    return x < limit ? x : limit;
}

static int64_t at_least(int64_t x, int64_t limit)
{
    return x > limit ? x : limit;
}

/* x y, or INT64_MAX if that is less. */
static int64_t product(int64_t x, int64_t y)
{
    return x != 0 && y > INT64_MAX / x ? INT64_MAX : x * y;
}

/* The largest power of two up to 16 that the address of every row of an operand is a multiple of.
 */
static int alignment(const void *pointer, int64_t ld, int64_t stride, int64_t batch,
                     size_t elem_size)
{
    uint64_t all = (uint64_t)(uintptr_t)pointer | (uint64_t)ld * elem_size | 16;

    if (batch > 1)
        all |= (uint64_t)stride * elem_size;
    return (int)(all & -all);
}

/* ---- out of place --------------------------------------------------------------------------- */

static void plan_copy(const tilemm__transpose_args_t *args, int aligned,
                      tilemm__transpose_plan_t *plan)
{
    const int size = (int)args->elem_size;
    const int64_t rows = args->trans ? args->cols : args->rows;
    int64_t cols = args->trans ? args->rows : args->cols, units;

    plan->kernel = TILEMM__TRANSPOSE_COPY;
    plan->access = aligned == 16 || aligned < size ? aligned : size;
    plan->flat = args->ld_dst == cols && (plan->zero || args->ld_src == cols) &&
                 (args->batch_count == 1 || (args->stride_dst == rows * cols &&
                                             (plan->zero || args->stride_src == rows * cols)));
    if (plan->flat)
        cols = rows * cols * args->batch_count;
    units = plan->access > size ? (cols - 1) / (plan->access / size) + 1 : cols;
    for (plan->block_cols = 1; plan->block_cols < units && plan->block_cols < 256;)
        plan->block_cols *= 2;
    snprintf(plan->name, sizeof plan->name, "transpose_%s_sm75_%dx%dx%d",
             plan->zero ? "fill" : "copy", TILEMM__TRANSPOSE_THREADS / plan->block_cols,
             plan->block_cols, size);
}

/* The bytes of an access that suits every line of a strip's tile, on one side: 16 or an element. A
 * line is `width` elements, of full_width; or a matrix, or the tile, where nothing lies between. */
static int strip_unit(const tilemm__transpose_args_t *args, const tilemm__transpose_plan_t *plan,
                      const void *pointer, int64_t ld, int64_t stride, int64_t width,
                      int64_t full_width, int64_t height, int64_t full_height)
{
    const int64_t size = (int64_t)args->elem_size;
    uint64_t all = (uint64_t)(uintptr_t)pointer | 16;
    int64_t length = width, lines = height * plan->tile_batch;

    if (args->batch_count > 1)
        all |= (uint64_t)(stride * size);
    if (width == full_width && ld == full_width) {
        length = width * height;
        lines = plan->tile_batch;
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

/* How many lanes of a warp are busy, on average, that turn over so many lines each. */
static int busy_lanes(int lines, int together)
{
    const int wanted = (lines - 1) / together + 1;

    return wanted / ((wanted - 1) / 32 + 1);
}

/* What lanes turn over: columns or rows of a matrix; or whole matrices, if that keeps as many lanes
 * busy: then lanes' lines at a time, if there are so many. */
static void plan_turn(const tilemm__transpose_args_t *args, tilemm__transpose_plan_t *plan)
{
    enum { LANES = 32 };
    const int size = (int)args->elem_size;
    const int rows = plan->tile_rows, cols = plan->tile_cols, area = rows * cols;
    const int batch = plan->tile_batch, matrix = tilemm__short_together(area * size);
    tilemm__transpose_turn_t *turn = &plan->turn;
    int warps;

    turn->groups = batch;
    turn->lines = cols >= rows ? cols : rows;
    turn->in_line = cols >= rows ? 1 : cols;
    turn->out_line = cols >= rows ? rows : 1;
    turn->across = cols >= rows ? 1 : cols;
    turn->down = cols >= rows ? rows : 1;
    turn->together = tilemm__short_together(turn->in_line * turn->out_line * size);
    if (batch > 1 && busy_lanes(batch, matrix) >= busy_lanes(turn->lines, turn->together)) {
        if (batch >= LANES * matrix)
            plan->tile_batch -= batch % (LANES * matrix);
        turn->groups = 1;
        turn->lines = plan->tile_batch;
        turn->in_line = turn->out_line = area;
        turn->across = cols;
        turn->down = rows;
        turn->together = matrix;
    }
    turn->sets = (turn->lines - 1) / (LANES * turn->together) + 1;
    warps = TILEMM__TRANSPOSE_THREADS / 32 / (turn->groups * turn->sets);
    turn->parts = warps > 1 ? warps : 1;
    turn->share = ((turn->across * turn->down - 1) / turn->parts + 4) / 4 * 4;
}

/* A tile as narrow as the matrix, with as much of its other side as there is room for, and as many
 * matrices; in multiples of 16 bytes, so that these may be accessed at once. */
static void plan_strip(const tilemm__transpose_args_t *args, const tilemm__cuda_traits_t *traits,
                       int aligned, tilemm__transpose_plan_t *plan)
{
    const int64_t size = (int64_t)args->elem_size, unit = 16 / size;
    /* Short elements: half a tile, where tiles are few. */
    const int64_t all = product(product(args->rows, args->cols), args->batch_count * size);
    const int few = size < 4 && all / TILEMM__TRANSPOSE_STRIP_BYTES < 2 * traits->sm_count;
    const int64_t room = TILEMM__TRANSPOSE_STRIP_BYTES / (few ? 2 : 1) / size;
    int64_t rows = args->rows, cols = args->cols;

    if (cols <= rows)
        rows = at_most(rows, room / cols / unit * unit);
    else
        cols = at_most(cols, room / rows / unit * unit);
    plan->kernel = size < 4 ? TILEMM__TRANSPOSE_SHORT : TILEMM__TRANSPOSE_STRIP;
    plan->access = aligned < (int)size ? aligned : (int)size;
    plan->tile_rows = (int)rows;
    plan->tile_cols = (int)cols;
    if (rows == args->rows && cols == args->cols && args->batch_count > 1) {
        plan->tile_batch = (int)at_most(room / (rows * cols), args->batch_count);
        if (plan->tile_batch > unit)
            plan->tile_batch -= plan->tile_batch % (int)unit;
    }
    if (size < 4)
        plan_turn(args, plan);
    plan->unit_in = strip_unit(args, plan, args->src, args->ld_src, args->stride_src, cols,
                               args->cols, rows, args->rows);
    plan->unit_out = strip_unit(args, plan, args->dst, args->ld_dst, args->stride_dst, rows,
                                args->rows, cols, args->cols);
}

static int64_t tiles_along(int64_t length, int edge)
{
    return (length - 1) / edge + 1;
}

/* Square tiles: small ones where there are few, or where more of them is full. */
static void plan_chunks(const tilemm__transpose_args_t *args, const tilemm__cuda_traits_t *traits,
                        tilemm__transpose_plan_t *plan)
{
    static const int edges[] = {256, 128, 64, 32, 32}, small_edges[] = {128, 64, 32, 32, 16};
    const int size = (int)args->elem_size;
    int kind = 0, edge, small;
    int64_t tiles, small_tiles;

    while (1 << kind < size)
        kind++;
    edge = edges[kind];
    small = small_edges[kind];
    tiles = product(product(tiles_along(args->rows, edge), tiles_along(args->cols, edge)),
                    args->batch_count);
    small_tiles = product(product(tiles_along(args->rows, small), tiles_along(args->cols, small)),
                          args->batch_count);
    if (tiles <= FEW_TILES * (int64_t)traits->sm_count ||
        tiles / 3 * 2 > small_tiles / (edge / small) / (edge / small))
        edge = small;
    plan->kernel = TILEMM__TRANSPOSE_CHUNKS;
    plan->tile_rows = plan->tile_cols = edge;
}

/* Tiles for rows that are not aligned, and how many rows more they need to write to whole
 * transfers. */
static void plan_shifted(const tilemm__transpose_args_t *args, int aligned_dst,
                         tilemm__transpose_plan_t *plan)
{
    const int size = (int)args->elem_size, chunk = size == 1 ? 8 : 16;

    plan->kernel = TILEMM__TRANSPOSE_SHIFTED;
    plan->access = chunk;
    plan->tile_rows = size == 2 ? 256 : size == 8 ? 64 : 128;
    plan->tile_cols = size == 1 ? 128 : size == 8 ? 32 : 64;
    plan->halo = aligned_dst >= chunk ? 0 : size == 1 ? 16 : 32 / size;
}

/* Whether the gathering kernel takes it, and should: nothing lies between the result's elements. */
static int is_gathered(const tilemm__transpose_args_t *args)
{
    const int64_t each = product(args->rows, args->cols);
    const int batched = args->batch_count > 1;

    return alignment(args->dst, 0, 0, 1, args->elem_size) == 16 && args->ld_dst == args->rows &&
           (!batched || args->stride_dst == each) &&
           ((batched && product(each, (int64_t)args->elem_size) <= GATHER_BYTES) ||
            (args->rows <= GATHER_ROWS && args->rows < args->cols) ||
            (args->cols <= GATHER_COLS && args->elem_size <= 4));
}

void tilemm__plan_transpose_cuda(const tilemm__transpose_args_t *args,
                                 const tilemm__cuda_traits_t *traits,
                                 tilemm__transpose_plan_t *plan)
{
    const int size = (int)args->elem_size;
    const int64_t shorter = at_most(args->rows, args->cols);
    const int64_t each = product(product(args->rows, args->cols), size);
    const int aligned_dst =
        alignment(args->dst, args->ld_dst, args->stride_dst, args->batch_count, args->elem_size);
    int aligned = aligned_dst, fits;
    const char *method;

    memset(plan, 0, sizeof *plan);
    plan->zero = args->scaled && args->alpha == 0.0f;
    plan->tile_batch = 1;
    plan->streaming = product(each, args->batch_count) > (int64_t)(traits->l2_bytes / 2);
    if (!plan->zero)
        aligned = (int)at_most(aligned, alignment(args->src, args->ld_src, args->stride_src,
                                                  args->batch_count, args->elem_size));
    if (plan->zero || !args->trans) {
        plan_copy(args, aligned, plan);
        return;
    }
    plan->access = size == 1 ? 8 : aligned;
    fits = aligned == 16 || size == 16 || (size == 1 && aligned == 8);
    /* Matrices of a batch that leave little of a small tile empty are no strips. */
    if (is_gathered(args)) {
        plan->kernel = TILEMM__TRANSPOSE_GATHER;
        plan->access = size;
        plan->tile_rows = 1;
        plan->tile_cols = 16 / size;
        method = "gather";
    } else if (shorter < NARROW && shorter >= THIN && args->batch_count == 1 &&
               (size == 4 || size == 8)) {
        plan->kernel = TILEMM__TRANSPOSE_NARROW;
        plan->access = size;
        plan->tile_rows = args->rows < args->cols ? 32 : 128;
        plan->tile_cols = args->rows < args->cols ? 128 : 32;
        method = "narrow";
    } else if (shorter < NARROW || (args->batch_count > 1 && !(fits && size >= 4) &&
                                    each <= TILEMM__TRANSPOSE_STRIP_BYTES / 2)) {
        plan_strip(args, traits, aligned, plan);
        method = "strip";
    } else if (fits) {
        plan_chunks(args, traits, plan);
        method = "tile";
    } else {
        plan_shifted(args, aligned_dst, plan);
        method = "shifted";
    }
    snprintf(plan->name, sizeof plan->name, "transpose_%s_sm75_%dx%dx%d", method, plan->tile_rows,
             plan->tile_cols, size);
}

/* ---- in place ------------------------------------------------------------------------------- */

/* The problem in the terms of inplace.h; for no transpose, of the move alone. */
static void plan_view(const tilemm__transpose_args_t *args, tilemm__transpose_inplace_plan_t *plan)
{
    const int64_t total = args->rows * args->cols;

    plan->forward = tilemm__inplace_forward(args->rows, args->cols);
    plan->m = plan->forward ? args->rows : args->cols;
    plan->n = plan->forward ? args->cols : args->rows;
    plan->move = !tilemm__slots_agree(total, args->cols, args->ld_src,
                                      args->trans ? args->rows : args->cols, args->ld_dst);
}

static size_t round_256(int64_t bytes)
{
    return (size_t)(bytes + 255) / 256 * 256;
}

/* Lay out the workspace of the method of panels. Returns the bytes of it, with as much saved as is
 * best, or 0 if the shape is not for that method. */
static size_t plan_panels(const tilemm__transpose_args_t *args, const tilemm__cuda_traits_t *traits,
                          tilemm__transpose_inplace_plan_t *plan)
{
    const int64_t size = (int64_t)args->elem_size, height = TILEMM__RUN_BYTES / size;
    const int64_t panels = plan->m / height, rest = plan->m % height;
    const int64_t shared = (int64_t)traits->shared_per_block / TILEMM__PANEL_SHARED;
    const int64_t blocks = traits->sm_count * at_most(shared, TILEMM__PANEL_BLOCKS);
    int64_t runs;

    /* All the tiles of a panel must be able to run at once. */
    if (plan->move || panels < PANELS_LEAST || plan->n < PANEL_COLS_LEAST ||
        (plan->n - 1) / TILEMM__PANEL_WIDTH >= blocks || plan->n >= UINT32_MAX / panels)
        return 0;
    runs = panels * plan->n;
    plan->chunks = panels;
    plan->length = height;
    plan->rest = rest;
    plan->rest_bytes = round_256(rest * plan->n * size);
    plan->stride = STRIDE_LEAST;
    plan->counts_at = plan->rest_bytes;
    plan->marks_at = plan->counts_at + round_256(panels * 4);
    plan->saved_at = plan->marks_at + round_256(runs / 8 + 4);
    return plan->saved_at + (size_t)(runs / STRIDE_LEAST + 1) * TILEMM__RUN_BYTES;
}

/* The method of panels with so much workspace; -1 if that is too little. */
static int choose_panels(const tilemm__transpose_args_t *args, const tilemm__cuda_traits_t *traits,
                         int64_t workspace, tilemm__transpose_inplace_plan_t *plan)
{
    tilemm__transpose_inplace_plan_t panels = *plan;
    int64_t runs, room;

    if (plan_panels(args, traits, &panels) == 0 || (int64_t)panels.saved_at >= workspace)
        return -1;
    runs = panels.chunks * panels.n;
    room = (workspace - (int64_t)panels.saved_at) / TILEMM__RUN_BYTES;
    while (panels.stride <= STRIDE_MOST && (runs - 1) / panels.stride + 1 > room)
        panels.stride += 2;
    if (panels.stride > STRIDE_MOST)
        return -1;
    *plan = panels;
    plan->method = TILEMM__INPLACE_PANELS;
    snprintf(plan->name, sizeof plan->name, "transpose_panels_sm75_%dx%dx%d", (int)plan->length,
             TILEMM__PANEL_WIDTH, (int)args->elem_size);
    return 0;
}

size_t tilemm__transpose_inplace_cuda_want(const tilemm__transpose_args_t *args,
                                           const tilemm__cuda_traits_t *traits)
{
    tilemm__transpose_inplace_plan_t plan;
    int64_t bytes, want;

    memset(&plan, 0, sizeof plan);
    plan_view(args, &plan);
    if ((args->scaled && args->alpha == 0.0f) ||
        (!plan.move && (!args->trans || plan.n == 1 || plan.m == plan.n)))
        return 0;
    bytes = plan.m * plan.n * (int64_t)args->elem_size;
    want = at_least(bytes / 32, at_most(bytes, SMALL_WORKSPACE));
    /* Rows that shared memory does not hold need room, for several at a time. */
    if ((size_t)plan.n * args->elem_size > traits->shared_per_block)
        want = at_least(want, plan.n * (int64_t)args->elem_size);
    if (args->trans && plan.n > 1 && plan.m != plan.n)
        want = at_least(want, (int64_t)plan_panels(args, traits, &plan));
    return (size_t)((want + 255) / 256 * 256);
}

static void plan_swap(const tilemm__transpose_args_t *args, tilemm__transpose_inplace_plan_t *plan)
{
    const int size = (int)args->elem_size, chunk = size <= 2 ? 8 : 16;
    const int aligned = alignment(args->dst, args->ld_src, 0, 1, args->elem_size);

    plan->method = TILEMM__INPLACE_SWAP;
    plan->access = size == 16 ? aligned : aligned >= chunk ? chunk : 0;
    plan->tile = size == 1 && plan->access ? 128 : size <= 4 ? 64 : 32;
    snprintf(plan->name, sizeof plan->name, "transpose_swap_sm75_%dx%dx%d", plan->tile, plan->tile,
             size);
}

/* Blocks of rows small enough for the workspace, few enough for a slice of each run to fit shared
 * memory; if it can be had, a number that leaves no rows over. */
static int plan_runs(const tilemm__transpose_args_t *args, const tilemm__cuda_traits_t *traits,
                     int64_t workspace, tilemm__transpose_inplace_plan_t *plan)
{
    const int64_t size = (int64_t)args->elem_size, row = plan->n * size;
    const int64_t shared = (int64_t)traits->shared_per_block;
    const int64_t most = at_most(shared / (plan->n * at_least(SLICE_LEAST, size)), plan->m);
    int64_t first = 0, chunks;

    for (chunks = at_least(workspace / row ? plan->m / (workspace / row) : most + 1, 1);
         chunks <= most; chunks++) {
        const int64_t rest_bytes = (plan->m % chunks * row + 255) / 256 * 256;

        if (rest_bytes + plan->m / chunks * row > workspace)
            continue;
        if (!first)
            first = chunks;
        if (plan->m % chunks == 0) {
            first = chunks;
            break;
        }
        if (chunks > 2 * first)
            break;
    }
    if (!first)
        return -1;
    plan->method = TILEMM__INPLACE_RUNS;
    plan->chunks = first;
    plan->length = plan->m / first;
    plan->rest = plan->m % first;
    plan->rest_bytes = (size_t)((plan->rest * row + 255) / 256 * 256);
    plan->slice = (int)(SLICE_MOST / size);
    while (first * row * plan->slice > shared / 2 && plan->slice * size > SLICE_LEAST)
        plan->slice /= 2;
    snprintf(plan->name, sizeof plan->name, "transpose_runs_sm75_%dx%dx%d", (int)first, plan->slice,
             (int)size);
    return 0;
}

static int plan_c2r(const tilemm__transpose_args_t *args, const tilemm__cuda_traits_t *traits,
                    int64_t workspace, tilemm__transpose_inplace_plan_t *plan)
{
    const int64_t size = (int64_t)args->elem_size;

    plan->method = TILEMM__INPLACE_C2R;
    plan->panel = at_most(workspace / size / plan->m, plan->n);
    if (plan->panel > 32 && plan->panel < plan->n)
        plan->panel -= plan->panel % 32;
    if (plan->n <= (int64_t)traits->shared_per_block / size) {
        plan->rows_per_block = (int)at_most(at_least(1024 / plan->n, 1), plan->m);
    } else {
        plan->workspace_rows = at_most(workspace / size / plan->n, plan->m);
        if (!plan->workspace_rows)
            return -1;
    }
    snprintf(plan->name, sizeof plan->name, "transpose_c2r_sm75_%dx%dx%d", plan->rows_per_block,
             (int)plan->panel, (int)size);
    return 0;
}

int tilemm__plan_transpose_inplace_cuda(const tilemm__transpose_args_t *args,
                                        const tilemm__cuda_traits_t *traits, size_t workspace,
                                        tilemm__transpose_inplace_plan_t *plan)
{
    const int size = (int)args->elem_size;
    const int64_t room = (int64_t)(workspace < INT64_MAX ? workspace : INT64_MAX);
    const int scale = args->scaled && args->alpha != 1.0f;
    int64_t left;

    memset(plan, 0, sizeof *plan);
    plan_view(args, plan);
    if (args->scaled && args->alpha == 0.0f) {
        plan->method = TILEMM__INPLACE_ZERO;
        plan->move = 0;
        snprintf(plan->name, sizeof plan->name, "transpose_fill_sm75_x%d", size);
        return 0;
    }
    if (args->trans && plan->m == plan->n && plan->n > 1 && !plan->move) {
        plan_swap(args, plan);
        return 0;
    }
    if (!plan->move && (!args->trans || plan->n == 1)) {
        plan->method = TILEMM__INPLACE_NONE;
        plan->scale = scale;
        snprintf(plan->name, sizeof plan->name, "transpose_copy_sm75_x%d", size);
        return 0;
    }
    if (plan->m * plan->n * size <= room) {
        plan->method = TILEMM__INPLACE_STAGED;
        plan->move = 0;
        snprintf(plan->name, sizeof plan->name, "transpose_staged_sm75_x%d", size);
        return 0;
    }
    plan->scale = scale;
    if (!args->trans || plan->n == 1) {
        plan->method = TILEMM__INPLACE_NONE;
        snprintf(plan->name, sizeof plan->name, "transpose_move_sm75_x%d", size);
    } else if (plan->m == plan->n) {
        /* In the input slots; the move follows. */
        plan_swap(args, plan);
        plan->scale = 0;
    } else if (plan_runs(args, traits, room, plan) != 0 &&
               choose_panels(args, traits, room, plan) != 0 &&
               plan_c2r(args, traits, room, plan) != 0) {
        return -1;
    }
    if (plan->method == TILEMM__INPLACE_RUNS && plan->rest)
        plan->move = 1;
    left = (room - (int64_t)plan->rest_bytes) / size;
    if (plan->move && left >= SHORT_INTERVAL)
        plan->interval = left;
    return 0;
}
