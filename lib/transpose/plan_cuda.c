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

/* ---- the problem ---------------------------------------------------------------------------- */

/* What choices depend on. */
typedef struct {
    const tilemm__transpose_args_t *args;
    int size; /* of an element */
    int sm_count;
    int zero;                    /* fill with zeros */
    int64_t shorter, each;       /* side; elements of a matrix */
    int64_t matrix_bytes, bytes; /* of a matrix, of all */
    int aligned_dst, aligned;    /* of the destination, of both operands */
    int streaming;               /* more data than the L2 cache should hold */
    int64_t packed_bytes;        /* of a matrix that fits in shared memory */
} problem_t;

/* x y, or INT64_MAX if that is less. */
static int64_t product(int64_t x, int64_t y)
{
    return x != 0 && y > INT64_MAX / x ? INT64_MAX : x * y;
}

static uint64_t tiles_of(const tilemm__transpose_args_t *args, int64_t tile_rows, int64_t tile_cols)
{
    return (uint64_t)product(
        product(tilemm__div_up(args->rows, tile_rows), tilemm__div_up(args->cols, tile_cols)),
        args->batch_count);
}

static problem_t problem_of(const tilemm__transpose_args_t *args,
                            const tilemm__cuda_traits_t *traits)
{
    problem_t p = {.args = args, .size = (int)args->elem_size, .sm_count = traits->sm_count};
    p.zero = args->scaled && args->alpha == 0.0f;
    p.shorter = tilemm__min(args->rows, args->cols);
    p.each = product(args->rows, args->cols);
    p.matrix_bytes = product(p.each, p.size);
    p.bytes = product(p.matrix_bytes, args->batch_count);
    p.aligned_dst = tilemm__alignment(args->dst, args->ld_dst, args->stride_dst, args->batch_count,
                                      args->elem_size);
    p.aligned = p.aligned_dst;
    if (!p.zero)
        p.aligned =
            (int)tilemm__min(p.aligned, tilemm__alignment(args->src, args->ld_src, args->stride_src,
                                                          args->batch_count, args->elem_size));
    p.packed_bytes = tilemm__min(cost.packed_bytes, (int64_t)traits->shared_per_block - 64);
    p.streaming = p.bytes > (int64_t)((double)traits->l2_bytes * cost.streaming_share);
    return p;
}

/* The gathering kernel takes results without gaps. */
static int is_gapless(const tilemm__transpose_args_t *args, int64_t each)
{
    return tilemm__alignment(args->dst, 0, 0, 1, args->elem_size) == 16 &&
           args->ld_dst == args->rows && (args->batch_count == 1 || args->stride_dst == each);
}

/* The packed kernel takes a batch without gaps on either side. */
static int is_packed(const problem_t *p)
{
    const tilemm__transpose_args_t *args = p->args;
    return p->size <= 2 && args->batch_count > 1 && args->rows * p->size >= 16 &&
           args->ld_src == args->cols && args->ld_dst == args->rows &&
           args->stride_src == p->each && args->stride_dst == p->each &&
           p->matrix_bytes <= p->packed_bytes;
}

/* Likewise the kernel that lays columns, of rows that are aligned. */
static int is_columns(const problem_t *p)
{
    return is_packed(p) && p->args->cols % 8 == 0 && (uintptr_t)p->args->src % 8 == 0;
}

/* Whether columns are laid in shared memory though rows are aligned: where square tiles would be
 * rather empty, as far as the places of a column's elements in shared memory are not in one
 * another's banks, and matrices are not so small that they are gathered. */
static int lays_columns(const problem_t *p)
{
    const tilemm__transpose_args_t *args = p->args;
    const int64_t edge = 128 / p->size;
    const int conflicts = args->rows * p->size % 32 == 0;
    const int64_t tile =
        product(tilemm__round_up(args->rows, edge), tilemm__round_up(args->cols, edge));
    const int64_t least =
        p->size == 1 && !conflicts ? cost.columns_least : cost.gather_bytes[p->streaming];
    return is_columns(p) && args->batch_count >= p->sm_count && p->matrix_bytes > least &&
           p->matrix_bytes <= cost.columns_most &&
           10 * p->each < cost.columns_tenths[p->size - 1][conflicts][p->streaming] * tile;
}

