/* plan_sgemm_cuda.c - the GPU SGEMM's plans on the traits of several devices. Needs no GPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sgemm/cuda/fused.h"
#include "kernels/sgemm/cuda/split.h"
#include "tests/support/check.h"
#include "ffma_tiles.h"
#include "lib/sgemm/plan_cuda.h"
#include "kernels/sgemm/layout.h"
#include "tilemm.h"

static const tilemm__cuda_traits_t devices[] = {
    {"T4", 75, 40, 1024, 64 << 10, 64 << 10, 4 << 20, (size_t)15 << 30},
    {"A100", 80, 108, 2048, 163 << 10, 164 << 10, 40 << 20, (size_t)40 << 30},
    {"RTX 3090", 86, 82, 1536, 99 << 10, 100 << 10, 6 << 20, (size_t)24 << 30},
    {"Jetson Orin Nano", 87, 8, 1536, 163 << 10, 164 << 10, 2 << 20, (size_t)8 << 30},
    {"RTX 4090", 89, 128, 1536, 99 << 10, 100 << 10, 72 << 20, (size_t)24 << 30},
    {"H100", 90, 132, 2048, 227 << 10, 228 << 10, 50 << 20, (size_t)80 << 30},
    {"H200", 90, 132, 2048, 227 << 10, 228 << 10, 60 << 20, (size_t)141 << 30},
};

enum { DEVICES = sizeof devices / sizeof *devices };

static const tile_t *tile_of(const tilemm__sgemm_cuda_plan_t *plan)
{
    return plan->sm80 ? &sm80_tiles[plan->tile] : &sm75_tiles[plan->tile];
}

/* ---- plans ------------------------------------------------------------------------------ */

/* Operands are never looked at: addresses of the right alignment will do. */
static float memory[64];

/* A pointer `skip` elements past a multiple of 16 bytes. */
static float *place(int skip)
{
    const size_t past = (size_t)((uintptr_t)memory % 16) / sizeof(float);

    return memory + (4 - past) % 4 + skip;
}

static tilemm__sgemm_args_t problem(int64_t m, int64_t n, int64_t k, int trans_a, int trans_b,
                                    int64_t batch)
{
    tilemm__sgemm_args_t args;

    memset(&args, 0, sizeof args);
    args.m = m;
    args.n = n;
    args.k = k;
    args.trans_a = trans_a;
    args.trans_b = trans_b;
    args.alpha = 1.0f;
    args.a = place(0);
    args.b = place(0);
    args.c = place(0);
    args.lda = trans_a ? m : k;
    args.ldb = trans_b ? k : n;
    args.ldc = n;
    args.stride_a = m * k;
    args.stride_b = k * n;
    args.stride_c = m * n;
    args.batch_count = batch;
    return args;
}

static int is_quads(const void *pointer, int64_t ld, int64_t stride, int64_t batch)
{
    return (uintptr_t)pointer % 16 == 0 && ld % 4 == 0 && (batch == 1 || stride % 4 == 0);
}

static double blocks_of(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cuda_plan_t *plan)
{
    const tile_t *tile = tile_of(plan);

    return (double)((args->m + tile->m - 1) / tile->m) *
           (double)((args->n + tile->n - 1) / tile->n) * (double)args->batch_count *
           (double)plan->splits;
}

/* A thin plan: the splits cover k, none is empty, the workspace holds all, and wide reads are of
 * what is aligned. */
static void check_thin(const tilemm__sgemm_args_t *args, const tilemm__sgemm_cuda_plan_t *plan)
{
    const tilemm__sgemm_thin_t *thin = &plan->thin;

    CHECK(thin->n <= TILEMM__SGEMM_THIN_MOST_N && thin->k == args->k, "%s", plan->name);
    CHECK((thin->m == args->m && thin->n == args->n) || (thin->m == args->n && thin->n == args->m),
          "%s", plan->name);
    CHECK(thin->splits >= 1 && (thin->splits - 1) * thin->k_split < thin->k &&
              thin->splits * thin->k_split >= thin->k,
          "%s: k_split %lld", plan->name, (long long)thin->k_split);
    if (thin->splits > 1)
        CHECK(thin->k_split % 4 == 0, "%s: k_split %lld", plan->name, (long long)thin->k_split);
    if (plan->counter_bytes > 0) {
        CHECK(plan->counters >= (size_t)tilemm__sgemm_thin_partials(thin) * sizeof(float) &&
                  plan->counter_bytes % 1024 == 0 &&
                  plan->counter_bytes >=
                      (size_t)tilemm__sgemm_thin_tiles(thin) * sizeof(unsigned) &&
                  plan->workspace_bytes == plan->counters + plan->counter_bytes,
              "%s: %zu bytes", plan->name, plan->workspace_bytes);
    } else {
        CHECK(plan->workspace_bytes == 0 && plan->counter_bytes == 0 &&
                  thin->splits <= TILEMM__SGEMM_MOST_CLUSTER,
              "%s: %zu bytes", plan->name, plan->workspace_bytes);
    }
    if (thin->vector_x)
        CHECK(!thin->x_array && is_quads(thin->x, thin->ldx, thin->stride_x, thin->batch_count),
              "%s: X", plan->name);
}

