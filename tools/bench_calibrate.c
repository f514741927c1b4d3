/* bench_calibrate.c - `tilemm bench --calibrate`: measures the constants of the cost models on the
 * GPU at hand, and prints them as lib/<operation>/cost_cuda.c holds them; here those of SGEMM
 * (lib/sgemm/cost_table_cuda.c).
 *
 * Each tile is measured in contexts of its own, in which TILEMM_VARIANT leaves the plan no other
 * choice: NAME+ also keeps k whole. A grid gives each multiprocessor one block, or several waves of
 * all that fit; two depths of k tell a wave's k-steps from the rest. Extras are differences.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_forced.h"
#include "lib/sgemm/cost_table_cuda.h"

enum { WAVES = 3 };

/* A tile, and the k that are measured. blocks fit a multiprocessor; `alone` of them are a warp for
 * each scheduler. */
typedef struct {
    const char *tile, *variant; /* as the table names it, and the beginning of its kernel's name */
    int m, n, k, blocks, alone;
    int64_t k1, k2;
    tilemm_math_t math;
} tile_t;

#define FFMA(tile, m, n, k, blocks, alone)                                                         \
    "ffma_" tile, "sgemm_ffma_" tile "_tn", m, n, k, blocks, alone, 512, 2048,                     \
        TILEMM_MATH_FP32_STRICT
#define SHORT_OF(tile, m, n, blocks, math)                                                         \
    tile, "sgemm_" tile "_tn", m, n, 16, blocks, 1, 256, 1024, math
#define SHORT(tile, m, n, blocks)                                                                  \
    SHORT_OF("short_sm80_" tile, m, n, blocks, TILEMM_MATH_FP32_STRICT)
#define SHORT_TF32(tile, m, n, blocks)                                                             \
    SHORT_OF("short_tf32_sm80_" tile, m, n, blocks, TILEMM_MATH_TF32)
#define FUSED(tile, name, m, n, blocks, k1, k2)                                                    \
    "fused_sm90_" tile, "sgemm_fused_sm90_" name, m, n, 32, blocks, 1, k1, k2, TILEMM_MATH_FP32
#define UNALIGNED(tile, m, n, blocks)                                                              \
    "unaligned_sm90_" tile, "sgemm_unaligned_sm90_" tile "_nt", m, n, 32, blocks, 1, 512, 2048,    \
        TILEMM_MATH_FP32
#define TF32_OF(tile, name, m, n, blocks)                                                          \
    "tf32_sm90_" tile, "sgemm_tf32_sm90_" name, m, n, 32, blocks, 1, 512, 2048, TILEMM_MATH_TF32
#define TF32(tile, m, n, blocks) TF32_OF(tile, tile "_nt", m, n, blocks)
#define TF32_TN(tile, m, n, blocks) TF32_OF(tile "_tn", tile "_tn", m, n, blocks)
#define TF32_UNALIGNED(tile, m, n, blocks)                                                         \
    "tf32_unaligned_sm90_" tile, "sgemm_tf32_unaligned_sm90_" tile "_nt", m, n, 32, blocks, 1,     \
        512, 2048, TILEMM_MATH_TF32
#define PLANES(tile, name, m, n, k1, k2, math)                                                     \
    "planes_" tile, "sgemm_planes_" name, m, n, 64, 1, 1, k1, k2, math