/* The kernel for few columns has rows for each number of them. */
static int is_few(const problem_t *p)
{
    const tilemm__transpose_args_t *args = p->args;
    return p->size <= 4 && args->cols >= 2 && args->cols <= cost.few_cols &&
           args->ld_src == args->cols && args->batch_count <= cost.few_batch &&
           tilemm__alignment(args->src, 0, args->stride_src, args->batch_count, args->elem_size) ==
               16;
}

/* Likewise the one for few rows. */
static int is_zip(const problem_t *p)
{
    const tilemm__transpose_args_t *args = p->args;
    return p->size == 1 && args->rows >= 3 && args->rows <= cost.zip_rows &&
           args->ld_dst == args->rows && args->batch_count <= cost.few_batch &&
           tilemm__alignment(args->dst, 0, args->stride_dst, args->batch_count, 1) == 16;
}

/* The kernel that transposes words has short indices, and a grid of three dimensions. */
static int is_words(const problem_t *p, const tilemm__transpose_row_t *row)
{
    const tilemm__transpose_args_t *args = p->args;
    return p->size <= 2 && args->batch_count <= UINT16_MAX &&
           args->cols <= (int64_t)row->cols * UINT16_MAX &&
           product(args->rows + 128, product(args->ld_src, p->size)) <= INT32_MAX - (1 << 16) &&
           product(args->cols + 128, product(args->ld_dst, p->size)) <= INT32_MAX - (1 << 16);
}

/* Their first row for the problem. */
static int few_row(const problem_t *p)
{
    return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_few, p->size, 16, 0) +
           ((int)p->args->cols - 2) * 2 + (p->aligned_dst < 16);
}

static int zip_row(const problem_t *p)
{
    return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_zip, 1, 1, 0) + (int)p->args->rows - 3;
}

/* Skewed tiles have whole rows or columns up to this many bytes; flat ones a result without gaps.
 */
static int is_skewed(const problem_t *p, int is_flat)
{
    const tilemm__transpose_args_t *args = p->args;
    return p->size <= 2 &&
           (!is_flat || (args->rows * p->size <= cost.flat_bytes && args->ld_dst == args->rows));
}

/* Whether an index of 32 bits holds every element of source and result, and the ones that the last
 * blocks number behind the end. */
static int has_short_index(const tilemm__transpose_args_t *args)
{
    /* As far from the first matrix as an index comes: the stride may be negative. */
    const int64_t stride = args->stride_src < 0 ? -args->stride_src : args->stride_src;
    const int64_t last = product(args->batch_count - 1, stride);
    const int64_t matrix = product(args->rows, args->ld_src);
    const int64_t room = INT32_MAX - 2 * TILEMM__TRANSPOSE_THREADS * 16;
    return last <= room && matrix <= room && last + matrix + args->cols <= room &&
           product(product(args->rows, args->cols), args->batch_count) <= room;
}

/* Whether the kernel that takes elements one by one can count them. */
static int is_elements(const problem_t *p)
{
    return product(p->each, p->args->batch_count) <= INT32_MAX - 4 * TILEMM__TRANSPOSE_THREADS;
}

/* Whether a block for each matrix would be too many. */
static int is_tiny(const problem_t *p)
{
    return p->args->batch_count > 1 && p->each <= cost.elements_most && is_elements(p);
}

/* The kernel that repeats a thread's way through the source has short indices, also of the matrices
 * that its last blocks number behind the end. */
static int is_repeated(const problem_t *p)
{
    const tilemm__transpose_args_t *args = p->args;
    const int64_t stride = args->stride_src < 0 ? -args->stride_src : args->stride_src;
    const int64_t beyond = 32 * TILEMM__TRANSPOSE_THREADS;
    return p->size <= 2 && args->batch_count > 1 && is_gapless(args, p->each) &&
           product(args->batch_count + beyond, tilemm__max(stride, p->each)) <= INT32_MAX / 2 &&
           product(args->rows, args->ld_src) <= INT32_MAX / 2;
}

/* Whether they gather faster: where the matrices of the result are not aligned, or small. */
static int repeats(const problem_t *p)
{
    return is_repeated(p) &&
           (p->matrix_bytes % 16 != 0 || p->matrix_bytes <= cost.repeated_bytes[1]);
}