/* The rows or columns that the tiles leave to the thin kernel: few, at the end, no workspace.
 * Returns what is left of the problem. */
static tilemm__sgemm_args_t check_rest(const tilemm__sgemm_args_t *args,
                                       const tilemm__sgemm_cuda_plan_t *plan)
{
    tilemm__sgemm_args_t whole = *args, rest = *args;

    whole.m -= plan->rest_m;
    whole.n -= plan->rest_n;
    if (plan->rest_m + plan->rest_n == 0)
        return whole;
    CHECK(plan->rest_m == 0 || plan->rest_n == 0, "%s", plan->name);
    CHECK(whole.m > 0 && whole.n > 0 && whole.m % 128 * plan->rest_m == 0 &&
              whole.n % 128 * plan->rest_n == 0,
          "%s", plan->name);
    if (plan->rest_m > 0) {
        rest.m = plan->rest_m;
        rest.a += args->trans_a ? whole.m : whole.m * args->lda;
        rest.c += whole.m * args->ldc;
    } else {
        rest.n = plan->rest_n;
        rest.b += args->trans_b ? whole.n * args->ldb : whole.n;
        rest.c += whole.n;
    }
    check_thin(&rest, plan);
    CHECK(plan->thin.c == rest.c && (plan->thin.x == rest.a || plan->thin.x == rest.b) &&
              (plan->thin.z == rest.a || plan->thin.z == rest.b) &&
              (rest.a == rest.b || plan->thin.x != plan->thin.z),
          "%s: not at the end", plan->name);
    CHECK(plan->thin.beside, "%s", plan->name);
    CHECK(plan->counter_bytes == 0 && plan->workspace_bytes == 0, "%s", plan->name);
    return whole;
}