#define PLANES90(tile, m, n, k1, k2, math) PLANES("sm90_" tile, "sm90_" tile, m, n, k1, k2, math)
static const tile_t tiles[] = {
    {FFMA("sm75_128x128x16", 128, 128, 16, 2, 1)},
    {FFMA("sm75_64x64x16", 64, 64, 16, 4, 1)},
    {FFMA("sm75_128x32x16", 128, 32, 16, 4, 1)},
    {FFMA("sm75_32x128x16", 32, 128, 16, 4, 1)},
    {FFMA("sm75_32x32x32", 32, 32, 32, 8, 2)},
    {FFMA("sm80_128x128x16", 128, 128, 16, 2, 1)},
    {FFMA("sm80_128x64x16", 128, 64, 16, 4, 1)},
    {FFMA("sm80_64x64x16", 64, 64, 16, 8, 2)},
    {FFMA("sm80_64x64x32", 64, 64, 32, 4, 1)},
    {FFMA("sm80_128x32x16", 128, 32, 16, 4, 1)},
    {FFMA("sm80_32x128x16", 32, 128, 16, 4, 1)},
    {FFMA("sm80_32x64x16", 32, 64, 16, 9, 2)},
    {FFMA("sm80_32x32x16", 32, 32, 16, 10, 1)},
    {FFMA("sm80_32x32x32", 32, 32, 32, 5, 1)},
    {SHORT("128x128", 128, 128, 2)},
    {SHORT("64x128", 64, 128, 3)},
    {SHORT("128x64", 128, 64, 3)},
    {SHORT("128x32", 128, 32, 4)},
    {SHORT("32x64", 32, 64, 7)},
    {SHORT("16x256", 16, 256, 4)},
    {SHORT("4x256", 4, 256, 8)},
    {SHORT("32x32", 32, 32, 10)},
    {SHORT("16x64", 16, 64, 10)},
    {SHORT("4x64", 4, 64, 16)},
    {SHORT_TF32("128x128", 128, 128, 2)},
    {SHORT_TF32("64x64", 64, 64, 6)},
    {SHORT_TF32("32x128", 32, 128, 5)},
    {FUSED("128x128x32", "128x128x32_nt", 128, 128, 1, 512, 2048)},
    {FUSED("128x128x32_bulk", "128x128x32_nt_bulk", 128, 128, 1, 32, 64)},
    {FUSED("128x64x32", "128x64x32_nt", 128, 64, 1, 512, 2048)},
    {FUSED("64x64x32", "64x64x32_nt", 64, 64, 2, 512, 2048)},
    {FUSED("256x32x32", "256x32x32_nt", 256, 32, 1, 512, 2048)},
    {FUSED("192x64x32", "192x64x32_nt", 192, 64, 1, 512, 2048)},
    {FUSED("64x192x32", "64x192x32_nt", 64, 192, 1, 512, 2048)},
    {FUSED("32x256x32", "32x256x32_nt", 32, 256, 1, 512, 2048)},
    {FUSED("64x128x32", "64x128x32_nt", 64, 128, 1, 512, 2048)},
    {TF32("128x256x32", 128, 256, 1)},
    {TF32("128x192x32", 128, 192, 1)},
    {TF32("128x128x32", 128, 128, 1)},
    {TF32("128x64x32", 128, 64, 1)},
    {TF32("128x64x32_pair", 128, 64, 1)},
    {TF32("128x32x32", 128, 32, 1)},
    {TF32("64x64x32", 64, 64, 2)},
    {TF32_TN("128x256x32", 128, 256, 1)},
    {TF32_TN("128x192x32", 128, 192, 1)},
    {TF32_TN("128x128x32", 128, 128, 1)},
    {TF32_TN("128x64x32", 128, 64, 1)},
    {TF32_TN("128x64x32_pair", 128, 64, 1)},
    {TF32_TN("128x32x32", 128, 32, 1)},
    {TF32_TN("64x64x32", 64, 64, 2)},
    {UNALIGNED("128x128x32", 128, 128, 1)},
    {UNALIGNED("128x64x32", 128, 64, 1)},
    {UNALIGNED("64x64x32", 64, 64, 2)},
    {TF32_UNALIGNED("128x128x32", 128, 128, 1)},
    {TF32_UNALIGNED("128x64x32", 128, 64, 1)},
    {TF32_UNALIGNED("32x128x32", 32, 128, 1)},
    {PLANES("sm80_p1", "sm80_128x128x32_p1", 128, 128, 1024, 4096, TILEMM_MATH_TF32)},
    {PLANES("sm80_p3", "sm80_128x128x32_p3", 128, 128, 1024, 4096, TILEMM_MATH_FP32)},
    {PLANES("sm80_p4", "sm80_64x64x32_p4", 128, 128, 256, 512, TILEMM_MATH_FP32)},
    {PLANES90("128x128x64_p3_1x2", 128, 128, 1024, 4096, TILEMM_MATH_FP32)},
    {PLANES90("128x64x64_p3_1x2", 128, 64, 1024, 4096, TILEMM_MATH_FP32)},
    {PLANES90("128x128x64_p4_1x2", 128, 128, 256, 512, TILEMM_MATH_FP32)},
    {PLANES90("128x256x64_p1_1x2", 128, 256, 1024, 4096, TILEMM_MATH_TF32)},
    {PLANES90("128x128x64_p1_1x2", 128, 128, 1024, 4096, TILEMM_MATH_TF32)},
};
enum { TILES = COUNT_OF(tiles) };