/* The row for the problem of the kernel that gathers. */
static int gather_row(const problem_t *p)
{
    return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_gather, p->size, 16,
                                 p->streaming | (has_short_index(p->args) ? 0 : 2));
}

/* Bytes of a matrix up to which a batch that might be packed is gathered. */
static int64_t gathered_bytes(const problem_t *p)
{
    return p->streaming ? cost.gather_bytes[1]
           : repeats(p) ? cost.repeated_bytes[0]
                        : cost.gather_bytes[0];
}

/* ---- the choice ----------------------------------------------------------------------------- */

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

/* The row for the problem of the kernel that transposes words: small tiles where there are few, or
 * where large ones would be rather empty. */
static int words_row(const problem_t *p)
{
    const tilemm__transpose_args_t *args = p->args;
    const int first = tilemm__transpose_row(TILEMM__TRANSPOSE_BY_words, p->size, 16, 0);
    const int is_small = p->bytes <= cost.words_small;
    if (p->size == 2)
        return first + (!is_small && args->cols > tilemm__transpose_rows[first].cols);
    if (is_small || (p->aligned_dst == 16 && args->rows <= tilemm__transpose_rows[first].rows))
        return first;
    return p->bytes <= cost.words_middle || args->cols <= tilemm__transpose_rows[first + 1].cols
               ? first + 1
               : first + 2;
}

/* Likewise of narrow tiles. */
static int narrow_row(const problem_t *p)
{
    const int first = tilemm__transpose_row(TILEMM__TRANSPOSE_BY_narrow, p->size, 16, 0);
    const int is_wide = p->args->rows < p->args->cols;
    const tilemm__transpose_row_t *narrowest = &tilemm__transpose_rows[first + 2];
    const int is_narrowest = p->size == 4 && p->shorter <= narrowest->cols &&
                             tilemm__max(p->args->rows, p->args->cols) >= narrowest->rows;
    return first + is_wide + (is_narrowest ? 2 : 0);
}

/* Elements of 1 and 2 bytes where tiles are not aligned, or not full. */
static int choose_short(const problem_t *p, int is_aligned)
{
    const tilemm__transpose_args_t *args = p->args;
    const int is_small = args->batch_count > 1 && p->matrix_bytes <= cost.gather_bytes[0];
    const int is_wide = args->rows < args->cols, is_flat = is_wide && is_skewed(p, 1);
    const int has_short_columns =
        is_wide &&
        (args->rows <= cost.gather_rows[0] ||
         (args->rows <= cost.gather_rows[1 + p->streaming] && p->bytes >= cost.gather_least));
    /* Whole matrices, where that leaves no multiprocessor idle. */
    if (is_packed(p) && !is_aligned && p->matrix_bytes > gathered_bytes(p) &&
        (args->batch_count >= p->sm_count ||
         (3 * args->batch_count >= p->sm_count && p->matrix_bytes <= cost.packed_few)))
        return tilemm__transpose_row(is_columns(p) ? TILEMM__TRANSPOSE_BY_columns
                                                   : TILEMM__TRANSPOSE_BY_packed,
                                     p->size, 16, 0);
    if (is_small && repeats(p))
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_repeated, p->size, 16, 0);
    if ((is_small || has_short_columns) && is_gapless(args, p->each))
        return gather_row(p);
    if (is_tiny(p))
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_elements, p->size, 16, 0);
    /* Skewed tiles of batches of small matrices, or of few rows, would be rather empty. */
    const int is_empty = args->rows < cost.short_side ||
                         (args->batch_count > 1 && p->matrix_bytes <= cost.packed_bytes);
    const int words = words_row(p);
    if (is_words(p, &tilemm__transpose_rows[words]) && !(is_flat && p->streaming) &&
        (is_empty || p->bytes <= cost.words_bytes[args->cols * p->size > cost.skewed_whole]))
        return words;
    return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_skewed, p->size, 16, is_flat);
}

