/* plan_fused.c - see plan_sgemm_fused.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_fused.h"

#include "kernels/sgemm/cuda/fused.h"
#include "lib/size.h"

/* The shortest k: below, what the tensor cores truncate shows beside a plain FP32 sum. */
enum { LEAST_K = 32 };

/* The tiles, measured on an H200, in clock cycles: until a block's first step is under way; a step
 * of k, and what an item takes beside its steps, where a block has the multiprocessor to itself;
 * and where it shares it. */
typedef struct {
    int m, n, blocks; /* that a multiprocessor holds */
    double fill, step_alone, item_alone, step, item;
    const char *name;
} tile_t;

#define TILE(m, n) {m, n, TILE_##m##X##n, #m "x" #n "x32"},
#define TILE_128X128 1, 3000, 2400, 3700, 2400, 3700
#define TILE_128X64 1, 3000, 1480, 1930, 1600, 1930
#define TILE_64X64 2, 1500, 1250, 1500, 1950, 2200
#define TILE_256X32 1, 4000, 1800, 2500, 1800, 2500
#define TILE_256X16 1, 4000, 1650, 2500, 1650, 2500
#define TILE_32X256 TILE_256X32
#define TILE_16X256 TILE_256X16
static const tile_t tiles[] = {TILEMM__SGEMM_FUSED_TILES(TILE)};
#undef TILE

/* A launch; a second kernel in the stream; adding up in a cluster, beside the bytes that a block
 * reads of the others in a cycle; and bytes that a multiprocessor moves in a cycle. */
static const double launch = 4000, second_kernel = 4000, cluster_sum = 1000,
                    cluster_bytes_per_cycle = 10, bytes_per_cycle = 16;

static double largest(double x, double y)
{
    return x > y ? x : y;
}

/* Cycles of so many items of so many steps, in clusters of so many. */
static double estimate(const tile_t *tile, const tilemm__cuda_traits_t *traits, int64_t items,
                       int64_t steps, int64_t cluster)
{
    int64_t room = (int64_t)traits->sm_count * tile->blocks;

    /* A cluster lies in one of several groups of multiprocessors, and a rest of each stays empty.
     */
    if (cluster > 2 && tile->blocks == 1)
        room = room * 9 / 10;
    if (items <= traits->sm_count && items <= room)
        return launch + tile->fill + tile->item_alone + (double)steps * tile->step_alone;
    return launch + tile->fill +
           (double)tilemm__div_up(items, room) * (tile->item + (double)steps * tile->step);
}

/* The splits of k that are tried: those of a cluster, then, with a workspace, as many as fill the
 * device. */
static int64_t try_splits(int i, int64_t count, const tilemm__cuda_traits_t *traits)
{
    if (i <= TILEMM__SGEMM_FUSED_MOST_CLUSTER)
        return i;
    return traits->sm_count * (int64_t)(i - TILEMM__SGEMM_FUSED_MOST_CLUSTER) / count;
}

int tilemm__plan_sgemm_fused(const tilemm__sgemm_args_t *args, tilemm_math_t math,
                             const tilemm__cuda_traits_t *traits, size_t workspace,
                             tilemm__fused_plan_t *plan)
{
    const int K = TILEMM__SGEMM_FUSED_K;
    const int64_t most = INT32_MAX - 65536; /* coordinates of the copy engine, and items */
    const double elements = (double)args->m * (double)args->n * (double)args->batch_count;
    const double bytes = elements * sizeof(float);
    const double floor =
        (bytes * (args->beta != 0.0f ? 2 : 1) +
         ((double)args->m + (double)args->n) * (double)args->k * (double)args->batch_count * 4) /
        (bytes_per_cycle * traits->sm_count);
    int found = 0;

    if (math == TILEMM_MATH_FP32_STRICT || traits->cc != 90 || args->a_array || args->b_array ||
        args->k < LEAST_K || args->m > most || args->n > most || args->k > most ||
        !tilemm__is_quads(args->a, args->lda, args->stride_a, args->batch_count) ||
        !tilemm__is_quads(args->b, args->ldb, args->stride_b, args->batch_count))
        return 0;
    for (int t = 0; t < TILEMM__SGEMM_FUSED_TILE_COUNT; t++) {
        const tile_t *tile = &tiles[t];
        const double count = (double)tilemm__div_up(args->m, tile->m) *
                             (double)tilemm__div_up(args->n, tile->n) * (double)args->batch_count;

        if (count > (double)most)
            continue;
        for (int i = 1; i <= TILEMM__SGEMM_FUSED_MOST_CLUSTER + tile->blocks; i++) {
            int64_t splits = try_splits(i, (int64_t)count, traits);
            const int64_t k_split =
                splits < 1 ? 0 : tilemm__div_up(tilemm__div_up(args->k, splits), K) * K;
            double cycles;
            int cluster;

            if (splits < 1)
                continue;
            splits = tilemm__div_up(args->k, k_split);
            cluster = splits > 1 && i <= TILEMM__SGEMM_FUSED_MOST_CLUSTER;
            if (count * (double)splits > (double)most ||
                (splits > 1 && !cluster && bytes * (double)splits > (double)workspace))
                continue;
            cycles = estimate(tile, traits, (int64_t)count * splits, tilemm__div_up(k_split, K),
                              cluster ? splits : 1);
            cycles = largest(cycles, floor) + cycles / 100;
            if (cluster)
                cycles += cluster_sum + tile->m * tile->n * 4 / cluster_bytes_per_cycle;
            else if (splits > 1)
                cycles += second_kernel +
                          2 * bytes * (double)splits / (bytes_per_cycle * traits->sm_count);
            if (!found || cycles < plan->cycles) {
                found = 1;
                plan->tile = t;
                plan->cluster = cluster;
                plan->splits = splits;
                plan->k_split = k_split;
                plan->cycles = cycles;
            }
        }
    }
    return found;
}

const char *tilemm__fused_tile_name(const tilemm__fused_plan_t *plan)
{
    return tiles[plan->tile].name;
}