/* The place of a tile in the table, by its name there. */
static int index_of(const char *name)
{
    int i = 0;
    while (i < TILES && strcmp(tiles[i].tile, name) != 0)
        i++;
    return i;
}

typedef struct {
    int measured; /* 0: the device does not run it */
    double start, item_alone, step_alone, item, step;
} cost_t;

/* A batch of `count` products to measure, nt or tn so that operands need no transposition on the
 * way; beta C where k is 0. */
typedef struct {
    int trans;
    int64_t m, n, k, count;
    float *a, *b, *c;
} problem_t;

typedef struct {
    forced_t on;
    double launch, bytes; /* cycles; bytes that a multiprocessor moves in a cycle */
} calibration_t;

static int run(const machine_t *machine, void *data)
{
    const problem_t *p = data;
    const tilemm_op_t a = p->trans ? TILEMM_TRANS : TILEMM_NO_TRANS;
    const tilemm_op_t b = p->trans ? TILEMM_NO_TRANS : TILEMM_TRANS;
    const int64_t along = p->k > 0 ? p->k : 1; /* a leading dimension is never 0 */
    return check_ours(machine,
                      tilemm_sgemm_strided_batched(
                          machine->ctx, TILEMM_ROW_MAJOR, a, b, p->m, p->n, p->k, 1.0f, p->a,
                          p->trans ? p->m : along, p->m * p->k, p->b, p->trans ? p->n : along,
                          p->n * p->k, p->k ? 0.0f : 2.0f, p->c, p->n, p->m * p->n, p->count));
}

/* The cycles that a batch takes, or -1: see forced_cycles. */
static double batch_cycles(calibration_t *at, const char *variant, tilemm_math_t math, int64_t m,
                           int64_t n, int64_t k, int64_t count)
{
    const size_t a = (size_t)(m * k * count), b = (size_t)(n * k * count),
                 c = (size_t)(m * n * count);
    problem_t problem = {
        .trans = strstr(variant, "_tn") != NULL, .m = m, .n = n, .k = k, .count = count};
    problem.a = forced_operand(&at->on, a * sizeof(float));
    problem.b = forced_operand(&at->on, b * sizeof(float));
    problem.c = forced_operand(&at->on, c * sizeof(float));
    const double result = problem.a && problem.b && problem.c
                              ? forced_cycles(&at->on, variant, math, run, &problem)
                              : -1;
    gpu_free(problem.a);
    gpu_free(problem.b);
    gpu_free(problem.c);
    return result;
}

static double cycles(calibration_t *at, const char *variant, tilemm_math_t math, int64_t m,
                     int64_t n, int64_t k)
{
    return batch_cycles(at, variant, math, m, n, k, 1);
}

/* The rows of a grid of `count` tiles that is as square as it can be: its operands are small. */
static int grid_rows(int count)
{
    int down = 1;
    for (int i = 2; i * i <= count; i++)
        if (count % i == 0)
            down = i;
    return down;
}

/* Cycles of a grid of `waves` tiles for each multiprocessor, k whole; -1 if it is not to be had. */
static double tile_cycles(calibration_t *at, const tile_t *tile, int waves, int64_t k)
{
    const int count = at->on.gpu.sm_count * waves, down = grid_rows(count);
    char variant[64];
    snprintf(variant, sizeof variant, "%s+", tile->variant);
    return cycles(at, variant, tile->math, (int64_t)tile->m * down,
                  (int64_t)tile->n * (count / down), k);
}

