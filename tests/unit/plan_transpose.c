/* plan_transpose.c - what every plan of a transpose on a GPU keeps to, for random problems on
 * several devices.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "lib/size.h"
#include "lib/transpose/plan_cuda.h"
#include "machines.h"
#include "tests/support/check.h"
#include "tests/support/random.h"
#include "tilemm.h"

/* Of any order of magnitude up to 2^16; every other one a multiple of 16. */
static int64_t draw_size(void)
{
    const int64_t size = pick_size(16);
    return pick(2) ? size : (size + 15) / 16 * 16;
}

static tilemm__transpose_args_t draw_problem(int in_place)
{
    tilemm__transpose_args_t args = {.rows = draw_size(), .cols = draw_size()};
    args.batch_count = in_place || pick(2) ? 1 : pick_size(18);
    args.elem_size = (size_t)1 << pick(5);
    args.trans = pick(6) != 0;
    args.scaled = args.elem_size == 4 && pick(3) == 0;
    args.alpha = pick(4) ? 2.0f : 0.0f;
    args.ld_src = args.cols + (pick(2) ? 0 : pick(20));
    args.ld_dst = (args.trans ? args.rows : args.cols) + (pick(2) ? 0 : pick(20));
    if (!in_place && pick(8) == 0) /* more than short indices hold */
        args.ld_src += pick(1 << 27);
    if (!in_place && pick(8) == 0)
        args.ld_dst += pick(1 << 27);
    args.stride_src = args.rows * args.ld_src;
    args.stride_dst = (args.trans ? args.cols : args.rows) * args.ld_dst;
    args.dst = (void *)(uintptr_t)(4096 + (pick(2) ? 0 : 8 * pick(4)));
    args.src = in_place ? args.dst : (void *)(uintptr_t)(8192 + (pick(2) ? 0 : 8 * pick(4)));
    return args;
}

/* What a block holds has room, and its threads take all of it. */
static void check_packed(const tilemm__transpose_packed_t *packed, int shared, const char *name)
{
    const tilemm__transpose_tiles_t *tiles = &packed->of;
    const int bytes = tiles->tile_rows * tiles->tile_cols * tiles->tile_batch * tiles->elem_size;
    CHECK(packed->shared >= bytes + 15 && packed->shared <= shared, "%s: %d bytes of shared memory",
          name, packed->shared);
    CHECK(packed->rounds * TILEMM__TRANSPOSE_THREADS >= bytes / 16 + 2, "%s: %d rounds", name,
          packed->rounds);
}

/* The matrices of a block have room, wherever within 16 bytes they begin. */
static void check_columns(const tilemm__transpose_columns_t *columns, int shared, const char *name)
{
    const tilemm__transpose_tiles_t *tiles = &columns->of;
    const int bytes = tiles->tile_rows * tiles->tile_cols * tiles->tile_batch * tiles->elem_size;
    CHECK(columns->shared >= bytes + 15 && columns->shared <= shared,
          "%s: %d bytes of shared memory", name, columns->shared);
}

/* The threads of the blocks take every element of the result once, and where it comes from is
 * where the thread's first period says, so many steps on. */
static void check_repeated(const tilemm__transpose_repeated_t *r, unsigned blocks, int count,
                           const char *name)
{
    enum { MOST = 1 << 16 };
    static unsigned char taken[MOST];
    const int64_t rows = r->of.rows, cols = r->of.cols;
    int64_t all = 0, wrong = 0;
    CHECK(r->total == rows * cols * r->of.batch && r->each == rows * cols &&
              r->period % r->each == 0 && r->units * count == r->period &&
              r->step == r->period / r->each * r->of.stride_src,
          "%s: a period of %d", name, r->period);
    if (r->total > MOST)
        return;
    memset(taken, 0, sizeof taken);
    for (int64_t thread = 0; thread < (int64_t)blocks * TILEMM__TRANSPOSE_THREADS; thread++) {
        const int64_t set = thread / r->units, number = thread % r->units * count;
        const int64_t beside = 1 << r->log_beside;
        const int64_t period = set / beside * beside * r->times + set % beside;
        for (int t = 0; t < r->times; t++)
            for (int k = 0; k < count; k++) {
                const int64_t at = period * r->period + number + k + t * (int64_t)r->next;
                const int64_t matrix = (number + k) / r->each, in = (number + k) % r->each;
                const int64_t from = period * r->step + matrix * r->of.stride_src +
                                     in % rows * r->of.ld_src + in / rows +
                                     t * (int64_t)r->next_from;
                const int64_t should = at / r->each * r->of.stride_src +
                                       at % r->each % rows * r->of.ld_src + at % r->each / rows;
                if (at >= r->total)
                    continue;
                all++;
                wrong += taken[at] || from != should;
                taken[at] = 1;
            }
    }
    CHECK(all == r->total && wrong == 0, "%s: %lld of %d elements, %lld wrong", name,
          (long long)all, r->total, (long long)wrong);
}

