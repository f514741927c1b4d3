/* plan_skewed_cuda.c - skewed tiles of transposes on a GPU: their size, their place in shared
 * memory, and how a block's threads share them. See kernels/transpose/cuda/skewed.cu.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "cost_cuda.h"
#include "lib/size.h"
#include "plan_cuda.h"

#define cost tilemm__transpose_cost

enum { PIECE = 16, LANES = 32, WARPS = TILEMM__TRANSPOSE_THREADS / LANES };

static int log_of(int64_t x)
{
    int log = 0;
    while (INT64_C(2) << log <= x)
        log++;
    return log;
}

/* The least bytes from row to row that leave each row the pieces in which it begins and ends, and
 * agree with memory. */
static int pitch_of(const tilemm__transpose_tiles_t *tiles, int64_t cols)
{
    const int64_t least = cols * tiles->elem_size + 2 * (PIECE - 1);
    const int64_t apart = tiles->ld_src % PIECE * tiles->elem_size;
    return (int)(least + ((apart - least) % PIECE + PIECE) % PIECE);
}

/* Bytes of a tile: there should be several for each block that the device holds. */
static int64_t tile_bytes(int64_t bytes, int sm_count, int64_t most)
{
    return tilemm__min(tilemm__max(bytes / (cost.skewed_tiles * sm_count), 4096), most);
}

/* Bytes of shared memory for `rows` rows of a tile; the last piece of a flat one may go on past its
 * last column. */
static int64_t shared_of(const tilemm__transpose_skewed_t *skewed, int64_t rows)
{
    return rows * skewed->pitch + (rows * skewed->of.elem_size / PIECE + 1) * skewed->pad +
           4 * PIECE;
}

/* Lanes of a warp one below the other, and how far apart the columns of the others are, so that
 * they meet other banks. */
static void plan_lanes(tilemm__transpose_skewed_t *skewed, int64_t room)
{
    const int size = skewed->of.elem_size, v = PIECE / size;
    const int64_t width = skewed->of.tile_cols;
    if (skewed->pitch / size % 2) { /* odd: columns as skewed as each other, or one column */
        const int is_full = 4 * width >= 3 * tilemm__round_up(width, 4 * v);
        const int has_room = shared_of(skewed, LANES * v + skewed->of.halo) <= room;
        skewed->log_lanes = is_full || !has_room || skewed->of.rows < LANES * v ? 3 : 5;
        skewed->log_apart = skewed->log_lanes == 3 ? log_of(v) : 0;
    } else { /* in the next bank, or in the same word */
        skewed->log_lanes = 5 - log_of(tilemm__min(width, 4));
        skewed->log_apart = width >= v ? log_of(4 / size) : 0;
    }
}

/* How the warps of a block share a tile: 2^log_across of them side by side, where the fewest wait
 * at the end; and parts of `bytes` bytes each, so that the others have some. */
static void share(tilemm__transpose_skewed_t *skewed, int64_t needed, int64_t bytes, int64_t most)
{
    const int64_t room = tilemm__max(tilemm__min(most / bytes, needed), 1);
    double best = 0;
    for (int log = 3; log >= 0; log--) {
        const int across = 1 << log, down = WARPS >> log;
        const int64_t parts = room < down ? room : room / down * down;
        const double busy = (double)skewed->sets / (double)tilemm__round_up(skewed->sets, across) *
                            (double)parts / (double)tilemm__round_up(parts, down);
        if (busy > best) {
            best = busy;
            skewed->log_across = log;
            skewed->parts = (int)parts;
        }
    }
}

/* Blocks of tiles `wide` bytes wide, of one part. */
static int64_t blocks_of(const tilemm__transpose_args_t *args, int64_t wide)
{
    const int size = (int)args->elem_size, v = PIECE / size;
    return tilemm__div_up(args->rows + v - 1, 8 * v) * tilemm__div_up(args->cols * size, wide) *
           args->batch_count;
}

/* Bytes of a row of a tile, of data that stays in L2. Where tiles of 128 bytes are less than a wave
 * of blocks, or many waves, what the slowest multiprocessor reads, with a sector more for each row,
 * and gathers, by four groups of lanes 16 bytes apart, is to be least. */
static int64_t width_of(const tilemm__transpose_args_t *args, int sm_count)
{
    const int64_t places = (int64_t)cost.skewed_places[args->elem_size - 1] * sm_count;
    const int64_t usual = 128, waves_usual = tilemm__div_up(blocks_of(args, usual), places);
    int64_t best = usual, least = INT64_MAX;
    if (waves_usual > 1 && waves_usual <= cost.skewed_waves)
        return usual;
    for (int64_t wide = cost.skewed_least; wide <= cost.skewed_wide; wide += PIECE) {
        const int64_t waves = tilemm__div_up(blocks_of(args, wide), places);
        const int64_t time = waves * (wide + 32 + tilemm__round_up(wide, 4 * PIECE));
        if (time < least) {
            least = time;
            best = wide;
        }
    }
    return best;
}