static cost_t measure_tile(calibration_t *at, const tile_t *tile)
{
    const int is_planes = tile - tiles >= index_of("planes_sm80_p1");
    const int is_fused = tile - tiles >= index_of("fused_sm90_128x128x32");
    const int is_short = !is_fused && tile - tiles >= index_of("short_sm80_128x128");
    const int alone = is_planes ? 2 : tile->alone, full = is_planes ? 2 : tile->blocks;
    const int many = full * WAVES;
    const int tiles_of_many = many * at->on.gpu.sm_count, down = grid_rows(tiles_of_many);
    const double steps = (double)((tile->k2 - tile->k1) / tile->k);
    const double alone1 = tile_cycles(at, tile, alone, tile->k1);
    const double alone2 = alone1 < 0 ? -1 : tile_cycles(at, tile, alone, tile->k2);
    const double many1 = alone2 < 0 ? -1 : tile_cycles(at, tile, many, tile->k1);
    const double many2 = many1 < 0 ? -1 : tile_cycles(at, tile, many, tile->k2);
    const double full1 = many2 < 0 ? -1 : tile_cycles(at, tile, full, tile->k1);
    const double first_steps = (double)(tile->k1 / tile->k);
    cost_t cost = {.measured = full1 >= 0};
    double passes = 0;
    if (!cost.measured)
        return cost;
    /* sm90's waves are of pairs: two tiles for each multiprocessor are two waves. */
    if (is_planes) /* the pass that makes planes, in bytes for each step of the deeper grid */
        passes = ((double)tile->m * down + (double)tile->n * (tiles_of_many / down)) * tile->k *
                 (tile->math == TILEMM_MATH_TF32 ? 6 : 8) / (at->bytes * at->on.gpu.sm_count);
    cost.step = ((many2 - many1) / steps - passes) / (is_planes ? many : WAVES);
    cost.item = (many1 - full1) / (is_planes ? many - full : WAVES - 1) - first_steps * cost.step;
    cost.step_alone = is_planes ? cost.step : (alone2 - alone1) / steps;
    cost.item_alone = alone1 - at->launch - first_steps * cost.step_alone;
    if (is_short) { /* copies, 4 numbers each, and stores have constants of their own */
        const double copies = TILEMM__SHORT_COPY * tile->k * (tile->m + tile->n) / 4;
        const double stores = TILEMM__SHORT_STORE * tile->m * tile->n;
        cost.step_alone -= copies;
        cost.step -= copies * full;
        cost.item_alone = cost.item_alone > stores ? cost.item_alone - stores : 0;
        cost.item -= stores * full;
    }
    if (is_planes || is_fused) { /* what comes once stands apart */
        cost.start = is_planes ? 0 : cost.item_alone - cost.item;
        cost.item_alone = cost.item;
    }
    return cost;
}

/* Print a fitted tile, of matrices that are a tile of 16 x 16 threads each: what a block and a
 * warp's step of k take beside copies (TILEMM__FITTED_COPY) and beside C. */
static void print_fitted(calibration_t *at, int side, int blocks)
{
    enum { LANES = 16, WARPS = LANES * LANES / 32, SHARE = 16, K1 = 64, K2 = 192 };
    char variant[64];
    const int64_t n = LANES * side, count = (int64_t)SHARE * at->on.gpu.sm_count;
    snprintf(variant, sizeof variant, "sgemm_fitted_sm80_%dx%d_nt", side, side);
    const tilemm_math_t strict = TILEMM_MATH_FP32_STRICT;
    const double first = batch_cycles(at, variant, strict, n, n, K1, count);
    const double second = first < 0 ? -1 : batch_cycles(at, variant, strict, n, n, K2, count);
    /* Copies of 4 numbers that a thread makes for each k, in the time of the resident warps. */
    const double copies = 2.0 * LANES * side / 4 / (LANES * LANES) * TILEMM__FITTED_COPY / blocks;
    const double of_k = (second - first) / SHARE / (K2 - K1);
    const double of_c = (double)(n * n) * sizeof(float) / (2 * at->bytes);
    const double item = (first - at->launch) / SHARE - K1 * of_k - of_c;
    const double step = (of_k - copies) / WARPS;
    printf("    {\"fitted_sm80_%dx%d\", 1, 0, %.0f, %.3g, %.0f, %.3g},%s\n", side, side, item, step,
           item, step, second < 0 ? " /* not on this device */" : "");
}