/* Offsets within a matrix, also of what a tile has beyond it, are short, and so are two dimensions
 * of the grid; a halo has the rows of 16 bytes unless all rows of the result are aligned. */
static void check_words(const tilemm__transpose_args_t *args, const tilemm__transpose_row_t *row,
                        const tilemm__transpose_tiles_t *tiles, const char *name)
{
    const int64_t size = (int64_t)args->elem_size, unit = 16 / size;
    const int is_aligned = (uintptr_t)args->dst % 16 == 0 && args->ld_dst % unit == 0 &&
                           (args->batch_count == 1 || args->stride_dst % unit == 0);
    CHECK(args->batch_count <= UINT16_MAX &&
              tilemm__div_up(args->cols, tiles->tile_cols) <= UINT16_MAX,
          "%s: the grid", name);
    CHECK((double)(args->rows + row->rows) * (double)args->ld_src * (double)size < INT32_MAX &&
              (double)(args->cols + row->cols) * (double)args->ld_dst * (double)size < INT32_MAX,
          "%s: the offsets", name);
    CHECK(tiles->halo == (is_aligned ? 0 : unit), "%s: a halo of %d", name, tiles->halo);
}

/* The rows of a tile have room, each with the 16 bytes in which it begins and ends. */
static void check_skewed(const tilemm__transpose_skewed_t *skewed, size_t shared, const char *name)
{
    const int width = (skewed->of.tile_cols + skewed->before) * skewed->of.elem_size;
    CHECK((size_t)skewed->shared <= shared && skewed->tiles > 0 && skewed->pitch > 0 &&
              (int64_t)skewed->of.tile_rows * (skewed->together ? skewed->pitch : width) <=
                  skewed->shared,
          "%s: %d bytes of shared memory", name, skewed->shared);
}

