/* plan_reduce.c - the plans of the reductions, on traits of several machines: no GPU needed.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "kernels/reduce/cuda/reduce.h"
#include "lib/reduce/plan.h"
#include "tests/support/check.h"
#include "kernels/reduce/layout.h"
#include "tilemm.h"

static const tilemm__cuda_traits_t gpus[] = {
    {"T4", 75, 40, 1024, 65536, 65536, (size_t)4 << 20, (size_t)16 << 30},
    {"A100", 80, 108, 2048, 166912, 167936, (size_t)40 << 20, (size_t)80 << 30},
    {"RTX 3090", 86, 82, 1536, 101376, 102400, (size_t)6 << 20, (size_t)24 << 30},
    {"L4", 89, 58, 1536, 101376, 102400, (size_t)48 << 20, (size_t)24 << 30},
    {"H200", 90, 132, 2048, 232448, 233472, (size_t)60 << 20, (size_t)141 << 30},
};

static const tilemm__cpu_traits_t cpus[] = {
    {"small", TILEMM__ISA_GENERIC, 2, 16384, 262144, 262144},
    {"laptop", TILEMM__ISA_AVX2, 8, 32768, 524288, (size_t)16 << 20},
    {"server", TILEMM__ISA_AVX512, 96, 49152, (size_t)2 << 20, (size_t)105 << 20},
    {"arm", TILEMM__ISA_NEON, 64, 65536, (size_t)1 << 20, (size_t)32 << 20},
};

enum { GPUS = sizeof gpus / sizeof *gpus, CPUS = sizeof cpus / sizeof *cpus };

static const int64_t lengths[] = {0,
                                  1,
                                  31,
                                  32,
                                  33,
                                  256,
                                  257,
                                  1023,
                                  1024,
                                  1025,
                                  16384,
                                  65536,
                                  65537,
                                  1 << 20,
                                  (1 << 20) + 1,
                                  1 << 24,
                                  1 << 28,
                                  (int64_t)1 << 32,
                                  ((int64_t)1 << 40) + 7};
static const int64_t counts[] = {1, 2, 31, 33, 128, 4096, 1048576};
static const size_t rooms[] = {0, 1, 4096, 16384, 100000, 1 << 20, SIZE_MAX};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Vectors along a row (down 0), or columns (down 1). */
static tilemm__reduce_args_t problem(int op, int arg, int down, int64_t count, int64_t n)
{
    static const float x[1];
    static float out[1];
    static int64_t index[1];
    tilemm__reduce_args_t args;
    memset(&args, 0, sizeof args);
    args.op = op;
    args.nan_ignore = op == TILEMM__MEAN;
    args.count = count;
    args.n = n;
    args.x = args.y = x;
    args.istride = down ? count : 1;
    args.vstride = down ? 1 : n;
    args.y_istride = 1;
    args.out = out;
    args.index_out = arg ? index : NULL;
    args.out_stride = 1;
    return args;
}

/* ---- what holds of every plan ------------------------------------------------------------- */