/* What every plan must hold to. */
static tilemm__sgemm_cuda_plan_t plan_of(const tilemm__sgemm_args_t *args,
                                         const tilemm__cuda_traits_t *traits, size_t workspace)
{
    tilemm__sgemm_cuda_plan_t plan, again;
    tilemm__sgemm_args_t whole;
    const tile_t *tile;
    char name[64];
    int length;

    memset(&again, 0xff, sizeof again);
    tilemm__plan_sgemm_cuda(args, TILEMM_MATH_FP32_STRICT, traits, workspace, &plan);
    tilemm__plan_sgemm_cuda(args, TILEMM_MATH_FP32_STRICT, traits, workspace, &again);
    CHECK(plan.kernel == again.kernel && plan.tile == again.tile && plan.splits == again.splits &&
              plan.k_split == again.k_split && !strcmp(plan.name, again.name),
          "%s: %s, then %s", traits->name, plan.name, again.name);
    if (args->k == 0) {
        CHECK(plan.workspace_bytes == 0, "%s", traits->name);
        CHECK(plan.kernel == (args->beta == 1.0f ? TILEMM__SGEMM_NOTHING : TILEMM__SGEMM_SCALE),
              "%s: kernel %d", traits->name, plan.kernel);
        CHECK(!strcmp(plan.name, args->beta == 1.0f ? "" : "sgemm_scale_sm75"), "%s", plan.name);
        return plan;
    }
    CHECK(plan.workspace_bytes <= workspace, "%s: %zu of %zu bytes", plan.name,
          plan.workspace_bytes, workspace);
    if (plan.kernel == TILEMM__SGEMM_TINY) {
        CHECK(args->m <= 32 && args->n <= 32 && args->k <= 32 && args->batch_count > 1, "%s",
              plan.name);
        return plan;
    }
    if (plan.kernel == TILEMM__SGEMM_THIN) {
        check_thin(args, &plan);
        return plan;
    }
    CHECK(plan.kernel == TILEMM__SGEMM_FFMA, "%s: kernel %d", traits->name, plan.kernel);
    whole = check_rest(args, &plan);
    args = &whole;
    CHECK(plan.tile >= 0 && plan.tile < (plan.sm80 ? (int)TILEMM__SGEMM_SM80_TILE_COUNT
                                                   : (int)TILEMM__SGEMM_TILE_COUNT),
          "tile %d", plan.tile);
    CHECK(!plan.sm80 || traits->cc >= 80, "%s: %s", traits->name, plan.name);
    tile = tile_of(&plan);

    /* The splits cover k, and none is empty. */
    CHECK(plan.splits >= 1 && plan.k_split % tile->k == 0, "%s", plan.name);
    CHECK((plan.splits - 1) * plan.k_split < args->k, "%s: k_split %lld", plan.name,
          (long long)plan.k_split);
    CHECK(plan.k_split >= (args->k + plan.splits - 1) / plan.splits, "%s: k_split %lld", plan.name,
          (long long)plan.k_split);
    if (plan.cluster)
        CHECK(plan.sm80 && traits->cc >= 90 && plan.splits > 1 &&
                  plan.splits <= TILEMM__SGEMM_MOST_CLUSTER,
              "%s: %s", traits->name, plan.name);
    if (plan.splits == 1 || plan.cluster)
        CHECK(plan.workspace_bytes == 0, "%s: %zu bytes", plan.name, plan.workspace_bytes);
    else
        CHECK(plan.workspace_bytes ==
                  (size_t)(plan.splits * args->batch_count * args->m * args->n) * sizeof(float),
              "%s: %zu bytes", plan.name, plan.workspace_bytes);
    CHECK(plan.workspace_bytes <= workspace, "%s: %zu of %zu bytes", plan.name,
          plan.workspace_bytes, workspace);

    /* Wide accesses only where every one of them is aligned and whole; the newer kernel sees for
     * itself. */
    CHECK(!plan.sm80 || (!plan.vector_a && !plan.vector_b && !plan.vector_c), "%s", plan.name);
    if (plan.vector_a)
        CHECK(!args->a_array && args->m >= tile->m && (!args->trans_a || args->m % 4 == 0) &&
                  is_quads(args->a, args->lda, args->stride_a, args->batch_count),
              "%s: A", plan.name);
    if (plan.vector_b)
        CHECK(!args->b_array && args->n >= tile->n && (args->trans_b || args->n % 4 == 0) &&
                  is_quads(args->b, args->ldb, args->stride_b, args->batch_count),
              "%s: B", plan.name);
    if (plan.vector_c)
        CHECK(args->n % 4 == 0 && (plan.splits > 1 ||
                                   (!args->c_array && is_quads(args->c, args->ldc, args->stride_c,
                                                               args->batch_count))),
              "%s: C", plan.name);

    length = snprintf(name, sizeof name, "sgemm_ffma_sm%d_%s", plan.sm80 ? 80 : 75, tile->name);
    if (plan.splits > 1)
        length += snprintf(name + length, sizeof name - (size_t)length, "_%s%lld",
                           plan.cluster ? "cluster" : "splitk", (long long)plan.splits);
    if (plan.rest_m + plan.rest_n > 0)
        snprintf(name + length, sizeof name - (size_t)length, "_and_thin%lld",
                 (long long)(plan.rest_m + plan.rest_n));
    CHECK(!strcmp(plan.name, name), "%s, expected %s", plan.name, name);
    return plan;
}

static void check_everywhere(void)
{
    static const int64_t sizes[] = {1,
                                    2,
                                    7,
                                    16,
                                    31,
                                    64,
                                    127,
                                    128,
                                    300,
                                    1000,
                                    4096,
                                    5000,
                                    8192,
                                    12289,
                                    65537,
                                    1048576,
                                    (int64_t)1 << 31};
    static const size_t workspaces[] = {0, 4096, 1 << 20, 32 << 20, SIZE_MAX};
    enum { SIZES = sizeof sizes / sizeof *sizes };

    srand(1);
    for (int d = 0; d < DEVICES; d++)
        for (int i = 0; i < 1500; i++) {
            const int64_t batch = rand() % 3 ? 1 : rand() % 3 + 1;
            tilemm__sgemm_args_t args =
                problem(sizes[rand() % SIZES], sizes[rand() % SIZES],
                        rand() % 8 ? sizes[rand() % SIZES] : 0, rand() % 2, rand() % 2, batch);

            args.beta = (float)(rand() % 3 - 1);
            args.a = place(rand() % 3 ? 0 : rand() % 4);
            args.b = place(rand() % 3 ? 0 : rand() % 4);
            args.c = place(rand() % 3 ? 0 : rand() % 4);
            args.lda += rand() % 2 ? 0 : rand() % 5;
            args.ldb += rand() % 2 ? 0 : rand() % 5;
            args.ldc += rand() % 2 ? 0 : rand() % 5;
            args.stride_a += rand() % 2 ? 0 : rand() % 5;
            args.stride_b += rand() % 2 ? 0 : rand() % 5;
            args.stride_c += rand() % 2 ? 0 : rand() % 5;
            plan_of(&args, &devices[d], workspaces[rand() % 5]);
        }
}