static void check_out_of_place(const tilemm__limits_t *limits, int *reached)
{
    const tilemm__transpose_args_t args = draw_problem(0);
    static tilemm__transpose_cuda_plan_t plan, again;
    const tilemm__transpose_tiles_t *tiles = &plan.arm.tiles;
    uint64_t count;
    CHECK(tilemm__plan_transpose_cuda(&args, limits, &plan) == TILEMM_SUCCESS &&
              tilemm__plan_transpose_cuda(&args, limits, &again) == TILEMM_SUCCESS &&
              memcmp(&plan, &again, sizeof plan) == 0,
          "%s, then %s", plan.name, again.name);
    const tilemm__transpose_row_t *row = &tilemm__transpose_rows[plan.launch.variant];
    reached[plan.launch.variant]++;
    CHECK(row->method == plan.method && row->bytes == (int)args.elem_size &&
              strncmp(plan.name, row->name, strlen(row->name)) == 0 && plan.launch.blocks > 0,
          "%s", plan.name);
    if (plan.method == TILEMM__TRANSPOSE_BY_copy) {
        const tilemm__transpose_copy_t *copy = &plan.arm.copy;
        CHECK(copy->tiles_down * (uint64_t)copy->tile_rows >= (uint64_t)copy->of.rows &&
                  copy->tiles_across * (uint64_t)copy->tile_cols * (uint64_t)row->chunk >=
                      (uint64_t)copy->of.cols * args.elem_size &&
                  copy->tiles == copy->tiles_down * copy->tiles_across * (uint64_t)copy->of.batch,
              "%s: not all", plan.name);
        return;
    }
    if (plan.method == TILEMM__TRANSPOSE_BY_elements)
        count = (uint64_t)tilemm__div_up(args.rows * args.cols * args.batch_count,
                                         row->threads * row->cols); /* of elements, not of bytes */
    else if (plan.method == TILEMM__TRANSPOSE_BY_gather)
        count = (uint64_t)tilemm__div_up(args.rows * args.cols * args.batch_count *
                                             (int64_t)args.elem_size,
                                         row->threads * row->chunk);
    else if (plan.method == TILEMM__TRANSPOSE_BY_repeated)
        count = plan.launch.blocks; /* see check_repeated */
    else if (plan.method == TILEMM__TRANSPOSE_BY_few || plan.method == TILEMM__TRANSPOSE_BY_zip) {
        /* The warps of whole blocks, of which a lane may lend, take all rows or columns. */
        const int is_few = plan.method == TILEMM__TRANSPOSE_BY_few, is_shifted = row->facet;
        const int64_t lines = is_few ? args.rows + (is_shifted ? row->rows - 1 : 0) : args.cols;
        const int64_t of_warp = is_few ? (32 - is_shifted) * row->rows : 31 * row->cols;
        const int warps = (int)plan.launch.threads / 32;
        CHECK(warps > 0 && warps * 32 == (int)plan.launch.threads &&
                  (int)plan.launch.threads <= row->threads &&
                  (warps == 1 || plan.launch.blocks >= (unsigned)limits->cuda->sm_count),
              "%s: %u blocks of %u threads", plan.name, plan.launch.blocks, plan.launch.threads);
        count = (uint64_t)(args.batch_count *
                           tilemm__div_up(tilemm__div_up(lines, of_warp), tilemm__max(warps, 1)));
    } else /* the tiles cover the matrix, and no tile is beyond it */
        count = (uint64_t)(tilemm__div_up(args.rows + (tiles->halo ? tiles->halo - 1 : 0),
                                          tiles->tile_rows - tiles->halo) *
                           tilemm__div_up(args.cols, tiles->tile_cols) *
                           tilemm__div_up(args.batch_count, tiles->tile_batch));
    CHECK(plan.launch.threads == 0 || plan.method == TILEMM__TRANSPOSE_BY_few ||
              plan.method == TILEMM__TRANSPOSE_BY_zip,
          "%s: %u threads", plan.name, plan.launch.threads);
    CHECK(plan.launch.blocks == (count < INT32_MAX ? count : INT32_MAX), "%s: %u blocks, not %llu",
          plan.name, plan.launch.blocks, (unsigned long long)count);
    CHECK(row->rows > 0 ||
              (int64_t)tiles->tile_rows * tiles->tile_cols * tiles->tile_batch * row->bytes <=
                  (plan.method == TILEMM__TRANSPOSE_BY_packed
                       ? tilemm__max((int64_t)limits->cuda->shared_per_block - 32,
                                     TILEMM__TRANSPOSE_BATCH_BYTES)
                       : (int64_t)limits->cuda->shared_per_block),
          "%s: the tile", plan.name);
    if (plan.method == TILEMM__TRANSPOSE_BY_words)
        check_words(&args, row, tiles, plan.name);
    if (plan.method == TILEMM__TRANSPOSE_BY_skewed)
        check_skewed(&plan.arm.skewed, limits->cuda->shared_per_block, plan.name);
    if (plan.method == TILEMM__TRANSPOSE_BY_narrow && !*limits->variant)
        CHECK((row->rows < row->cols) == (args.rows < args.cols), "%s for %lld x %lld", plan.name,
              (long long)args.rows, (long long)args.cols);
    if (plan.method == TILEMM__TRANSPOSE_BY_repeated)
        check_repeated(&plan.arm.repeated, plan.launch.blocks, row->cols, plan.name);
    if (plan.method == TILEMM__TRANSPOSE_BY_packed)
        check_packed(&plan.arm.packed, (int)limits->cuda->shared_per_block, plan.name);
    if (plan.method == TILEMM__TRANSPOSE_BY_columns)
        check_columns(&plan.arm.columns, (int)limits->cuda->shared_per_block, plan.name);
    CHECK(row->method != TILEMM__TRANSPOSE_BY_tile ||
              (((uintptr_t)args.src | (uintptr_t)args.dst) % (unsigned)row->access == 0 &&
               (uint64_t)(args.ld_src | args.ld_dst) * args.elem_size % (unsigned)row->access == 0),
          "%s: not aligned", plan.name);
}