static void check_cuda_plan(const tilemm__reduce_args_t *args, const tilemm__cuda_traits_t *gpu,
                            size_t room)
{
    tilemm__reduce_cuda_plan_t plan;
    const int64_t tiles = tilemm__tile_count(args->n);
    int64_t used = 0, length = args->n;
    int panels;
    tilemm__plan_reduce_cuda(&plan, args, gpu, room);
    panels = plan.panel < plan.step[0].items;
#define AT                                                                                         \
    "%s, op %d, %lld x %lld, room %zu", gpu->name, args->op, (long long)args->count,               \
        (long long)args->n, room
    CHECK(plan.workspace <= room, AT);
    CHECK(plan.workspace == (size_t)plan.room * (plan.value_bytes + (plan.has_extras ? 8 : 0)), AT);
    CHECK(plan.vectors >= 1 && plan.vectors <= args->count, AT);
    CHECK(plan.steps >= 1 && plan.steps <= TILEMM__REDUCE_MAX_STEPS, AT);
    CHECK(!panels || (plan.vectors == 1 && plan.panel % TILEMM__TILE_ELEMS == 0 && plan.panel > 0 &&
                      plan.steps > 2),
          AT);
    for (int i = 0; i < plan.steps; i++) {
        const tilemm__reduce_step_t *step = &plan.step[i];
        const int last = i == plan.steps - 1;
        CHECK(step->length == length, AT);
        CHECK((step->items * step->parts == 1) == last, AT);
        CHECK(step->kind == TILEMM__STEP_BLOCK || step->kind == TILEMM__STEP_CLUSTER ||
                  step->items == (tilemm__tile_count(length) - 1) / step->tiles + 1 ||
                  (i == 0 && args->op >= TILEMM__MAX && args->op <= TILEMM__AMIN &&
                   step->items <= tiles),
              AT);
        CHECK((step->kind == TILEMM__STEP_EACH) == (args->n == 1), AT);
        CHECK(step->tiles == 1 || (i == 0 && step->tiles == 32), AT);
        CHECK(step->share == 1 || step->share == 2 || step->share == 4 || step->share == 8, AT);
        CHECK(step->kind != TILEMM__STEP_BLOCK || last, AT);
        CHECK(step->kind != TILEMM__STEP_CLUSTER ||
                  (plan.steps == 1 && gpu->cc >= 90 && tiles <= 64 && args->istride == 1 &&
                   (args->op < TILEMM__MAX || args->op > TILEMM__AMIN)),
              AT);
        CHECK(step->parts == 1 ||
                  ((step->parts == 4 || (step->parts == 2 && step->kind != TILEMM__STEP_DOWN)) &&
                   i == 0 && !panels && step->items <= 1024 && args->count <= gpu->sm_count &&
                   plan.step[1].kind == TILEMM__STEP_BLOCK &&
                   (step->kind == TILEMM__STEP_DOWN ? step->width == 8
                                                    : step->tiles == 32 && step->share == 8)),
              AT);
        CHECK(step->kind != TILEMM__STEP_DOWN ||
                  (i == 0 &&
                   (step->width == 4 || step->width == 32 || (step->width == 1 && args->n <= 32) ||
                    (step->width == 2 && args->n <= 128) || step->width == 8)),
              AT);
        CHECK(step->kind != TILEMM__STEP_TILES || step->width == 1 ||
                  (last && step->width * length <= TILEMM__TILE_ELEMS && step->width <= 32),
              AT);
        CHECK(step->kind != TILEMM__STEP_BESIDE ||
                  (i == 1 && last && !panels && plan.step[0].kind == TILEMM__STEP_DOWN &&
                   plan.step[0].parts == 1 && length <= 32),
              AT);
        CHECK(i == 0 || step->kind != TILEMM__STEP_BLOCK || length <= 1 << 15, AT);
        if (!last) {
            CHECK(step->place == used, AT);
            used += plan.vectors * (i == 0 ? plan.panel : step->items) * step->parts;
        }
        length = step->items;
    }
    CHECK((used + 1) / 2 * 2 == plan.room, AT);
    CHECK(!panels || plan.step[1].kind == TILEMM__STEP_TILES, AT);
#undef AT
}

static void check_cpu_plan(const tilemm__reduce_args_t *args, const tilemm__cpu_traits_t *cpu,
                           int threads, size_t room)
{
    tilemm__reduce_cpu_plan_t plan;
    int64_t sets = 1;
    tilemm__plan_reduce_cpu(&plan, args, cpu, threads, room);
#define AT                                                                                         \
    "%s, op %d, %lld x %lld, %d threads, room %zu", cpu->name, args->op, (long long)args->count,   \
        (long long)args->n, threads, room
    CHECK(plan.workspace <= room, AT);
    CHECK(plan.threads >= 1 && plan.threads <= threads, AT);
    for (int64_t m = tilemm__tile_count(args->n); m > 1; m = tilemm__fold_count(m))
        sets++;
    switch (plan.method) {
    case TILEMM__REDUCE_VECTORS:
        CHECK(plan.threads <= args->count && plan.workspace == 0, AT);
        break;
    case TILEMM__REDUCE_TILES:
        CHECK(plan.panel > 0 && plan.panel % TILEMM__REDUCE_STACK_TILES == 0, AT);
        CHECK(plan.workspace == (size_t)plan.panel * 16 ||
                  (plan.workspace == 0 && plan.panel == TILEMM__REDUCE_STACK_TILES),
              AT);
        break;
    case TILEMM__REDUCE_STRIPS:
    case TILEMM__REDUCE_PIECES:
        CHECK(args->vstride == 1 && args->count > 1, AT);
        CHECK(plan.strip >= 16 && plan.strip <= TILEMM__REDUCE_MAX_STRIP, AT);
        CHECK(args->op >= TILEMM__MAX ||
                  sets * TILEMM__TILE_LANES * plan.strip <= TILEMM__REDUCE_STACK_LANES,
              AT);
        if (plan.method == TILEMM__REDUCE_PIECES) {
            CHECK(plan.piece_rows % TILEMM__TILE_ELEMS == 0 && plan.piece_rows > 0, AT);
            CHECK(args->op >= TILEMM__MAX || plan.piece_rows == TILEMM__TILE_ELEMS, AT);
        } else {
            CHECK(plan.workspace == 0, AT);
        }
        break;
    }
#undef AT
}