/* The row for the problem by what was measured. */
static int choose(const problem_t *p)
{
    const tilemm__transpose_args_t *args = p->args;
    const int batched = args->batch_count > 1;
    const int64_t bytes = p->matrix_bytes;
    const int is_aligned = p->aligned == 16 || p->size == 16 || (p->size == 1 && p->aligned == 8);
    const int is_narrow =
        p->shorter <
        (p->size == 1 && p->bytes <= cost.words_bytes[0] ? cost.bytes_side : cost.short_side);
    if (p->zero || !args->trans)
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_copy, p->size, p->aligned, 0);
    if (is_few(p) && args->rows >= cost.few_rows)
        return few_row(p);
    if (is_zip(p) && args->cols >= cost.zip_cols)
        return zip_row(p);
    if (p->aligned >= (p->size == 1 ? 8 : 16) && p->bytes <= cost.direct_bytes[p->size / 8] &&
        p->shorter * p->size >= 64)
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_direct, p->size, p->aligned, 0);
    if (is_aligned && lays_columns(p))
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_columns, p->size, 16, 0);
    if (p->size <= 2 &&
        (!is_aligned || is_narrow || (batched && p->size == 1 && bytes <= cost.tile_bytes)))
        return choose_short(p, is_aligned);
    if (is_gapless(args, p->each) &&
        ((batched && bytes <= cost.gather_bytes[0]) ||
         (args->rows <= cost.gather_rows[0] && args->rows < args->cols) ||
         (args->cols <= cost.gather_cols && p->size <= cost.gather_elem_size)))
        return gather_row(p);
    if (is_gapless(args, p->each) && (!is_aligned || is_narrow) &&
        ((batched && bytes <= cost.odd_bytes) ||
         product(p->each, args->batch_count) <= cost.odd_elements))
        return gather_row(p);
    if (is_tiny(p))
        return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_elements, p->size, 16, 0);
    if (p->size <= 2 || p->size == 16 ||
        (is_aligned && !batched && p->shorter >= cost.tile_side[p->size / 8]))
        return choose_tile(p);
    if (is_narrow)
        return narrow_row(p);
    if (is_aligned)
        return choose_tile(p);
    if (bytes <= cost.narrow_bytes)
        return narrow_row(p);
    return tilemm__transpose_row(TILEMM__TRANSPOSE_BY_shifted, p->size, 16, 0);
}