static void check_particular(void)
{
    for (int d = 0; d < DEVICES; d++) {
        const tilemm__cuda_traits_t *traits = &devices[d];
        tilemm__sgemm_args_t args;
        tilemm__sgemm_cuda_plan_t plan;

        /* Large: the largest tile, whole, all wide, whichever way the operands lie. */
        for (int trans = 0; trans < 4; trans++) {
            args = problem(16384, 16384, 16384, trans & 1, trans >> 1, 1);
            plan = plan_of(&args, traits, SIZE_MAX);
            CHECK(!strcmp(plan.name, traits->cc < 80 ? "sgemm_ffma_sm75_128x128x16"
                                                     : "sgemm_ffma_sm80_128x128x16"),
                  "%s: %s", traits->name, plan.name);
            if (traits->cc < 80)
                CHECK(plan.vector_a && plan.vector_b && plan.vector_c, "%s", traits->name);
        }

        if (traits->cc < 80) {
            /* An odd ld keeps wide accesses from one operand only. */
            args = problem(4096, 4096, 4096, 0, 0, 1);
            args.lda++;
            plan = plan_of(&args, traits, SIZE_MAX);
            CHECK(!plan.vector_a && plan.vector_b && plan.vector_c, "%s", traits->name);

            /* A k that is no multiple of 4 does not matter; an m or n that is none does, where rows
             * run along it. */
            args = problem(4095, 4096, 4093, 0, 0, 1);
            args.lda = 4096;
            plan = plan_of(&args, traits, SIZE_MAX);
            CHECK(plan.vector_a && plan.vector_b, "%s", traits->name);
            args.trans_a = 1;
            plan = plan_of(&args, traits, SIZE_MAX);
            CHECK(!plan.vector_a && plan.vector_b, "%s", traits->name);

            /* Addresses in arrays are not known. */
            args = problem(4096, 4096, 4096, 0, 0, 2);
            args.a_array = args.b_array = (const float *const *)memory;
            args.c_array = (float *const *)memory;
            plan = plan_of(&args, traits, SIZE_MAX);
            CHECK(!plan.vector_a && !plan.vector_b && !plan.vector_c, "%s", traits->name);
        }

        /* Deep: split so that every multiprocessor has work; less so, or not, with less room. */
        args = problem(128, 128, 1048576, 0, 0, 1);
        plan = plan_of(&args, traits, SIZE_MAX);
        CHECK(blocks_of(&args, &plan) >= 0.9 * traits->sm_count, "%s: %s", traits->name, plan.name);
        plan = plan_of(&args, traits, 4 * 128 * 128 * sizeof(float));
        CHECK(plan.splits > 1 && (plan.splits <= 4 || plan.cluster), "%s: %s", traits->name,
              plan.name);
        plan = plan_of(&args, traits, 0);
        CHECK(traits->cc >= 90 ? plan.cluster : plan.splits == 1, "%s: %s", traits->name,
              plan.name);

        /* Of middling size: small tiles or splits, for the same end. */
        args = problem(1024, 1024, 1024, 0, 0, 1);
        plan = plan_of(&args, traits, SIZE_MAX);
        CHECK(blocks_of(&args, &plan) >= 0.75 * traits->sm_count, "%s: %s", traits->name,
              plan.name);

        /* Flat, with more tiles than can run at once: never split. */
        args = problem(16384, 16384, 32, 0, 0, 1);
        plan = plan_of(&args, traits, SIZE_MAX);
        CHECK(plan.splits == 1 && tile_of(&plan)->m == 128, "%s: %s", traits->name, plan.name);

        /* Narrow: no tile that would lie mostly outside. */
        args = problem(65536, 24, 4096, 0, 0, 1);
        plan = plan_of(&args, traits, SIZE_MAX);
        CHECK(tile_of(&plan)->n == 32, "%s: %s", traits->name, plan.name);
        args = problem(24, 65536, 4096, 0, 0, 1);
        plan = plan_of(&args, traits, SIZE_MAX);
        CHECK(tile_of(&plan)->m == 32, "%s: %s", traits->name, plan.name);

        /* Narrower: the thin kernel, whichever side is. */
        args = problem(65536, 16, 4096, 0, 0, 1);
        plan = plan_of(&args, traits, SIZE_MAX);
        CHECK(!strncmp(plan.name, "sgemm_thin_sm75_128x16", 22), "%s: %s", traits->name, plan.name);
        args = problem(1, 8192, 8192, 1, 1, 1);
        plan = plan_of(&args, traits, SIZE_MAX);
        CHECK(plan.kernel == TILEMM__SGEMM_THIN && plan.thin.m == 8192, "%s: %s", traits->name,
              plan.name);

        /* Many tiny ones. */
        args = problem(16, 16, 16, 0, 0, 16384);
        plan = plan_of(&args, traits, SIZE_MAX);
        CHECK(!strcmp(plan.name, "sgemm_tiny_sm75_16"), "%s: %s", traits->name, plan.name);
    }
}