static void check_all(void)
{
    static const struct {
        int op, arg;
    } ops[] = {{TILEMM__SUM, 0}, {TILEMM__MEAN, 0}, {TILEMM__MAX, 0}, {TILEMM__AMIN, 1}};
    for (size_t o = 0; o < COUNT_OF(ops); o++) {
        for (size_t c = 0; c < COUNT_OF(counts); c++) {
            for (size_t l = 0; l < COUNT_OF(lengths); l++) {
                for (int down = 0; down < 2; down++) {
                    const tilemm__reduce_args_t args =
                        problem(ops[o].op, ops[o].arg, down, counts[c], lengths[l]);
                    for (size_t r = 0; r < COUNT_OF(rooms); r++) {
                        for (int g = 0; g < GPUS; g++)
                            check_cuda_plan(&args, &gpus[g], rooms[r]);
                        for (int p = 0; p < CPUS; p++) {
                            check_cpu_plan(&args, &cpus[p], 1, rooms[r]);
                            check_cpu_plan(&args, &cpus[p], cpus[p].threads, rooms[r]);
                        }
                    }
                }
            }
        }
    }
}

/* ---- decisions that are meant ------------------------------------------------------------- */

static tilemm__reduce_cuda_plan_t cuda_plan(int gpu, int down, int64_t count, int64_t n,
                                            size_t room)
{
    const tilemm__reduce_args_t args = problem(TILEMM__SUM, 0, down, count, n);
    tilemm__reduce_cuda_plan_t plan;
    tilemm__plan_reduce_cuda(&plan, &args, &gpus[gpu], room);
    return plan;
}

