/* plan_reduce.c - what holds of every plan of the reductions: random problems, limits and devices.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "kernels/reduce/layout.h"
#include "lib/reduce/plan_cpu.h"
#include "lib/reduce/plan_cuda.h"
#include "lib/tuning.h"
#include "machines.h"
#include "strided.h"
#include "tests/support/random.h"
#include "tilemm.h"

static tilemm__reduce_args_t random_problem(void)
{
    const int whole = pick(3) == 0, columns = pick(2) == 0;
    static int64_t index;
    tilemm__reduce_args_t args = {0};
    args.op = (int)pick(whole ? TILEMM__DOT + 1 : TILEMM__DOT);
    args.nan_ignore = pick(3) == 0;
    args.count = whole ? 1 : pick_size(17);
    args.n = pick(20) ? pick_size(whole ? 34 : 17) : 0;
    args.istride = columns ? args.count : pick(4) ? 1 : 3;
    args.vstride = columns ? 1 : args.n;
    args.y_istride = pick(3) ? 1 : 2;
    args.index_out = args.op >= TILEMM__MAX && args.op <= TILEMM__AMIN && pick(2) ? &index : NULL;
    args.out_stride = 1;
    return args;
}

/* Each step reads what the one before leaves, the last leaves the result, and partial results lie
 * one after the other in the workspace. */
static void check_steps(const tilemm__reduce_args_t *args, const tilemm__reduce_cuda_plan_t *plan)
{
    int64_t length = args->n, room = 0;
    for (int i = 0; i < plan->steps; i++) {
        const tilemm__reduce_step_t *step = &plan->step[i];
        const int64_t kept = i == 0 ? plan->range : step->items;
        const int64_t tiles = tilemm__tile_count(step->length);
        CHECK(step->length == length && step->place == room, "step %d of %s", i, plan->name);
        CHECK((step->items * step->splits == 1) == (i == plan->steps - 1), "step %d", i);
        CHECK(step->launch.blocks > 0 && step->launch.blocks <= INT32_MAX, "step %d", i);
        CHECK(step->launch.threads > 0 && step->launch.threads <= 1024, "step %d", i);
        if (step->launch.kernel == TILEMM__SUM_TILES) { /* all tiles once */
            const int each = step->launch.item_tiles;

            CHECK(step->items * each >= tiles && (step->items - 1) * each < tiles, "%lld items",
                  (long long)step->items);
        }
        room += i < plan->steps - 1 ? plan->vectors * kept * step->splits : 0;
        length = step->items;
    }
    CHECK(plan->room == room + room % 2, "%lld", (long long)room);
    CHECK(plan->range == plan->step[0].items ||
              (plan->vectors == 1 && plan->range % TILEMM__TILE_ELEMS == 0 && plan->steps > 2),
          "%lld items of %s", (long long)plan->range, plan->name);
}

static int begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* `reached` counts the plans of each row. */
static void check_cuda(const tilemm__reduce_args_t *args, const tilemm__cuda_traits_t *traits,
                       const char *variant, int *reached)
{
    const tilemm__limits_t limits = {
        .cuda = traits, .workspace = pick_workspace(), .variant = variant};
    tilemm__reduce_cuda_plan_t plan, again;
    memset(&plan, 1, sizeof plan);
    CHECK(tilemm__plan_reduce_cuda(args, &limits, &plan) == TILEMM_SUCCESS, "op %d", args->op);
    CHECK(tilemm__plan_reduce_cuda(args, &limits, &again) == TILEMM_SUCCESS, "op %d", args->op);
    CHECK(memcmp(&plan, &again, sizeof plan) == 0, "%s, another time %s", plan.name, again.name);
    CHECK(plan.workspace <= limits.workspace, "%zu of %zu bytes", plan.workspace, limits.workspace);
    CHECK(plan.vectors >= 1 && plan.vectors <= args->count, "%lld", (long long)plan.vectors);
    CHECK(plan.steps >= 1 && plan.steps <= TILEMM__REDUCE_MAX_STEPS, "%d steps", plan.steps);
    CHECK(tilemm__reduce_rows[plan.step[0].launch.variant].cc <= traits->cc, "%s on %d", plan.name,
          traits->cc);
    check_steps(args, &plan);
    reached[plan.step[0].launch.variant] += begins_with(plan.name, variant);
}

static void check_segments(const tilemm__cuda_traits_t *traits, const char *variant, int *reached)
{
    const tilemm__segments_args_t args = {.op = (int)pick(TILEMM__DOT), .segments = pick_size(24)};
    const tilemm__limits_t limits = {
        .cuda = traits, .workspace = pick_workspace(), .variant = variant};
    tilemm__segments_cuda_plan_t plan;
    CHECK(tilemm__plan_segments_cuda(&args, &limits, &plan) == TILEMM_SUCCESS, "op %d", args.op);
    CHECK(plan.workspace <= limits.workspace, "%zu of %zu bytes", plan.workspace, limits.workspace);
    reached[plan.launch[0].variant] += begins_with(plan.name, variant);
}