/* Whether a row can do the problem. */
static int is_able(const problem_t *p, const tilemm__transpose_row_t *row)
{
    const int transposes = p->args->trans && !p->zero;
    if (row->bytes != p->size || row->method > TILEMM__TRANSPOSE_BY_direct)
        return 0;
    switch (row->method) {
    case TILEMM__TRANSPOSE_BY_copy: return !transposes && row->access <= p->aligned;
    case TILEMM__TRANSPOSE_BY_tile: return transposes && row->access <= p->aligned;
    case TILEMM__TRANSPOSE_BY_elements: return transposes && is_elements(p);
    case TILEMM__TRANSPOSE_BY_repeated: return transposes && is_repeated(p);
    case TILEMM__TRANSPOSE_BY_packed: return transposes && is_packed(p);
    case TILEMM__TRANSPOSE_BY_columns: return transposes && is_columns(p);
    case TILEMM__TRANSPOSE_BY_few:
        return transposes && p->args->cols == row->cols && is_few(p) &&
               (row->facet || p->aligned_dst == 16);
    case TILEMM__TRANSPOSE_BY_zip: return transposes && p->args->rows == row->rows && is_zip(p);
    case TILEMM__TRANSPOSE_BY_skewed: return transposes && is_skewed(p, row->facet);
    case TILEMM__TRANSPOSE_BY_words: return transposes && is_words(p, row);
    case TILEMM__TRANSPOSE_BY_direct:
        return transposes && row->access <= p->aligned && p->bytes <= cost.direct_bytes[0] &&
               p->args->batch_count <= UINT16_MAX;
    case TILEMM__TRANSPOSE_BY_gather:
        return transposes && is_gapless(p->args, p->each) &&
               (row->facet & 2 || has_short_index(p->args));
    default: return transposes;
    }
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* Whole matrices of a batch that a block has in shared memory. */
static void share_batch(const problem_t *p, tilemm__transpose_tiles_t *tiles)
{
    const int64_t room = tilemm__min(p->bytes / (2 * p->sm_count), TILEMM__TRANSPOSE_BATCH_BYTES);
    tiles->tile_rows = (int)p->args->rows;
    tiles->tile_cols = (int)p->args->cols;
    tiles->tile_batch =
        (int)tilemm__min(p->args->batch_count, tilemm__max(room / p->matrix_bytes, 1));
}

static void fill_packed(const problem_t *p, tilemm__transpose_packed_t *packed)
{
    share_batch(p, &packed->of);
    packed->by_rows = tilemm__division_by((uint32_t)p->args->rows);
    packed->by_cols = tilemm__division_by((uint32_t)p->args->cols);
    /* The first and the last piece may be there in part. */
    const int64_t pieces = p->matrix_bytes * packed->of.tile_batch / 16 + 2;
    packed->rounds = (int)tilemm__div_up(pieces, TILEMM__TRANSPOSE_THREADS);
    packed->shared = (int)pieces * 16;
}

static void fill_columns(const problem_t *p, tilemm__transpose_columns_t *columns)
{
    const int64_t down = tilemm__div_up(p->args->rows, TILEMM__TRANSPOSE_SQUARE_ROWS);
    share_batch(p, &columns->of);
    columns->by_across = tilemm__division_by((uint32_t)(p->args->cols * p->size / 8));
    columns->by_down = tilemm__division_by((uint32_t)down);
    columns->shared = (int)(p->matrix_bytes * columns->of.tile_batch + 16);
}

/* Periods of whole units; as many units for a thread as keep the blocks few, if there are blocks
 * for all multiprocessors. Returns the blocks. */
static int64_t fill_repeated(const problem_t *p, const tilemm__transpose_row_t *row,
                             tilemm__transpose_repeated_t *repeated)
{
    const tilemm__transpose_args_t *args = p->args;
    int together = 1, beside = 1;
    while (p->each * together % row->cols)
        together *= 2;
    repeated->total = (int)(p->each * args->batch_count);
    repeated->each = (int)p->each;
    repeated->period = repeated->each * together;
    repeated->units = repeated->period / row->cols;
    repeated->step = (int)args->stride_src * together;
    repeated->by_each = tilemm__division_by((uint32_t)repeated->each);
    repeated->by_rows = tilemm__division_by((uint32_t)args->rows);
    repeated->by_units = tilemm__division_by((uint32_t)repeated->units);
    const int64_t periods = tilemm__div_up(repeated->total, repeated->period);
    const int64_t units = periods * repeated->units;
    const int64_t few = (int64_t)p->sm_count * cost.early_blocks * row->threads;
    repeated->times = (int)tilemm__min(row->rows, tilemm__div_up(units, few));
    while (repeated->units * beside * 2 <= row->threads && repeated->times * beside < periods) {
        beside *= 2;
        repeated->log_beside++;
    }
    repeated->next = repeated->period * beside;
    repeated->next_from = repeated->step * beside;
    const int64_t sets = tilemm__div_up(periods, (int64_t)repeated->times * beside) * beside;
    return tilemm__div_up(sets * repeated->units, row->threads);
}

/* Blocks for rows or columns of which a warp has `each`: small ones where there are few. */
static uint64_t share_units(const problem_t *p, const tilemm__transpose_row_t *row, int64_t count,
                            int each, tilemm__transpose_launch_t *launch)
{
    const int64_t warps = tilemm__div_up(count, each), batch = p->args->batch_count;
    int of_block = row->threads / 32;
    while (of_block > 1 &&
           tilemm__div_up(warps, of_block) * batch < cost.early_blocks * p->sm_count)
        of_block /= 2;
    launch->threads = (unsigned)of_block * 32;
    return (uint64_t)(tilemm__div_up(warps, of_block) * batch);
}

/* Fill in the arm, and the launch, of a row. */
static void fill(const problem_t *p, const tilemm__limits_t *limits,
                 const tilemm__transpose_row_t *row, tilemm__transpose_cuda_plan_t *plan)
{
    const tilemm__transpose_args_t *args = p->args;
    tilemm__transpose_tiles_t *tiles = &plan->arm.tiles;
    if (row->method == TILEMM__TRANSPOSE_BY_copy) {
        tilemm__plan_transpose_copy(args, p->zero, row, &plan->arm.copy);
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
    tiles->streaming = p->streaming;
    tiles->tile_rows = row->rows;
    tiles->tile_cols = row->cols;
    tiles->tile_batch = 1;
    uint64_t count = row->rows ? tiles_of(args, row->rows, row->cols) : 0;
    switch (row->method) {
    case TILEMM__TRANSPOSE_BY_shifted:
    case TILEMM__TRANSPOSE_BY_words:
        /* Rows of the tile beyond those written, so that writes begin at whole transfers. */
        if (p->aligned_dst < row->chunk)
            tiles->halo = (row->method == TILEMM__TRANSPOSE_BY_words ? 16 : 32) / p->size;
        count = (uint64_t)tilemm__div_up(args->rows + tilemm__max(tiles->halo - 1, 0),
                                         row->rows - tiles->halo) *
                (uint64_t)tilemm__div_up(args->cols, row->cols) * (uint64_t)args->batch_count;
        break;
    case TILEMM__TRANSPOSE_BY_skewed:
        tilemm__plan_transpose_skewed(args, p->bytes, limits->cuda, row->facet, &plan->arm.skewed);
        count = plan->arm.skewed.tiles;
        break;
    case TILEMM__TRANSPOSE_BY_few: /* shifted, a lane of 32 lends */
        count = share_units(p, row, args->rows + (row->facet ? row->rows - 1 : 0),
                            (row->facet ? 31 : 32) * row->rows, &plan->launch);
        break;
    case TILEMM__TRANSPOSE_BY_zip:
        count = share_units(p, row, args->cols, 31 * row->cols, &plan->launch);
        break;
    case TILEMM__TRANSPOSE_BY_packed:
        fill_packed(p, &plan->arm.packed);
        count = (uint64_t)tilemm__div_up(args->batch_count, tiles->tile_batch);
        break;
    case TILEMM__TRANSPOSE_BY_columns:
        fill_columns(p, &plan->arm.columns);
        count = (uint64_t)tilemm__div_up(args->batch_count, tiles->tile_batch);
        break;
    case TILEMM__TRANSPOSE_BY_gather:
    case TILEMM__TRANSPOSE_BY_elements:
        if (!(row->facet & 2)) {
            plan->arm.gather.by_each = tilemm__division_by((uint32_t)p->each);
            plan->arm.gather.by_rows = tilemm__division_by((uint32_t)args->rows);
        }
        count = (uint64_t)tilemm__div_up(p->bytes, (int64_t)row->threads * row->chunk);
        break;
    case TILEMM__TRANSPOSE_BY_repeated:
        count = (uint64_t)fill_repeated(p, row, &plan->arm.repeated);
        break;
    default: break;
    }
    plan->launch.blocks = (unsigned)(count < INT32_MAX ? count : INT32_MAX);
    /* Later the next kernel's blocks would be spread unevenly. */
    tiles->early = row->method == TILEMM__TRANSPOSE_BY_direct
                       ? count * (uint64_t)cost.early_direct <= (uint64_t)p->sm_count
                       : count <= (uint64_t)(cost.early_blocks * p->sm_count);
}

int tilemm__plan_transpose_cuda(const tilemm__transpose_args_t *args,
                                const tilemm__limits_t *limits, tilemm__transpose_cuda_plan_t *plan)
{
    /* A matrix of one row may have any leading dimension: none that products of it overflow. */
    tilemm__transpose_args_t own = *args;
    if (own.rows == 1 && own.ld_src > INT32_MAX)
        own.ld_src = own.cols;
    if ((own.trans ? own.cols : own.rows) == 1 && own.ld_dst > INT32_MAX)
        own.ld_dst = own.trans ? own.rows : own.cols;
    const problem_t p = problem_of(&own, limits->cuda);
    int variant = choose(&p);
    memset(plan, 0, sizeof *plan);
    for (int i = 0; i < TILEMM__TRANSPOSE_VARIANTS &&
                    !tilemm__transpose_is_allowed(limits, tilemm__transpose_rows[variant].name);
         i++)
        if (is_able(&p, &tilemm__transpose_rows[i]) &&
            tilemm__transpose_is_allowed(limits, tilemm__transpose_rows[i].name))
            variant = i;
    plan->launch.concurrent = limits->cuda->cc >= 90;
    fill(&p, limits, &tilemm__transpose_rows[variant], plan);
    plan->launch.variant = (tilemm__transpose_variant_t)variant;
    plan->method = tilemm__transpose_rows[variant].method;
    snprintf(plan->name, sizeof plan->name, "%s%s", tilemm__transpose_rows[variant].name,
             p.zero ? "+fill" : "");
    return TILEMM_SUCCESS;
}