static void check_cuda_decisions(void)
{
    enum { T4 = 0, H200 = 4 };
    tilemm__reduce_args_t search;
    tilemm__reduce_cuda_plan_t plan = cuda_plan(H200, 0, 1, 1 << 28, SIZE_MAX);
    CHECK(plan.steps == 2 && plan.workspace == 8192 * 16 && plan.step[0].share == 8, "%d",
          plan.steps);
    plan = cuda_plan(H200, 0, 1, 1 << 24, SIZE_MAX);
    CHECK(plan.steps == 2 && plan.step[0].items == 512 && plan.step[0].parts == 2, "%d",
          plan.steps);
    CHECK(plan.step[1].kind == TILEMM__STEP_BLOCK, "%d", (int)plan.step[1].kind);
    plan = cuda_plan(H200, 0, 1, 1 << 24, 512); /* no room for four parts of each item */
    CHECK(plan.step[0].parts == 1, "%d", plan.steps);
    plan = cuda_plan(H200, 0, 1, 65536, SIZE_MAX); /* 8 blocks of 8 warps */
    CHECK(plan.steps == 1 && plan.step[0].kind == TILEMM__STEP_CLUSTER, "%d", plan.steps);
    plan = cuda_plan(H200, 0, 1, 65537, SIZE_MAX); /* more tiles than a cluster's warps */
    CHECK(plan.steps == 2 && plan.step[0].items == 3 && plan.step[0].parts == 4, "%d", plan.steps);
    plan = cuda_plan(T4, 0, 1, 65536, SIZE_MAX); /* no clusters: 64 warps */
    CHECK(plan.steps == 2 && plan.step[0].items == 2 && plan.step[0].parts == 4, "%d", plan.steps);
    search = problem(TILEMM__AMAX, 1, 0, 1, 1 << 26); /* 16 tiles for each of 4096 warps */
    tilemm__plan_reduce_cuda(&plan, &search, &gpus[H200], SIZE_MAX);
    CHECK(plan.steps == 2 && plan.step[0].share == 8 && plan.step[0].items == 512, "%d",
          plan.step[0].share);
    plan = cuda_plan(H200, 0, 1, 8192, SIZE_MAX);
    CHECK(plan.steps == 1 && plan.step[0].share == 8, "%d", plan.steps);
    plan = cuda_plan(H200, 0, 1 << 20, 128, SIZE_MAX);
    CHECK(plan.steps == 1 && plan.step[0].width == 8, "%d", plan.step[0].width);
    plan = cuda_plan(H200, 0, 65536, 31, SIZE_MAX);
    CHECK(plan.steps == 1 && plan.step[0].width == 32, "%d", plan.step[0].width);
    plan = cuda_plan(H200, 0, 16384, 16384, SIZE_MAX); /* a block for each vector */
    CHECK(plan.steps == 1 && plan.step[0].share == 8, "%d", plan.steps);
    plan = cuda_plan(H200, 1, 16384, 16384, SIZE_MAX);
    CHECK(plan.steps == 2 && plan.step[0].kind == TILEMM__STEP_DOWN && plan.step[0].width == 8 &&
              plan.step[1].kind == TILEMM__STEP_BESIDE,
          "%d", plan.step[0].width);
    plan = cuda_plan(H200, 1, 31, 65536, SIZE_MAX); /* 64 tiles: a quarter to a block */
    CHECK(plan.step[0].kind == TILEMM__STEP_DOWN && plan.step[0].width == 8 &&
              plan.step[0].parts == 4,
          "%d", plan.step[0].width);
    plan = cuda_plan(T4, 1, 31, 262144, SIZE_MAX); /* 256 blocks fill a small GPU */
    CHECK(plan.step[0].width == 8 && plan.step[0].parts == 1, "%d", plan.step[0].width);
    plan = cuda_plan(H200, 1, 1 << 20, 512, SIZE_MAX); /* all of a tile in one go */
    CHECK(plan.steps == 1 && plan.step[0].width == 4, "%d", plan.step[0].width);
    plan = cuda_plan(H200, 1, 1 << 20, 128, SIZE_MAX); /* few warps to meet */
    CHECK(plan.steps == 1 && plan.step[0].width == 2, "%d", plan.step[0].width);
    plan = cuda_plan(H200, 1, 1 << 20, 16, SIZE_MAX);
    CHECK(plan.steps == 1 && plan.step[0].width == 1, "%d", plan.step[0].width);
    plan = cuda_plan(H200, 1, 1, 4096, SIZE_MAX); /* one column is a vector with a stride */
    CHECK(plan.step[0].kind != TILEMM__STEP_DOWN, "%d", (int)plan.step[0].kind);
    plan = cuda_plan(H200, 0, 1, 1 << 28, 65536); /* 64 KiB: panels */
    CHECK(plan.panel < 8192 && plan.steps > 2, "%lld", (long long)plan.panel);
    plan = cuda_plan(H200, 0, 1, 1 << 28, 1024); /* too little for those: none at all */
    CHECK(plan.steps == 1 && plan.step[0].kind == TILEMM__STEP_BLOCK && plan.workspace == 0, "%d",
          plan.steps);
    plan = cuda_plan(H200, 1, 16384, 16384, 1 << 20); /* half of the room: columns in chunks */
    CHECK(plan.vectors < 16384 && plan.vectors % 32 == 0 && plan.panel == 16, "%lld",
          (long long)plan.vectors);
}

static void check_segment_plans(void)
{
    for (int g = 0; g < GPUS; g++) {
        for (size_t c = 0; c < COUNT_OF(counts); c++) {
            tilemm__segments_args_t args;
            tilemm__segments_cuda_plan_t plan;
            memset(&args, 0, sizeof args);
            args.segments = counts[c];
            for (size_t r = 0; r < COUNT_OF(rooms); r++) {
                tilemm__plan_segments_cuda(&plan, &args, &gpus[g], rooms[r]);
                CHECK(plan.workspace <= rooms[r], "%s, room %zu", gpus[g].name, rooms[r]);
                CHECK(plan.workspace >= (plan.room + plan.span_room > 0
                                             ? TILEMM__SEGMENTS_BYTES(plan.room, plan.span_room)
                                             : 0),
                      "%s, room %zu", gpus[g].name, rooms[r]);
                CHECK(plan.group == 1 || plan.group == 32, "%d", plan.group);
                CHECK(plan.warp_limit >= 32 && plan.blocks > 0, "%lld", (long long)plan.warp_limit);
            }
            /* Room for the spans of all that memory can hold, in a few megabytes. */
            CHECK((size_t)plan.span_room >= gpus[g].memory_bytes / 4 / (1 << 20) * 2, "%s",
                  gpus[g].name);
            CHECK(plan.workspace <= 4 << 20, "%s", gpus[g].name);
        }
    }
}