static void plan_columns(const tilemm__transpose_args_t *args, int64_t bytes,
                         const tilemm__cuda_traits_t *traits, tilemm__transpose_skewed_t *skewed)
{
    const int sm_count = traits->sm_count;
    tilemm__transpose_tiles_t *tiles = &skewed->of;
    const int size = tiles->elem_size, v = PIECE / size;
    const int64_t whole = args->ld_src * size, width = args->cols * size;
    /* The source as one piece of memory. */
    const int src_alignment =
        tilemm__alignment(args->src, 0, args->stride_src, args->batch_count, args->elem_size);
    const int dst_alignment = tilemm__alignment(args->dst, args->ld_dst, args->stride_dst,
                                                args->batch_count, args->elem_size);
    const int is_small =
        bytes < (int64_t)sm_count * 8 * PIECE * 128; /* tiles of 128 bytes across */
    const int64_t wide = tiles->streaming ? cost.skewed_wide : width_of(args, sm_count);
    const int64_t across =
        width <= cost.skewed_whole && !is_small ? 1 : tilemm__div_up(width, wide);
    tiles->halo = dst_alignment == PIECE ? 0 : v;
    tiles->tile_cols =
        (int)(across == 1 ? args->cols : tilemm__round_up(tilemm__div_up(args->cols, across), v));
    skewed->together = across == 1 && whole < width + 2 * PIECE;
    skewed->pitch = skewed->together ? (int)whole : pitch_of(tiles, tiles->tile_cols);
    skewed->pad =
        args->ld_src % 2 == 0 && (!skewed->together || src_alignment == PIECE) ? PIECE : 0;
    plan_lanes(skewed, (int64_t)traits->shared_per_block);
    const int groups = LANES >> skewed->log_lanes;
    const int64_t each = (int64_t)v << skewed->log_lanes; /* rows of a part */
    skewed->sets = (int)tilemm__round_up(tiles->tile_cols, groups << skewed->log_apart) / groups;
    share(skewed, tilemm__div_up(args->rows + tiles->halo, each), each * skewed->pitch,
          tile_bytes(bytes, sm_count, cost.skewed_bytes));
    while (skewed->parts > 1 && shared_of(skewed, each * skewed->parts + tiles->halo) >
                                    (int64_t)traits->shared_per_block)
        skewed->parts--;
    tiles->tile_rows = (int)(each * skewed->parts) + tiles->halo;
    skewed->down = (uint64_t)tilemm__div_up(args->rows + tilemm__max(tiles->halo - 1, 0),
                                            tiles->tile_rows - tiles->halo);
}

/* Columns so that a tile has a good many bytes, and there are enough tiles. */
static void plan_flat(const tilemm__transpose_args_t *args, int64_t bytes, int sm_count,
                      tilemm__transpose_skewed_t *skewed)
{
    tilemm__transpose_tiles_t *tiles = &skewed->of;
    const int size = tiles->elem_size, v = PIECE / size;
    const int64_t most = tile_bytes(bytes, sm_count, cost.skewed_bytes / 2), unit = 64 / size;
    const int64_t cols = tilemm__max(most / (args->rows * size) / unit, 1) * unit;
    const int is_aligned = tilemm__alignment(args->dst, 0, args->stride_dst, args->batch_count,
                                             args->elem_size) == PIECE;
    tiles->tile_rows = (int)args->rows;
    tiles->tile_cols = (int)tilemm__min(cols, tilemm__round_up(args->cols, v));
    skewed->before = is_aligned ? 0 : (int)tilemm__div_up(v - 1, args->rows);
    skewed->pitch = pitch_of(tiles, tiles->tile_cols + skewed->before);
    skewed->pad = args->ld_src % 2 == 0 ? PIECE : 0;
    skewed->by_rows = tilemm__division_by((uint32_t)args->rows);
    skewed->down = 1;
}

void tilemm__plan_transpose_skewed(const tilemm__transpose_args_t *args, int64_t bytes,
                                   const tilemm__cuda_traits_t *traits, int is_flat,
                                   tilemm__transpose_skewed_t *skewed)
{
    tilemm__transpose_tiles_t *tiles = &skewed->of;
    const int size = tiles->elem_size;
    if (is_flat)
        plan_flat(args, bytes, traits->sm_count, skewed);
    else
        plan_columns(args, bytes, traits, skewed);
    const int64_t width = (int64_t)(tiles->tile_cols + skewed->before) * size;
    const int64_t pieces = tilemm__div_up(width + PIECE - 1, PIECE); /* that a row may touch */
    skewed->log_along = log_of(tilemm__min(2 * pieces - 1, TILEMM__TRANSPOSE_THREADS));
    skewed->by_row = tilemm__division_by(skewed->together ? (uint32_t)args->ld_src : 1);
    skewed->across = (uint64_t)tilemm__div_up(args->cols, tiles->tile_cols);
    skewed->tiles = skewed->down * skewed->across * (uint64_t)args->batch_count;
    skewed->shared = (int)shared_of(skewed, tiles->tile_rows);
}