/* Tiles whose blocks fill the GPU once each is divided among eight. */
static int few_tiles(const calibration_t *at)
{
    return at->on.gpu.sm_count / 8 > 1 ? at->on.gpu.sm_count / 8 : 1;
}

/* A product of `count` tiles, with the largest k that the plan divides as `how` says: the cycles
 * beside those of its blocks. Returns -1 if there is no such k. */
static double beside_blocks(calibration_t *at, int index, const cost_t *costs, int count,
                            const char *how, int *splits)
{
    const tile_t *tile = &tiles[index];
    const cost_t *cost = &costs[index];
    const int down = grid_rows(count);
    for (int64_t k = 8192; cost->measured && k >= 128; k /= 2) {
        const double took = cycles(at, tile->variant, tile->math, (int64_t)tile->m * down,
                                   (int64_t)tile->n * (count / down), k);
        const char *divided = took < 0 ? NULL : strstr(at->on.kernel, how);
        if (divided) {
            *splits = atoi(divided + strlen(how));
            return took - at->launch - cost->start - cost->item_alone -
                   (double)(k / tile->k) / *splits * cost->step_alone;
        }
    }
    return -1;
}

/* From two tiles that a cluster adds up: cycles of meeting, and bytes in a cycle. */
static void measure_cluster(calibration_t *at, int large, int small, const cost_t *costs,
                            double *meeting, double *bytes)
{
    const tile_t *l = &tiles[large], *s = &tiles[small];
    const double apart = ((double)l->m * l->n - (double)s->m * s->n) * sizeof(float);
    int splits;
    const double of_large = beside_blocks(at, large, costs, few_tiles(at), "+cluster", &splits);
    const double of_small = beside_blocks(at, small, costs, few_tiles(at), "+cluster", &splits);
    *meeting = *bytes = 0;
    if (of_large <= of_small || of_small < 0)
        return;
    *bytes = apart / (of_large - of_small);
    *meeting = of_small - (double)s->m * s->n * sizeof(float) / *bytes;
}

/* Name tiles of invariant products, whose costs are fitted to these. */
static void print_half(void)
{
    static const char *const names[] = {"128x128x32", "128x64x32", "64x64x32", "256x32x32",
                                        "32x256x32"};
    printf("    /* invariant products, as they are:");
    for (int i = 0; i < COUNT_OF(names); i++)
        printf(" {\"half_sm90_%s\",", names[i]);
    printf(" */\n");
}