/* On an H200 the choice is one of those that came within 8 % of the best that was measured (square
 * 512 and less by graph replay). */
static void check_measured(void)
{
    static const struct {
        int64_t m, n, k, batch;
        const char *good;
    } rows[] = {
        {64, 64, 64, 1, "32x32x32"},
        {128, 128, 128, 1, "32x32x32 32x32x32_cluster4"},
        {192, 192, 192, 1, "32x32x32 32x32x32_cluster2 32x32x32_cluster3"},
        {256, 256, 256, 1, "32x32x32_cluster2"},
        {384, 384, 384, 1, "64x64x64_cluster3"},
        {512, 512, 512, 1, "64x64x64_cluster2"},
        {768, 768, 768, 1, "64x64x16_cluster6 64x64x16_cluster7 128x64x16_cluster7"},
        {1024, 1024, 1024, 1, "128x128x16_cluster2 128x128x16_cluster4 64x64x64"},
        {1536, 1536, 1536, 1, "64x64x16_cluster3 64x64x16_cluster4 128x64x16_cluster4"},
        {2048, 2048, 2048, 1, "128x128x16"},
        {4096, 4096, 4096, 1, "128x128x16"},
        {4095, 4097, 4093, 1, "128x128x16"},
        {5000, 5000, 5000, 1, "128x128x16_and_thin8"},
        {8192, 8192, 8192, 1, "128x128x16"},
        {1023, 1025, 8191, 1, "128x128x16_cluster4_and_thin1"},
        {128, 128, 2048, 1, "32x32x32_splitk16"},
        {128, 128, 1048576, 1, "128x128x16_splitk132 128x128x16_splitk264"},
        {12289, 64, 12289, 1, "128x64x16_splitk4 64x64x16_splitk4 64x64x16_cluster4"},
        {64, 12289, 12289, 1, "64x64x16_cluster4 64x64x16_cluster8 64x64x16_splitk4"},
        {8192, 128, 8192, 1, "128x128x16_cluster2 128x128x16_cluster4"},
        {16384, 16384, 32, 1, "128x128x16"},
        {64, 64, 64, 8192, "64x64x16"},
        {128, 128, 128, 2048, "128x128x16"},
    };
    const tilemm__cuda_traits_t *h200 = &devices[DEVICES - 1];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tilemm__sgemm_args_t args =
            problem(rows[i].m, rows[i].n, rows[i].k, 0, 0, rows[i].batch);
        const tilemm__sgemm_cuda_plan_t plan = plan_of(&args, h200, SIZE_MAX);
        char good[128], name[sizeof plan.name];

        snprintf(good, sizeof good, " %s ", rows[i].good);
        snprintf(name, sizeof name, " %.40s ", plan.name + strlen("sgemm_ffma_sm80_"));
        CHECK(strstr(good, name), "%lld x %lld x %lld: %s, not one of %s", (long long)rows[i].m,
              (long long)rows[i].n, (long long)rows[i].k, plan.name, rows[i].good);
    }
}

/* ---- split planes ----------------------------------------------------------------------- */