static void check_cpu_decisions(void)
{
    tilemm__reduce_cpu_plan_t plan;
    tilemm__reduce_args_t args = problem(TILEMM__SUM, 0, 0, 1, 1000);
    tilemm__plan_reduce_cpu(&plan, &args, &cpus[2], 96, SIZE_MAX);
    CHECK(plan.threads == 1 && plan.workspace == 0, "%d", plan.threads); /* too small to share */
    args = problem(TILEMM__SUM, 0, 0, 1, 1 << 24);
    tilemm__plan_reduce_cpu(&plan, &args, &cpus[2], 96, SIZE_MAX);
    CHECK(plan.method == TILEMM__REDUCE_TILES && plan.threads == 96 && plan.panel == 16384, "%lld",
          (long long)plan.panel);
    tilemm__plan_reduce_cpu(&plan, &args, &cpus[2], 96, 0);
    CHECK(plan.method == TILEMM__REDUCE_TILES && plan.threads == 96 && plan.workspace == 0, "%d",
          plan.threads);
    args = problem(TILEMM__SUM, 0, 0, 4096, 4096);
    tilemm__plan_reduce_cpu(&plan, &args, &cpus[1], 8, SIZE_MAX);
    CHECK(plan.method == TILEMM__REDUCE_VECTORS && plan.threads == 8, "%d", (int)plan.method);
    args = problem(TILEMM__SUM, 0, 1, 4096, 4096);
    tilemm__plan_reduce_cpu(&plan, &args, &cpus[1], 8, SIZE_MAX);
    CHECK(plan.method == TILEMM__REDUCE_STRIPS && plan.strip * 32 * 8 <= 32768, "%lld",
          (long long)plan.strip);
    args = problem(TILEMM__SUM, 0, 1, 128, 1 << 20); /* too few columns for all threads */
    tilemm__plan_reduce_cpu(&plan, &args, &cpus[2], 96, SIZE_MAX);
    CHECK(plan.method == TILEMM__REDUCE_PIECES && plan.threads == 96, "%d", (int)plan.method);
    tilemm__plan_reduce_cpu(&plan, &args, &cpus[2], 96, 0);
    CHECK(plan.method == TILEMM__REDUCE_STRIPS, "%d", (int)plan.method);
}

/* The shared tile of sums down the rows: a warp writes and reads 32 columns side by side, sums (16
 * bytes) and counts or keys (4), at every step of the fold. No two warps have the same place. */
static void check_down_tile(void)
{
    static const int ccs[] = {75, 80, 86, 89, 90, 120};
    static const int widths[] = {(int)sizeof(tilemm__sum_t), (int)sizeof(int32_t)};
    static int used[TILEMM__TILE_LANES * TILEMM__DOWN_COLS];

    CHECK(sizeof(tilemm__sum_t) == 16, "%zu", sizeof(tilemm__sum_t));
    for (int warp = 0; warp < TILEMM__TILE_LANES; warp++)
        for (int w = 0; w < 2; w++) {
            tilemm_warp_access_t access = {.elem_bytes = widths[w], .active = UINT32_MAX};
            for (int col = 0; col < TILEMM__DOWN_COLS; col++) {
                const int index = tilemm__down_index(warp, col);

                CHECK(index >= 0 && index < TILEMM__TILE_LANES * TILEMM__DOWN_COLS, "%d", index);
                CHECK(w || !used[index]++, "%d", index);
                access.addr[col] = (uint64_t)index * (unsigned)widths[w];
            }
            for (int i = 0; i < 6; i++) {
                tilemm_shared_cost_t cost;

                CHECK(tilemm_model_shared(ccs[i], &access, &cost) == TILEMM_SUCCESS &&
                          cost.conflicts == 0 && cost.wavefronts == widths[w] / 4,
                      "warp %d, %d bytes: %d wavefronts", warp, widths[w], cost.wavefronts);
            }
        }
}

int main(void)
{
    check_all();
    check_cuda_decisions();
    check_segment_plans();
    check_cpu_decisions();
    check_down_tile();
    return check_exit();
}