static void check_cpu(const tilemm__reduce_args_t *args, const tilemm__cpu_traits_t *traits)
{
    tilemm__cpu_tuning_t tuning = tilemm__default_tuning(traits);
    tuning.reduce_thread_elements <<= pick(8);
    const tilemm__limits_t limits = {.cpu = traits,
                                     .tuning = &tuning,
                                     .threads = 1 + (int)pick(traits->threads),
                                     .workspace = pick_workspace(),
                                     .variant = ""};
    tilemm__reduce_cpu_plan_t plan, again;
    int64_t lanes = TILEMM__TILE_LANES;
    memset(&plan, 1, sizeof plan);
    CHECK(tilemm__plan_reduce_cpu(args, &limits, &plan) == TILEMM_SUCCESS, "op %d", args->op);
    CHECK(tilemm__plan_reduce_cpu(args, &limits, &again) == TILEMM_SUCCESS, "op %d", args->op);
    CHECK(memcmp(&plan, &again, sizeof plan) == 0, "%d and %d", plan.method, again.method);
    CHECK(plan.workspace <= limits.workspace, "%zu of %zu bytes", plan.workspace, limits.workspace);
    CHECK(plan.threads >= 1 && plan.threads <= limits.threads, "%d threads", plan.threads);
    for (int64_t m = tilemm__tile_count(args->n); m > 1; m = tilemm__fold_count(m))
        lanes += TILEMM__TILE_LANES;
    if (plan.method >= TILEMM__REDUCE_COLUMNS)
        CHECK((size_t)plan.threads * plan.lanes <= plan.workspace && plan.width > 0 &&
                  plan.width <= TILEMM__REDUCE_MAX_COLUMNS &&
                  ((args->op >= TILEMM__MAX && args->op <= TILEMM__AMIN) ||
                   lanes * plan.width <= (plan.lanes ? (int64_t)(plan.lanes / sizeof(double))
                                                     : (int64_t)TILEMM__REDUCE_STACK_LANES)),
              "%lld columns", (long long)plan.width);
}

/* Shared memory of sums of columns: a warp writes and reads 32 columns side by side, sums (16
 * bytes) and counts or keys (4), without bank conflicts. */
static void check_columns_tile(void)
{
    for (int lane = 0; lane < TILEMM__TILE_LANES; lane++)
        for (int bytes = 4; bytes <= 16; bytes += 12) {
            tilemm_warp_access_t access = {.elem_bytes = bytes, .active = UINT32_MAX};
            for (int col = 0; col < TILEMM__DOWN_COLS; col++)
                access.addr[col] = (uint64_t)tilemm__down_index(lane, col) * (unsigned)bytes;
            const tilemm_shared_cost_t cost = shared_cost(90, 0, &access);
            CHECK(cost.conflicts == 0 && cost.wavefronts == bytes / 4,
                  "lane %d, %d bytes: %d wavefronts", lane, bytes, cost.wavefronts);
        }
}

/* From how many elements on threads work. */
static void check_cpu_constants(void)
{
    const int64_t offsets[2] = {0, 100000};
    const tilemm__reduce_args_t args = {
        .op = TILEMM_SUM, .count = 1, .n = 100000, .istride = 1, .out_stride = 1};
    const tilemm__segments_args_t segments = {.op = TILEMM_SUM, .segments = 1, .offsets = offsets};
    for (int i = 0; i < 2; i++) {
        tilemm__cpu_tuning_t tuning = tilemm__default_tuning(&cpus[1]);
        const tilemm__limits_t limits = {
            .cpu = &cpus[1], .tuning = &tuning, .threads = 4, .workspace = SIZE_MAX, .variant = ""};
        tilemm__reduce_cpu_plan_t plan;
        tilemm__segments_cpu_plan_t of_segments;
        tuning.reduce_thread_elements = tuning.segments_thread_elements =
            i ? 1 << 10 : (int64_t)1 << 50;
        tilemm__plan_reduce_cpu(&args, &limits, &plan);
        tilemm__plan_segments_cpu(&segments, &limits, &of_segments);
        CHECK(plan.threads == (i ? 4 : 1), "%d threads", plan.threads);
        CHECK(of_segments.threads == (i ? 4 : 1), "%d threads", of_segments.threads);
    }
}

int main(void)
{
    static int reached[TILEMM__REDUCE_ROW_COUNT];
    for (int i = 0; i < 20000; i++) {
        const tilemm__reduce_args_t args = random_problem();
        const tilemm__cuda_traits_t *gpu = &gpus[pick(GPUS)];
        const int row = (int)pick(TILEMM__REDUCE_ROW_COUNT);
        const char *variant = pick(2) ? tilemm__reduce_rows[row].name : "";
        check_cuda(&args, gpu, variant, reached);
        check_segments(gpu, variant, reached);
        check_cpu(&args, &cpus[pick(CPUS)]);
    }
    for (int i = 0; i < TILEMM__REDUCE_ROW_COUNT; i++) {
        const tilemm__reduce_kernel_t kernel = tilemm__reduce_rows[i].kernel;
        const int reads_elements = kernel < TILEMM__PARTIALS_TILES ||
                                   kernel == TILEMM__SEGMENTS_WARP ||
                                   kernel == TILEMM__SEGMENTS_GROUP;
        CHECK((reached[i] > 0) == reads_elements, "%s", tilemm__reduce_rows[i].name);
        for (int j = 0; j < TILEMM__REDUCE_ROW_COUNT; j++) /* each can be asked for */
            CHECK(i == j || !begins_with(tilemm__reduce_rows[j].name, tilemm__reduce_rows[i].name),
                  "%s", tilemm__reduce_rows[i].name);
    }
    check_columns_tile();
    check_cpu_constants();
    return check_exit();
}