/* Parts of the workspace follow each other, whole, and end where `bytes` says. */
static void check_split(const tilemm__sgemm_args_t *args, const tilemm__cuda_traits_t *traits,
                        size_t workspace, const tilemm__split_plan_t *plan)
{
    const size_t lines_a = (size_t)((args->m + 127) / 128 * 128 * plan->batch_group);
    const size_t lines_b = (size_t)((args->n + 127) / 128 * 128 * plan->batch_group);
    const size_t depth = (size_t)((plan->k_panel + 63) / 64 * 64);
    const size_t blocks = (size_t)((plan->k_panel + 511) / 512);
    const size_t eighth = traits->memory_bytes / 8;
    const size_t pair = 2 * 128 * 4 *
                        (plan->tile == TILEMM__SPLIT_128X64    ? 64
                         : plan->tile == TILEMM__SPLIT_128X256 ? 256
                                                               : 128);
    const size_t layers = plan->shared ? (size_t)(traits->sm_count / 2) / (size_t)plan->shared : 0;

    CHECK(plan->bytes <= workspace && plan->bytes <= (eighth > 64u << 20 ? eighth : 64u << 20),
          "%zu bytes", plan->bytes);
    CHECK(plan->k_panel == args->k || (plan->k_panel < args->k && plan->k_panel % 512 == 0),
          "panels of %lld", (long long)plan->k_panel);
    CHECK(plan->batch_group >= 1 && plan->batch_group <= args->batch_count, "groups of %lld",
          (long long)plan->batch_group);
    CHECK(plan->k_panel == args->k || (plan->batch_group == 1 && !args->a_array), "%lld",
          (long long)plan->batch_group);
    CHECK(plan->hi_a % 1024 == 0 && plan->lo_a % 1024 == 0 && plan->hi_b % 1024 == 0 &&
              plan->lo_b % 1024 == 0,
          "planes are not aligned");
    CHECK(plan->lo_a >= plan->hi_a + lines_a * depth * 2, "A's planes overlap");
    if (plan->products > 1)
        CHECK(plan->hi_b >= plan->lo_a + lines_a * depth * 2 &&
                  plan->exponents_a >= plan->lo_b + lines_b * depth * 2,
              "planes overlap");
    CHECK(plan->lo_b >= plan->hi_b + lines_b * depth * 2, "B's planes overlap");
    CHECK(plan->exponents_b >= plan->exponents_a + lines_a * blocks * 4 &&
              plan->zero >= plan->exponents_b + lines_b * blocks * 4,
          "exponents overlap");
    CHECK(plan->states_a >= plan->zero &&
              plan->states_b >= plan->states_a + lines_a * sizeof(tilemm__split_state_t) &&
              plan->sparse >= plan->states_b + lines_b * sizeof(tilemm__split_state_t) &&
              plan->counters >= plan->sparse + 12 &&
              plan->zero + plan->zero_bytes >= plan->counters + (size_t)plan->shared * 2 * 8 * 4,
          "states overlap, or are not zeroed");
    CHECK(plan->partial >= plan->zero + plan->zero_bytes &&
              plan->bytes >= plan->partial + (size_t)plan->shared * (layers + 2) * pair,
          "partial sums overlap");
}