static void check_in_place(tilemm__limits_t limits, int *reached)
{
    const tilemm__transpose_args_t args = draw_problem(1);
    const int64_t n = tilemm__min(args.rows, args.cols);
    const int64_t bytes = args.rows * args.cols * (int64_t)args.elem_size;
    const int64_t enough = 65536 + 128 * n + bytes / 64;
    const size_t want = tilemm__transpose_inplace_cuda_want(&args, limits.cuda);
    static tilemm__transpose_inplace_cuda_plan_t plan, again;
    limits.workspace = pick(3) == 0   ? (size_t)tilemm__min(enough, bytes)
                       : pick(2) == 0 ? want
                                      : (size_t)pick(bytes + 1);
    const int status = tilemm__plan_transpose_inplace_cuda(&args, &limits, &plan);
    CHECK(status == tilemm__plan_transpose_inplace_cuda(&args, &limits, &again) &&
              memcmp(&plan, &again, sizeof plan) == 0,
          "%s, then %s", plan.name, again.name);
    if (status != TILEMM_SUCCESS) {
        CHECK(status == TILEMM_OUT_OF_MEMORY && limits.workspace < plan.workspace &&
                  limits.workspace < want && (int64_t)plan.workspace <= enough,
              "%lld x %lld: %zu bytes are too few", (long long)args.rows, (long long)args.cols,
              limits.workspace);
        return;
    }
    CHECK(plan.workspace <= limits.workspace, "%s: %zu of %zu bytes", plan.name, plan.workspace,
          limits.workspace);
    if (plan.method == TILEMM__INPLACE_WHOLE) {
        const tilemm__transpose_whole_t *whole = &plan.arm.whole.whole;
        const tilemm__transpose_row_t *row = &tilemm__transpose_rows[plan.arm.whole.launch.variant];
        const int blocks = (int)plan.arm.whole.launch.blocks;
        const int64_t bytes_each =
            (whole->tiles + blocks - 1) / blocks * row->rows * (int64_t)(row->cols * row->bytes);
        const int64_t registers = row->threads * 4 * TILEMM__WHOLE_WORDS;
        const int side = row->chunk / row->bytes;
        CHECK(blocks <= limits.cuda->sm_count && whole->down * row->rows >= args.rows &&
                  whole->tiles / whole->down * row->cols >= args.cols,
              "%s: %d tiles", plan.name, whole->tiles);
        CHECK(row->facet ? bytes_each <= registers && whole->shared == 0
                         : whole->shared > bytes_each &&
                               (size_t)whole->shared <= limits.cuda->shared_per_block,
              "%s: %d bytes of shared memory", plan.name, whole->shared);
        CHECK(!row->facet ||
                  (args.rows % side == 0 && args.cols % side == 0 && args.ld_src % side == 0 &&
                   args.ld_dst % side == 0 && (uintptr_t)args.dst % (unsigned)row->access == 0),
              "%s: no whole squares", plan.name);
        reached[plan.arm.whole.launch.variant]++;
    }
    if (plan.method == TILEMM__INPLACE_SLABS) {
        const tilemm__transpose_chains_t *chains = &plan.arm.slabs.chains;
        CHECK(chains->slabs * chains->run_bytes * n + plan.arm.slabs.fringe_bytes == bytes &&
                  chains->slots == (uint64_t)chains->slabs * (uint64_t)n &&
                  (uint64_t)chains->samples * chains->stride >= chains->slots &&
                  chains->pieces * (int64_t)TILEMM__RUN_BYTES >= chains->run_bytes,
              "%s: slabs and fringe are not the matrix", plan.name);
    }
}

/* Names say the tile; each row out of place is chosen where only its name is allowed. */
static void check_rows(void)
{
    static int reached[TILEMM__TRANSPOSE_VARIANTS];
    for (int i = 0; i < TILEMM__TRANSPOSE_VARIANTS; i++) {
        const tilemm__transpose_row_t *row = &tilemm__transpose_rows[i];
        const tilemm__limits_t limits = {.cuda = &gpus[GPUS - 1], .variant = row->name};
        char tile[64];
        snprintf(tile, sizeof tile, row->rows ? "_sm75_%dx%dx%d" : "_sm75_x%d",
                 row->rows ? row->rows : row->bytes, row->cols, row->bytes);
        CHECK(strstr(row->name, tile) != NULL, "%s: not %s", row->name, tile);
        if (row->method > TILEMM__TRANSPOSE_BY_direct)
            continue;
        for (int j = 0; j < 100000 && !reached[i]; j++)
            check_out_of_place(&limits, reached);
        CHECK(reached[i], "%s is out of reach", row->name);
    }
}

int main(void)
{
    static int reached[TILEMM__TRANSPOSE_VARIANTS];
    for (int d = 0; d < GPUS; d++) {
        const tilemm__limits_t limits = {.cuda = &gpus[d], .variant = ""};
        for (int i = 0; i < 4000; i++) {
            check_out_of_place(&limits, reached);
            check_in_place(limits, reached);
        }
    }
    for (int i = 0; i < TILEMM__TRANSPOSE_VARIANTS; i++)
        CHECK(reached[i] || tilemm__transpose_rows[i].method != TILEMM__TRANSPOSE_BY_whole,
              "%s is never chosen", tilemm__transpose_rows[i].name);
    check_rows();
    return check_exit();
}