static void print_tables(calibration_t *at, const cost_t *costs)
{
    const int fused = index_of("fused_sm90_128x128x32"), of_short = index_of("short_sm80_128x128");
    const int sm80 = index_of("ffma_sm80_32x128x16");
    const int narrow = costs[sm80].measured ? sm80 : index_of("ffma_sm75_32x128x16");
    const int unaligned = index_of("unaligned_sm90_128x128x32");
    const int planes = index_of("planes_sm80_p1");
    double meeting, bytes;
    int splits;
    printf("/* %s, %d multiprocessors, %.0f MHz */\n", at->on.gpu.name, at->on.gpu.sm_count,
           at->on.hertz / 1e6);
    printf("static const tilemm__tile_cost_t tile_costs[] = {\n");
    for (int i = 0; i < TILES; i++) {
        const cost_t *c = &costs[i];
        if (i == of_short) {
            print_fitted(at, 4, 4);
            print_fitted(at, 8, 2);
        }
        if (i == unaligned)
            printf(
                "    /* {\"rest_sm90_128x128x32\",: as it is; it multiplies hard data only */\n");
        if (i == planes)
            print_half();
        printf("    {\"%s\", %d, %.0f, %.0f, %.6g, %.0f, %.6g},%s\n", tiles[i].tile,
               tiles[i].blocks, c->start, c->item_alone, c->step_alone, c->item, c->step,
               c->measured ? "" : " /* not on this device */");
    }
    printf(
        "    /* likewise: {\"half_planes_sm90_128x128x64\", {\"half_planes_sm90_128x64x64\", */\n");
    /* One tile: the blocks that divide it are alone on their multiprocessors. */
    double second = beside_blocks(at, narrow, costs, 1, "+splitk", &splits);
    if (second > 0)
        second -= 2.0 * tiles[narrow].m * tiles[narrow].n * sizeof(float) * splits /
                  (at->bytes * at->on.gpu.sm_count);
    printf("};\nconst tilemm__family_cost_t tilemm__sgemm_family_costs[TILEMM__FAMILIES] = {\n");
    measure_cluster(at, index_of("ffma_sm80_128x128x16"), index_of("ffma_sm80_32x32x32"), costs,
                    &meeting, &bytes);
    printf("    [TILEMM__OF_FFMA] = {%.0f, %.0f, %.0f, %.3g, %.3g},\n", at->launch, second, meeting,
           bytes, at->bytes);
    printf("    [TILEMM__OF_SKINNY] = {%.0f, 0, 0, 0, %.3g},\n",
           cycles(at, "sgemm_skinny", TILEMM_MATH_FP32_STRICT, 1024, 1, 256), at->bytes);
    printf("    [TILEMM__OF_VECTOR_K] = {%.0f, 0, 0, 0, %.3g},\n",
           cycles(at, "sgemm_vector", TILEMM_MATH_FP32_STRICT, 1024, 1, 32), at->bytes);
    printf("    [TILEMM__OF_VECTOR_M] = {%.0f, 0, 0, 0, %.3g},\n",
           cycles(at, "sgemm_vector", TILEMM_MATH_FP32_STRICT, 1, 1024, 32), at->bytes);
    printf("    [TILEMM__OF_SLICEK] = {%.0f, 0, 0, 0, %.3g},\n",
           cycles(at, "sgemm_slicek", TILEMM_MATH_FP32_STRICT, 4, 32, 4), at->bytes);
    printf("    [TILEMM__OF_FITTED] = {%.0f, 0, 0, 0, %.3g},\n",
           cycles(at, "sgemm_fitted", TILEMM_MATH_FP32_STRICT, 64, 64, 4), at->bytes);
    printf("    [TILEMM__OF_SHORT] = {%.0f, 0, 0, 0, %.3g},\n",
           cycles(at, "sgemm_short", TILEMM_MATH_FP32_STRICT, 64, 64, 4), at->bytes);
    measure_cluster(at, fused, index_of("fused_sm90_64x64x32"), costs, &meeting, &bytes);
    printf("    [TILEMM__OF_FUSED] = {%.0f, %.0f, %.0f, %.3g, %.3g},\n", at->launch, second,
           meeting, bytes, at->bytes);
    printf("    [TILEMM__OF_PLANES] = {%.0f, 0, 0, 0, %.3g},\n", 4 * at->launch /* four kernels */,
           at->bytes);
    printf("    [TILEMM__OF_HALF_PLANES] = {%.0f, 0, 0, 0, %.3g},\n};\n", 3 * at->launch,
           at->bytes);
}

int bench_calibrate(const bench_options_t *options)
{
    calibration_t at;
    cost_t costs[TILES];
    const int64_t rows = 1 << 17, k = 4096;
    int status = forced_open(&at.on, options);
    if (status != EXIT_OK)
        return status;
    at.launch = cycles(&at, "sgemm_scale", TILEMM_MATH_FP32, 1, 1, 0);
    /* X of many rows, one column of Z: reading X is all that there is. */
    const double skinny = cycles(&at, "sgemm_skinny", TILEMM_MATH_FP32_STRICT, rows, 1, k);
    at.bytes = (double)(rows * k) * sizeof(float) / (skinny * at.on.gpu.sm_count);
    for (int i = 0; i < TILES; i++)
        costs[i] = measure_tile(&at, &tiles[i]);
    print_tables(&at, costs);
    status = bench_crossovers(&at.on);
    machine_close(&at.on.machine);
    return status;
}