static void check_splits(void)
{
    static const int64_t sizes[] = {17, 64, 100, 128, 500, 1000, 4096, 5000, 8192, 16384, 50000};
    static const size_t workspaces[] = {0, 100000, 1 << 20, 32 << 20, SIZE_MAX};
    static const tilemm_math_t modes[] = {TILEMM_MATH_FP32, TILEMM_MATH_TF32};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    tilemm__sgemm_cuda_plan_t plan;
    tilemm__sgemm_args_t args;
    int taken = 0;

    srand(2);
    for (int d = 0; d < DEVICES; d++)
        for (int i = 0; i < 1500; i++) {
            const size_t workspace = workspaces[rand() % 5];
            const tilemm_math_t math = modes[rand() % 2];

            args = problem(sizes[rand() % SIZES], sizes[rand() % SIZES], sizes[rand() % SIZES],
                           rand() % 2, rand() % 2, rand() % 3 ? 1 : rand() % 40 + 1);
            if (rand() % 4 == 0)
                args.a_array = args.b_array = (const float *const *)memory;
            tilemm__plan_sgemm_cuda(&args, math, &devices[d], workspace, &plan);
            CHECK(plan.workspace_bytes <= workspace, "%s: %zu of %zu bytes", plan.name,
                  plan.workspace_bytes, workspace);
            if (plan.kernel != TILEMM__SGEMM_SPLIT)
                continue;
            taken++;
            CHECK(devices[d].cc >= 80, "%s: %s", devices[d].name, plan.name);
            CHECK(plan.split.products == (math == TILEMM_MATH_TF32 ? 1
                                          : args.k <= 512          ? 4
                                                                   : 3),
                  "%s", plan.name);
            CHECK(math == TILEMM_MATH_TF32 || args.k >= 128, "%s: k = %lld", plan.name,
                  (long long)args.k);
            check_split(&args, &devices[d], workspace, &plan.split);
        }
    CHECK(taken > 1000, "only %d plans take planes", taken);

    for (int d = 0; d < DEVICES; d++) {
        const int wgmma = devices[d].cc == 90;
        const int good = wgmma || devices[d].cc == 80 || devices[d].cc == 87;

        for (int m = 0; m < 2; m++) {
            args = problem(8192, 8192, 8192, 0, 0, 1);
            tilemm__plan_sgemm_cuda(&args, modes[m], &devices[d], SIZE_MAX, &plan);
            if (good)
                CHECK(!strncmp(plan.name, wgmma ? "sgemm_split_sm90_" : "sgemm_split_sm80_", 17),
                      "%s: %s", devices[d].name, plan.name);
            else if (m == 0) /* tensor cores at twice FFMA's rate do not pay for three products */
                CHECK(plan.kernel == TILEMM__SGEMM_FFMA, "%s: %s", devices[d].name, plan.name);
        }
        /* Small ones are not worth a pass over the operands; short ones not accurate enough. */
        args = problem(256, 256, 256, 0, 0, 1);
        tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, &devices[d], SIZE_MAX, &plan);
        CHECK(plan.kernel != TILEMM__SGEMM_SPLIT, "%s: %s", devices[d].name, plan.name);
        args = problem(16384, 16384, 32, 0, 0, 1);
        tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, &devices[d], SIZE_MAX, &plan);
        CHECK(plan.kernel != TILEMM__SGEMM_SPLIT, "%s: %s", devices[d].name, plan.name);
    }

    /* On an H200: tiles that fill the multiprocessors, and pairs that lie so that few are idle. */
    args = problem(1024, 1024, 1024, 0, 0, 1);
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, &devices[DEVICES - 1], SIZE_MAX, &plan);
    CHECK(!strcmp(plan.name, "sgemm_split_sm90_128x64x64_p3"), "%s", plan.name);
    args = problem(4096, 4096, 4096, 0, 0, 1);
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, &devices[DEVICES - 1], SIZE_MAX, &plan);
    CHECK(!strcmp(plan.name, "sgemm_split_sm90_128x128x64_p3"), "%s", plan.name);
    CHECK(plan.split.tile == TILEMM__SPLIT_128X128, "tile %d", plan.split.tile);
    args = problem(4096, 4097, 4096, 0, 0, 1);
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, &devices[DEVICES - 1], SIZE_MAX, &plan);
    CHECK(plan.split.tile == TILEMM__SPLIT_128X128_DOWN, "tile %d", plan.split.tile);
    args = problem(4096, 4096, 4096, 0, 0, 1);
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_TF32, &devices[DEVICES - 1], SIZE_MAX, &plan);
    CHECK(!strcmp(plan.name, "sgemm_split_sm90_128x256x64_p1"), "%s", plan.name);
    args = problem(16384, 16384, 16384, 0, 0, 1); /* 2 GiB of planes, and in 100 MiB */
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, &devices[DEVICES - 1], SIZE_MAX, &plan);
    CHECK(plan.split.k_panel == 16384, "%s", plan.name);
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, &devices[DEVICES - 1], (size_t)100 << 20,
                            &plan);
    CHECK(!strcmp(plan.name, "sgemm_split_sm90_128x128x64_p3_panel512"), "%s", plan.name);

    /* 36 pairs for 66 clusters: all shared. 66 and 4 pairs: those 4. And nothing to share, or no
     * room for it. */
    args = problem(1025, 1023, 8191, 0, 0, 1);
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, &devices[DEVICES - 1], SIZE_MAX, &plan);
    CHECK(!strcmp(plan.name, "sgemm_split_sm90_128x128x64_p3_streamk"), "%s", plan.name);
    CHECK(plan.split.shared == 36, "%lld", (long long)plan.split.shared);
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, &devices[DEVICES - 1],
                            plan.split.partial + 1024, &plan);
    CHECK(plan.kernel == TILEMM__SGEMM_SPLIT && plan.split.shared == 0, "%s", plan.name);
    args = problem(7 * 128, 20 * 128, 8192, 0, 0, 1);
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, &devices[DEVICES - 1], SIZE_MAX, &plan);
    CHECK(plan.split.shared == 4, "%lld", (long long)plan.split.shared);
    args = problem(6 * 128, 22 * 128, 8192, 0, 0, 1);
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, &devices[DEVICES - 1], SIZE_MAX, &plan);
    CHECK(!strcmp(plan.name, "sgemm_split_sm90_128x128x64_p3"), "%s", plan.name);

    /* How k is shared: layers and tails cover it, and no tail is in more than two ranges. */
    for (int64_t tiles = 1; tiles < 66; tiles++)
        for (int64_t steps = 1; steps < 300; steps += rand() % 7 + 1) {
            int64_t layers, layer, tail;

            tilemm__split_share(tiles, 66, steps, &layers, &layer);
            tail = steps - layers * layer;
            CHECK(layers >= 1 && layer >= 1 && layers * tiles <= 66, "%lld layers",
                  (long long)layers);
            CHECK((layers - 1) * layer < steps, "%lld layers of %lld", (long long)layers,
                  (long long)layer);
            CHECK(tail <= 0 || (66 > layers * tiles && 66 - layers * tiles < tiles),
                  "%lld tiles, %lld steps: tails of %lld", (long long)tiles, (long long)steps,
                  (long long)tail);
        }
}

/* ---- fused ------------------------------------------------------------------------------ */

/* The plan for an H200's FP32 mode must be the fused kernel's, with that name; and what its kernel
 * takes for granted must hold. */
static void check_fused(const tilemm__sgemm_args_t *args, const char *name)
{
    tilemm__sgemm_cuda_plan_t plan;

    tilemm__plan_sgemm_cuda(args, TILEMM_MATH_FP32, &devices[DEVICES - 1], SIZE_MAX, &plan);
    CHECK(!strcmp(plan.name, name), "%s, not %s", plan.name, name);
    CHECK(plan.kernel == TILEMM__SGEMM_FUSED, "%s", plan.name);
    CHECK(plan.k_split % TILEMM__SGEMM_FUSED_K == 0, "%s", plan.name);
    CHECK((plan.splits - 1) * plan.k_split < args->k && plan.splits * plan.k_split >= args->k, "%s",
          plan.name);
    CHECK(!plan.cluster || (plan.splits > 1 && plan.splits <= TILEMM__SGEMM_FUSED_MOST_CLUSTER &&
                            plan.workspace_bytes == 0),
          "%s", plan.name);
}

static void check_fused_plans(void)
{
    const tilemm__cuda_traits_t *h200 = &devices[DEVICES - 1];
    tilemm__sgemm_args_t args = problem(512, 512, 512, 0, 0, 1);
    tilemm__sgemm_cuda_plan_t plan;

    check_fused(&args, "sgemm_fused_sm90_64x64x32_cluster4");
    args = problem(8192, 128, 8192, 0, 0, 1);
    check_fused(&args, "sgemm_fused_sm90_128x128x32_cluster2");
    args = problem(128, 128, 1048576, 0, 0, 1);
    check_fused(&args, "sgemm_fused_sm90_128x128x32_splitk132");
    args = problem(16384, 16384, 32, 0, 0, 1);
    check_fused(&args, "sgemm_fused_sm90_128x128x32");
    args = problem(128, 128, 128, 0, 0, 2048);
    check_fused(&args, "sgemm_fused_sm90_128x128x32");
    args = problem(64, 64, 64, 0, 0, 8192);
    check_fused(&args, "sgemm_fused_sm90_64x64x32");
    args = problem(8192, 16, 8192, 0, 0, 1); /* few columns, and few rows */
    check_fused(&args, "sgemm_fused_sm90_256x16x32_splitk4");
    args = problem(16, 8192, 8192, 0, 0, 1);
    check_fused(&args, "sgemm_fused_sm90_16x256x32_splitk4");
    args = problem(8192, 30, 8192, 0, 0, 1);
    args.ldb = 32;
    check_fused(&args, "sgemm_fused_sm90_256x32x32_splitk4");
    args = problem(64, 64, 64, 0, 0, 8192);

    /* Never in strict mode; nor for what the copy engine does not take. */
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32_STRICT, h200, SIZE_MAX, &plan);
    CHECK(plan.kernel == TILEMM__SGEMM_FFMA, "%s", plan.name);
    args.a = place(1);
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, h200, SIZE_MAX, &plan);
    CHECK(plan.kernel == TILEMM__SGEMM_FFMA, "%s", plan.name);
    args = problem(64, 64, 64, 0, 0, 8192);
    args.ldb = 65;
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, h200, SIZE_MAX, &plan);
    CHECK(plan.kernel == TILEMM__SGEMM_FFMA, "%s", plan.name);
    args = problem(64, 64, 64, 0, 0, 8192);
    args.stride_a = 64 * 64 + 2;
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, h200, SIZE_MAX, &plan);
    CHECK(plan.kernel == TILEMM__SGEMM_FFMA, "%s", plan.name);
    args = problem(64, 64, 64, 0, 0, 8192);
    args.b_array = (const float *const *)memory;
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, h200, SIZE_MAX, &plan);
    CHECK(plan.kernel == TILEMM__SGEMM_FFMA, "%s", plan.name);
    /* With no workspace, splits of k are a cluster. */
    args = problem(128, 128, 1048576, 0, 0, 1);
    tilemm__plan_sgemm_cuda(&args, TILEMM_MATH_FP32, h200, 0, &plan);
    CHECK(plan.cluster && plan.workspace_bytes == 0, "%s", plan.name);
}

int main(void)
{
    check_everywhere();
    check_particular();
    check_measured();
    check_splits();
    check_fused_plans();
    return check_exit();
}
