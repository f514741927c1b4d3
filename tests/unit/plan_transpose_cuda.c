/* plan_transpose_cuda.c - the plans of transposes for several real devices, and the layouts of the
 * tiles that they name; needs no GPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <string.h>

#include "tests/support/check.h"
#include "kernels/transpose/inplace.h"
#include "lib/transpose/plan_cuda.h"
#include "kernels/transpose/layout.h"
#include "tilemm.h"

#define KIB (size_t)1024
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

/* Name, capability, multiprocessors, threads, shared memory of a block and of a multiprocessor, L2
 * cache, memory. */
static const tilemm__cuda_traits_t devices[] = {
    {"Tesla T4", 75, 40, 1024, 64 * KIB, 64 * KIB, 4 * MIB, 15 * GIB},
    {"A100-SXM4-80GB", 80, 108, 2048, 163 * KIB, 164 * KIB, 40 * MIB, 80 * GIB},
    {"Jetson AGX Orin", 87, 16, 1536, 163 * KIB, 164 * KIB, 4 * MIB, 32 * GIB},
    {"GeForce RTX 4090", 89, 128, 1536, 99 * KIB, 100 * KIB, 72 * MIB, 24 * GIB},
    {"H100 SXM", 90, 132, 2048, 227 * KIB, 228 * KIB, 50 * MIB, 80 * GIB},
    {"H200", 90, 132, 2048, 227 * KIB, 228 * KIB, 60 * MIB, 141 * GIB},
};

enum { DEVICES = sizeof devices / sizeof devices[0], T4 = 0, H200 = DEVICES - 1 };

static const int sizes[] = {1, 2, 4, 8, 16};

/* Addresses that are planned with, never read. */
static void *address(uintptr_t value)
{
    return (void *)value;
}

static tilemm__transpose_args_t problem(int64_t rows, int64_t cols, int size)
{
    tilemm__transpose_args_t args;

    memset(&args, 0, sizeof args);
    args.rows = rows;
    args.cols = cols;
    args.elem_size = (size_t)size;
    args.trans = 1;
    args.alpha = 1.0f;
    args.src = address(0x10000);
    args.dst = address(0x20000);
    args.ld_src = cols;
    args.ld_dst = rows;
    args.batch_count = 1;
    return args;
}

/* ---- out of place --------------------------------------------------------------------------- */

static void check_sound(const tilemm__transpose_args_t *args, const tilemm__cuda_traits_t *traits,
                        const tilemm__transpose_plan_t *plan)
{
    const int size = (int)args->elem_size;
    const uintptr_t both = (uintptr_t)args->src | (uintptr_t)args->dst;
    const uint64_t rows = (uint64_t)(args->ld_src | args->ld_dst) * args->elem_size;

    CHECK(plan->name[0] && strlen(plan->name) < sizeof plan->name - 1, "%s", traits->name);
    if (plan->kernel == TILEMM__TRANSPOSE_CHUNKS)
        CHECK(both % (unsigned)plan->access == 0 && rows % (unsigned)plan->access == 0,
              "%s: %d-byte accesses to operands that are not aligned", plan->name, plan->access);
    if (plan->kernel == TILEMM__TRANSPOSE_SHIFTED)
        CHECK(plan->halo * size == 16 || plan->halo * size == 32 ||
                  (plan->halo == 0 && ((uintptr_t)args->dst | (uintptr_t)(args->ld_dst * size)) %
                                              (unsigned)plan->access ==
                                          0),
              "%s: halo %d", plan->name, plan->halo);
    if (plan->kernel == TILEMM__TRANSPOSE_GATHER)
        CHECK((uintptr_t)args->dst % 16 == 0 && args->ld_dst == args->rows &&
                  (args->batch_count == 1 || args->stride_dst == args->rows * args->cols),
              "%s: gaps", plan->name);
    if (plan->kernel == TILEMM__TRANSPOSE_STRIP || plan->kernel == TILEMM__TRANSPOSE_SHORT) {
        CHECK((plan->kernel == TILEMM__TRANSPOSE_SHORT) == (size < 4), "%s", plan->name);
        CHECK(plan->tile_rows > 0 && plan->tile_cols > 0 && plan->tile_batch > 0 &&
                  (int64_t)plan->tile_batch * plan->tile_rows * plan->tile_cols * size <= 16384,
              "%s: batch %d", plan->name, plan->tile_batch);
        CHECK(plan->unit_in == size || plan->unit_in == 16, "%s: %d", plan->name, plan->unit_in);
        CHECK(plan->unit_out == size || plan->unit_out == 16, "%s: %d", plan->name, plan->unit_out);
        if (args->ld_src != args->cols)
            CHECK(plan->unit_in == size || rows % 16 == 0 || args->ld_src * size % 16 == 0,
                  "%s: unaligned rows by %d bytes", plan->name, plan->unit_in);
    }
}

static void test_kernels(int d)
{
    static const int64_t lengths[] = {1, 3, 31, 32, 33, 64, 100, 1000, 8192, 1048576, 3000000001};
    const tilemm__cuda_traits_t *traits = &devices[d];
    tilemm__transpose_plan_t plan;
    int i, j, s, shift;

    for (s = 0; s < 5; s++) {
        for (i = 0; i < 11; i++) {
            for (j = 0; j < 11; j++) {
                for (shift = 0; shift < 4; shift++) {
                    tilemm__transpose_args_t args = problem(lengths[i], lengths[j], sizes[s]);

                    args.src = address(0x10000 + (uintptr_t)(sizes[s] < 16 ? sizes[s] : 8) *
                                                     (unsigned)(shift & 1));
                    args.ld_src += shift >> 1;
                    args.batch_count = 1 + 41 * (shift == 3);
                    args.stride_src = args.rows * args.ld_src;
                    args.stride_dst = args.cols * args.ld_dst;
                    tilemm__plan_transpose_cuda(&args, traits, &plan);
                    check_sound(&args, traits, &plan);
                    if (lengths[i] < 32 || lengths[j] < 32)
                        CHECK(plan.kernel == TILEMM__TRANSPOSE_STRIP ||
                                  plan.kernel == TILEMM__TRANSPOSE_SHORT ||
                                  plan.kernel == TILEMM__TRANSPOSE_NARROW ||
                                  plan.kernel == TILEMM__TRANSPOSE_GATHER,
                              "%s", plan.name);
                }
            }
        }
    }
}

static void expect(tilemm__transpose_args_t args, const char *name)
{
    tilemm__transpose_plan_t plan;

    tilemm__plan_transpose_cuda(&args, &devices[H200], &plan);
    CHECK(strcmp(plan.name, name) == 0, "%s, not %s", plan.name, name);
}

static void test_choices(void)
{
    tilemm__transpose_args_t args;
    tilemm__transpose_plan_t plan;

    expect(problem(8192, 8192, 1), "transpose_tile_sm75_256x256x1");
    expect(problem(8192, 8192, 2), "transpose_tile_sm75_128x128x2");
    expect(problem(8192, 8192, 4), "transpose_tile_sm75_64x64x4");
    expect(problem(8192, 8192, 8), "transpose_tile_sm75_32x32x8");
    expect(problem(8192, 8192, 16), "transpose_tile_sm75_32x32x16");
    expect(problem(8191, 8192, 1), "transpose_shifted_sm75_128x128x1");
    expect(problem(8191, 8192, 2), "transpose_shifted_sm75_256x64x2");
    expect(problem(8191, 8192, 4), "transpose_shifted_sm75_128x64x4");
    expect(problem(8191, 8192, 8), "transpose_shifted_sm75_64x32x8");
    expect(problem(8191, 8192, 16), "transpose_tile_sm75_32x32x16");
    expect(problem(65536, 31, 4), "transpose_narrow_sm75_128x32x4");
    expect(problem(3, 1 << 20, 4), "transpose_gather_sm75_1x4x4");
    expect(problem(3, 1 << 20, 2), "transpose_gather_sm75_1x8x2");
    expect(problem(31, 1 << 20, 2), "transpose_strip_sm75_31x264x2");

    args = problem(8, 8, 4);
    args.batch_count = 65536;
    args.stride_src = args.stride_dst = 64;
    expect(args, "transpose_gather_sm75_1x4x4");
    args.stride_dst = 68; /* gaps */
    tilemm__plan_transpose_cuda(&args, &devices[H200], &plan);
    CHECK(plan.kernel == TILEMM__TRANSPOSE_STRIP && plan.tile_batch == 64, "%s x %d", plan.name,
          plan.tile_batch);

    /* One matrix of a batch out of step is enough to forbid wide accesses; for one alone its stride
     * does not matter. */
    args = problem(64, 64, 4);
    args.stride_src = 4097;
    args.stride_dst = 4096;
    expect(args, "transpose_tile_sm75_32x32x4");
    args.batch_count = 2;
    expect(args, "transpose_shifted_sm75_128x64x4");
    args = problem(64, 64, 16);
    args.src = address(0x10008);
    tilemm__plan_transpose_cuda(&args, &devices[H200], &plan);
    CHECK(plan.kernel == TILEMM__TRANSPOSE_CHUNKS && plan.access == 8, "%d", plan.access);

    /* Data that the L2 cache holds stays there; few tiles are small ones. */
    args = problem(1024, 1024, 4);
    tilemm__plan_transpose_cuda(&args, &devices[H200], &plan);
    CHECK(!plan.streaming && plan.tile_rows == 32, "%s", plan.name);
    tilemm__plan_transpose_cuda(&args, &devices[T4], &plan);
    CHECK(plan.streaming && plan.tile_rows == 64, "%s", plan.name);

    /* A batch of matrices as large as a small tile. */
    args = problem(32, 32, 4);
    args.batch_count = 65536;
    args.stride_src = args.stride_dst = 1024;
    expect(args, "transpose_tile_sm75_32x32x4");
    args = problem(3, 5, 2);
    args.batch_count = 65536;
    args.stride_src = args.stride_dst = 15;
    expect(args, "transpose_gather_sm75_1x8x2");
    args = problem(24, 120, 2);
    args.batch_count = 65536;
    args.stride_src = args.stride_dst = 24 * 120;
    tilemm__plan_transpose_cuda(&args, &devices[H200], &plan);
    CHECK(plan.kernel == TILEMM__TRANSPOSE_SHORT && plan.tile_batch == 2 && plan.unit_in == 16 &&
              plan.unit_out == 16,
          "%s x %d", plan.name, plan.tile_batch);

    /* alpha = 0 is a fill whatever the rest, and does not look at src. */
    args = problem(1000, 1000, 4);
    args.scaled = 1;
    args.alpha = -0.0f;
    args.src = address(2);
    args.ld_src = 1001;
    tilemm__plan_transpose_cuda(&args, &devices[H200], &plan);
    CHECK(plan.kernel == TILEMM__TRANSPOSE_COPY && plan.zero && plan.access == 16 && plan.flat,
          "%s", plan.name);

    args = problem(1000, 3, 4);
    args.trans = 0;
    args.ld_src = args.ld_dst = 5;
    tilemm__plan_transpose_cuda(&args, &devices[H200], &plan);
    CHECK(plan.kernel == TILEMM__TRANSPOSE_COPY && !plan.zero && !plan.flat && plan.access == 4 &&
              plan.block_cols == 4,
          "%s", plan.name);
    args.ld_src = args.ld_dst = 3;
    tilemm__plan_transpose_cuda(&args, &devices[H200], &plan);
    CHECK(plan.flat && plan.block_cols == 256, "%s", plan.name);
}

/* ---- in place ------------------------------------------------------------------------------- */

static int plan_inplace(tilemm__transpose_args_t args, int d, size_t workspace,
                        tilemm__transpose_inplace_plan_t *plan)
{
    args.src = args.dst;
    return tilemm__plan_transpose_inplace_cuda(&args, &devices[d], workspace, plan);
}

static void check_inplace(tilemm__transpose_args_t args, int d, size_t workspace)
{
    const int64_t size = (int64_t)args.elem_size, shared = (int64_t)devices[d].shared_per_block;
    const int64_t room = (int64_t)workspace;
    tilemm__transpose_inplace_plan_t plan;
    const int failed = plan_inplace(args, d, workspace, &plan);
    int64_t taken = 0;

    if (failed) {
        CHECK(plan.n * size > shared && plan.n * size > room, "%s: %lld x %lld with %lld bytes",
              devices[d].name, (long long)plan.m, (long long)plan.n, (long long)room);
        return;
    }
    CHECK(plan.name[0], "%s", devices[d].name);
    switch (plan.method) {
    case TILEMM__INPLACE_STAGED: taken = args.rows * args.cols * size; break;
    case TILEMM__INPLACE_RUNS:
        taken = (int64_t)plan.rest_bytes + plan.length * plan.n * size;
        CHECK(plan.chunks * plan.length + plan.rest == plan.m && plan.length > 0, "%s", plan.name);
        CHECK(plan.chunks * plan.n * plan.slice * size <= shared && plan.slice > 0, "%s: %d",
              plan.name, plan.slice);
        CHECK((plan.slice & (plan.slice - 1)) == 0 && plan.slice <= 128, "%d", plan.slice);
        CHECK(!plan.rest || plan.move, "%s", plan.name);
        break;
    case TILEMM__INPLACE_PANELS:
        taken = (int64_t)plan.saved_at +
                ((plan.chunks * plan.n - 1) / plan.stride + 1) * plan.length * size;
        CHECK(plan.chunks * plan.length + plan.rest == plan.m && plan.length * size == 256, "%s",
              plan.name);
        CHECK(!plan.move && plan.stride >= 37 && plan.stride % 2 == 1, "%s", plan.name);
        CHECK(plan.counts_at >= plan.rest_bytes &&
                  plan.marks_at >= plan.counts_at + plan.chunks * 4 &&
                  (int64_t)plan.saved_at >= (int64_t)plan.marks_at + plan.chunks * plan.n / 8,
              "%s", plan.name);
        break;
    case TILEMM__INPLACE_C2R:
        taken = plan.panel * plan.m * size;
        if (plan.rows_per_block)
            CHECK(plan.rows_per_block * plan.n * size <= shared, "%s", plan.name);
        else
            CHECK(plan.workspace_rows > 0 && plan.workspace_rows * plan.n * size <= room, "%s",
                  plan.name);
        break;
    default: break;
    }
    CHECK(taken <= room, "%s: takes %lld of %lld bytes", plan.name, (long long)taken,
          (long long)room);
    CHECK((int64_t)plan.rest_bytes + plan.interval * size <= room, "%s", plan.name);
}

static void test_inplace(int d)
{
    static const int64_t lengths[] = {1, 2, 3, 17, 127, 128, 1000, 4096, 12289, 65536, 2000003};
    tilemm__transpose_args_t args;
    int i, j, s, pad;

    for (s = 0; s < 5; s++) {
        for (i = 0; i < 11; i++) {
            for (j = 0; j < 11; j++) {
                for (pad = 0; pad < 4; pad++) {
                    int64_t bytes, want;

                    args = problem(lengths[i], lengths[j], sizes[s]);
                    args.ld_src += pad & 1;
                    args.ld_dst += pad >> 1;
                    bytes = args.rows * args.cols * sizes[s];
                    want = (int64_t)tilemm__transpose_inplace_cuda_want(&args, &devices[d]);
                    CHECK(want <= bytes / 16 + 256 || want <= (4 << 20) ||
                              want <=
                                  (lengths[i] < lengths[j] ? lengths[i] : lengths[j]) * sizes[s] +
                                      256,
                          "%s: %lld of %lld bytes", devices[d].name, (long long)want,
                          (long long)bytes);
                    check_inplace(args, d, (size_t)want);
                    check_inplace(args, d, (size_t)want / 7);
                    check_inplace(args, d, (size_t)bytes);
                    check_inplace(args, d, 256);
                    check_inplace(args, d, 0);
                }
            }
        }
    }
}

static void test_inplace_choices(void)
{
    tilemm__transpose_inplace_plan_t plan;
    tilemm__transpose_args_t args = problem(8192, 8192, 4);

    CHECK(tilemm__transpose_inplace_cuda_want(&args, &devices[H200]) == 0, "square");
    CHECK(plan_inplace(args, H200, 0, &plan) == 0 && plan.method == TILEMM__INPLACE_SWAP &&
              !plan.move && !plan.scale && plan.access == 16,
          "%s", plan.name);
    args.ld_src = args.ld_dst = 8193;
    CHECK(plan_inplace(args, H200, 0, &plan) == 0 && plan.method == TILEMM__INPLACE_SWAP &&
              plan.access == 0,
          "%s", plan.name);
    args.ld_dst = 8192;
    CHECK(plan_inplace(args, H200, 8 * MIB, &plan) == 0 && plan.method == TILEMM__INPLACE_SWAP &&
              plan.move && plan.forward && plan.interval == (int64_t)(2 * MIB),
          "%s", plan.name);
    CHECK(plan_inplace(args, H200, 0, &plan) == 0 && plan.move && plan.interval == 0, "%s",
          plan.name);

    /* Small matrices go through the workspace, thin ones by runs, others by C2R. */
    args = problem(300, 500, 4);
    CHECK(plan_inplace(args, H200, 4 * MIB, &plan) == 0 && plan.method == TILEMM__INPLACE_STAGED,
          "%s", plan.name);
    args = problem(1 << 20, 3, 4);
    CHECK(plan_inplace(args, T4, MIB, &plan) == 0 && plan.method == TILEMM__INPLACE_RUNS &&
              plan.forward && plan.chunks == 16 && plan.rest == 0 && !plan.move,
          "%s", plan.name);
    args = problem(3, (1 << 20) + 1, 4);
    CHECK(plan_inplace(args, T4, MIB, &plan) == 0 && plan.method == TILEMM__INPLACE_RUNS &&
              !plan.forward && plan.m == (1 << 20) + 1,
          "%s", plan.name);
    args = problem(16384, 12289, 4);
    CHECK(plan_inplace(args, H200, tilemm__transpose_inplace_cuda_want(&args, &devices[H200]),
                       &plan) == 0 &&
              plan.method == TILEMM__INPLACE_PANELS && plan.chunks == 256 && plan.stride == 37,
          "%s", plan.name);
    args = problem(16384, 8192, 4);
    args.ld_src += 4;
    CHECK(plan_inplace(args, H200, 16 * MIB, &plan) == 0 && plan.method == TILEMM__INPLACE_C2R &&
              plan.panel == 256 && plan.rows_per_block == 1,
          "%s", plan.name);
    CHECK(plan_inplace(args, H200, 0, &plan) == 0 && plan.method == TILEMM__INPLACE_C2R &&
              plan.panel == 0,
          "%s", plan.name);

    /* Rows that shared memory does not hold: through the workspace, or not at all. */
    args = problem(40000, 20000, 8);
    CHECK(plan_inplace(args, T4, 32 * MIB, &plan) == 0 && plan.method == TILEMM__INPLACE_C2R &&
              plan.rows_per_block == 0 && plan.workspace_rows > 0,
          "%s", plan.name);
    CHECK(plan_inplace(args, T4, 100000, &plan) == -1, "%s", plan.name);
    CHECK(plan_inplace(args, H200, 0, &plan) == 0, "%s", plan.name);

    /* No transpose. */
    args = problem(100, 200, 4);
    args.trans = 0;
    args.ld_dst = 200;
    args.scaled = 1;
    args.alpha = 2.0f;
    CHECK(plan_inplace(args, H200, 0, &plan) == 0 && plan.method == TILEMM__INPLACE_NONE &&
              !plan.move && plan.scale,
          "%s", plan.name);
    args.ld_dst = 300;
    CHECK(plan_inplace(args, H200, 40000, &plan) == 0 && plan.method == TILEMM__INPLACE_NONE &&
              plan.move && plan.scale && plan.interval == 10000,
          "%s", plan.name);
    args.alpha = 0.0f;
    CHECK(plan_inplace(args, H200, 0, &plan) == 0 && plan.method == TILEMM__INPLACE_ZERO, "%s",
          plan.name);
}

/* ---- the tiles ------------------------------------------------------------------------------ */

/* Wavefronts beyond the ideal, for lanes that access `bytes` bytes each at address[lane], -1 for a
 * lane that does not. All chips that the kernels are for have the same rules. */
static int conflicts_of(const int *address, int lanes, int bytes, int load)
{
    tilemm_warp_access_t access = {.elem_bytes = bytes};
    tilemm_shared_cost_t cost;
    tilemm_status_t status;
    int lane;

    for (lane = 0; lane < lanes; lane++) {
        if (address[lane] < 0)
            continue;
        access.active |= 1u << lane;
        access.addr[lane] = (uint64_t)address[lane];
    }
    status = load ? tilemm_model_shared_load(75, &access, &cost)
                  : tilemm_model_shared(75, &access, &cost);
    CHECK(status == TILEMM_SUCCESS, "%d bytes", bytes);
    return cost.conflicts;
}

static void check_free(const int *address, int bytes, int load, const char *what, int size)
{
    const int conflicts = conflicts_of(address, 32, bytes, load);

    CHECK(conflicts == 0, "%s of %d-byte elements: %d conflicts", what, size, conflicts);
}

/* The worst bank's ways: 1 is free of conflicts. */
static int conflicts(const int *address, int lanes, int bytes)
{
    return conflicts_of(address, lanes, bytes, 0) + 1;
}

/* Chunks as threads of a block store and read them. */
static void test_chunk_tile(int size, int chunk, int edge, int threads)
{
    const int v = chunk / size, q = edge / v, steps = threads / q;
    static unsigned char seen[256 * 256];
    int address[32], warp, lane, j, s;

    memset(seen, 0, sizeof seen);
    for (warp = 0; warp < threads / 32; warp++) {
        for (s = 0; s < q / steps; s++) {
            for (j = 0; j < v; j++) {
                for (lane = 0; lane < 32; lane++) {
                    const int t = warp * 32 + lane, x = t % q, y = t / q + s * steps;
                    const int slot = tilemm__transpose_chunk(x * v + j, y, q, v);

                    CHECK(slot >= 0 && slot < edge * q && !seen[slot]++, "slot %d", slot);
                    address[lane] = slot * chunk;
                }
                CHECK(conflicts(address, 32, chunk) == 1, "store, %d x %d bytes", edge, size);
            }
        }
        for (s = 0; s < edge / steps; s++) {
            for (lane = 0; lane < 32; lane++) {
                const int t = warp * 32 + lane;

                address[lane] = tilemm__transpose_chunk(t / q + s * steps, t % q, q, v) * chunk;
            }
            CHECK(conflicts(address, 32, chunk) == 1, "load, %d x %d bytes", edge, size);
        }
    }
}

/* The tile of shifted chunks, rows x cols: stored as above, and read as two chunks that follow each
 * other, from any one on. */
static void test_shifted_tile(int size, int chunk, int rows, int cols)
{
    const int v = chunk / size, across = cols / v, down = rows / v, lanes = down < 32 ? down : 32;
    int address[32], j, lane, first, second;

    for (j = 0; j < v; j++) {
        for (first = 0; first < 256; first += 32) {
            for (lane = 0; lane < 32; lane++)
                address[lane] = tilemm__transpose_chunk((first + lane) % across * v + j,
                                                        (first + lane) / across % down, down, v) *
                                chunk;
            CHECK(conflicts(address, 32, chunk) == 1, "store, %d x %d of %d bytes", rows, cols,
                  size);
        }
    }
    for (j = 0; j < cols; j++) {
        for (first = 0; first + lanes <= down; first += lanes) {
            for (second = 0; second < 2; second++) {
                for (lane = 0; lane < lanes; lane++)
                    address[lane] =
                        tilemm__transpose_chunk(j, (first + lane + second) % down, down, v) * chunk;
                CHECK(conflicts(address, lanes, chunk) == 1, "load, %d x %d of %d bytes", rows,
                      cols, size);
            }
        }
    }
}

/* Rows in place, along them; slices of runs, as they are read and as they are stored. */
static void test_inplace_tiles(int size, int slice)
{
    const int n = 37, slices = 32 > slice ? 32 / slice : 1;
    int along[32], apart[32], first, lane, high;

    for (first = 0; first < 8 * n; first++) {
        for (lane = 0; lane < 32; lane++)
            along[lane] = (int)tilemm__inplace_element((uint32_t)((first + lane) / n),
                                                       (uint32_t)((first + lane) % n), n) *
                          size;
        check_free(along, size, 0, "rows in place", size);
    }
    for (first = 0; first < 64; first++) {
        for (lane = 0; lane < 32; lane++)
            along[lane] = tilemm__run_element(first + lane / slice, lane % slice, slice) * size;
        check_free(along, size, 1, "slices", size);
    }
    for (high = 1; high <= 64; high++) {
        for (lane = 0; lane < 32; lane++)
            apart[lane] = tilemm__run_element(lane / slice * high, lane % slice, slice) * size;
        CHECK(conflicts_of(apart, 32, size, 0) < slices * (size > 4 ? size / 4 : 1),
              "slices of %d elements of %d bytes, %d apart", slice, size, high);
    }
}

/* A tile of rows x cols elements, one by one: filled along its rows, as they lie in memory, by
 * threads side by side, and read down its columns. */
static void test_element_tile(int size, int rows, int cols)
{
    int along[32], down[32], row, col, lane;

    for (row = 0; row < rows; row++) {
        for (col = 0; col < cols; col += 32) {
            for (lane = 0; lane < 32; lane++)
                along[lane] = tilemm__transpose_element(row, col + lane, cols, size) * size;
            check_free(along, size, 0, "a row", size);
        }
    }
    for (col = 0; col < cols; col++) {
        for (row = 0; row < rows; row += 32) {
            for (lane = 0; lane < 32; lane++)
                down[lane] = tilemm__transpose_element(row + lane, col, cols, size) * size;
            check_free(down, size, 1, "a column", size);
        }
    }
}

/* A lane's element of a panel, row and column; of 16 bytes, an asynchronous copy's halves, of which
 * lanes eight apart take the other one first. */
static void check_panel(const int *row, const int *col, int size, const char *what)
{
    int address[32], half[32], lane, h;

    for (lane = 0; lane < 32; lane++)
        address[lane] = tilemm__panel_element(row[lane], col[lane], size) * size;
    check_free(address, size, 0, what, size);
    check_free(address, size, 1, what, size);
    for (h = 0; h < 16 && size == 16; h += 8) {
        for (lane = 0; lane < 32; lane++)
            half[lane] = address[lane] + (h ^ (lane & 8));
        check_free(half, 8, 0, what, size);
    }
}

static void test_panel_tile(int size)
{
    enum { WIDTH = TILEMM__PANEL_WIDTH };
    static unsigned char seen[256 * (WIDTH + 1)];
    const int height = TILEMM__RUN_BYTES / size, v = 16 / size;
    int row[32], col[32], r, c, k, t, lane;

    memset(seen, 0, sizeof seen);
    for (r = 0; r < height; r++) {
        for (c = 0; c < WIDTH; c++) {
            const int at = tilemm__panel_element(r, c, size);

            CHECK(at >= 0 && at < height * tilemm__panel_pitch(size) && !seen[at]++, "%d, %d", r,
                  c);
            for (k = 1; k < 256 / size; k *= 2)
                CHECK(tilemm__panel_below(tilemm__panel_element(r & -k, c, size), r & (k - 1),
                                          size) == at,
                      "%d, %d", r, c);
        }
        for (c = 0; c < WIDTH; c += 32) {
            for (lane = 0; lane < 32; lane++) {
                row[lane] = r;
                col[lane] = c + lane;
            }
            check_panel(row, col, size, "a row of a panel");
        }
    }
    /* All threads down the columns, element by element. */
    for (t = 0; t < height * WIDTH; t += 32) {
        for (lane = 0; lane < 32; lane++) {
            row[lane] = (t + lane) % height;
            col[lane] = (t + lane) / height;
        }
        check_panel(row, col, size, "a column of a panel");
    }
    /* 16 bytes a lane. */
    for (c = 0; c < WIDTH; c += 4) {
        for (r = 0; r < height; r += 8 * v) {
            for (k = 0; k < v; k++) {
                for (lane = 0; lane < 32; lane++) {
                    row[lane] = r + lane % 8 * v + k;
                    col[lane] = c + lane / 8;
                }
                check_panel(row, col, size, "four columns of a panel");
            }
        }
    }
}

/* Strips: positions of 16 bytes stay together, and none is used twice. */
static void test_strip_tile(int size)
{
    static unsigned char seen[16384];
    int f;

    memset(seen, 0, sizeof seen);
    for (f = 0; f < 16384 / size; f++) {
        const int slot = tilemm__transpose_strip(f, size);

        CHECK(slot >= 0 && slot < 16384 / size && !seen[slot]++, "%d", slot);
        CHECK(slot % (16 / size) == f % (16 / size), "%d", slot);
    }
}

/* ---- strips of short elements
 * --------------------------------------------------------------------------------- */

/* A side's buffer: how far apart lanes' lines are in it, in bytes. */
static int strip_at(int byte, int stride)
{
    return byte ^ tilemm__short_swizzle(byte / 128 / tilemm__short_period(stride),
                                        tilemm__short_mask(stride));
}

/* What comes and goes in the order of bytes, by units of `unit`: free of conflicts from the start
 * of 128 bytes on, else two ways at most. */
static void check_strip_line(int stride, int size, int unit)
{
    int address[32], first, lane, conflicts;

    for (first = 0; first + 32 * unit <= TILEMM__TRANSPOSE_STRIP_BYTES;
         first += unit < 16 ? 4 * unit : 16) {
        /* Of 16 bytes in another order the address is that of the lowest. */
        for (lane = 0; lane < 32; lane++)
            address[lane] = strip_at(first + lane * unit, stride) & -unit;
        conflicts = conflicts_of(address, 32, unit, 0);
        CHECK(conflicts <= (first % 128 ? (unit + 3) / 4 : 0), "%d of %d bytes, lanes %d apart: %d",
              unit, size, stride, conflicts);
    }
}

static void check_strip(const tilemm__transpose_args_t *args, const tilemm__transpose_plan_t *plan)
{
    static int source[TILEMM__TRANSPOSE_STRIP_BYTES];
    const tilemm__transpose_turn_t *turn = &plan->turn;
    const int size = (int)args->elem_size, width = plan->tile_cols, height = plan->tile_rows;
    const int area = width * height, lanes = 32;
    const int in_stride = turn->in_line * turn->together * size;
    const int out_stride = turn->out_line * turn->together * size;
    const int region_in =
        128 * tilemm__short_period(in_stride) * (tilemm__short_mask(in_stride) ? 1 : 999);
    const int region_out =
        128 * tilemm__short_period(out_stride) * (tilemm__short_mask(out_stride) ? 1 : 999);
    int group, set, j, e, lane;

    for (e = 0; e < plan->tile_batch * area; e++)
        source[e] = -1;
    CHECK(turn->parts * turn->share >= turn->across * turn->down, "%s", plan->name);
    for (group = 0; group < turn->groups; group++) {
        for (set = 0; set < turn->sets; set++) {
            for (j = 0; j < turn->together; j++) {
                for (e = 0; e < turn->across * turn->down; e++) {
                    const int x = e / turn->down, y = e % turn->down;
                    int load[32], store[32];

                    /* Served together; the warp's other lanes are elsewhere. */
                    for (lane = 0; lane < 32; lane++) {
                        const int first = (set * lanes + lane) * turn->together, line = first + j;
                        const int in = group * area + line * turn->in_line + x + y * width;
                        const int out = group * area + line * turn->out_line + y + x * height;
                        const int in_first = (group * area + first * turn->in_line) * size;
                        const int out_first = (group * area + first * turn->out_line) * size;

                        load[lane] = store[lane] = -1;
                        if (lane >= lanes || line >= turn->lines)
                            continue;
                        load[lane] = strip_at(in * size, in_stride);
                        store[lane] = strip_at(out * size, out_stride);
                        CHECK(in * size / region_in <= in_first / region_in + 1 &&
                                  out * size / region_out <= out_first / region_out + 1,
                              "%s: more than one border", plan->name);
                        CHECK(source[out] == -1, "%s: %d twice", plan->name, out);
                        source[out] = in;
                    }
                    check_free(load, size, 1, plan->name, size);
                    check_free(store, size, 0, plan->name, size);
                }
            }
        }
    }
    for (e = 0; e < plan->tile_batch * area; e++) {
        const int matrix = e / area, row = e % area % height, col = e % area / height;

        CHECK(source[e] == matrix * area + row * width + col, "%s: element %d is %d", plan->name, e,
              source[e]);
    }
    check_strip_line(in_stride, size, 16);
    check_strip_line(out_stride, size, 16);
    check_strip_line(in_stride, size, size);
    check_strip_line(out_stride, size, size);
}

static void test_strips(int size)
{
    static const int shapes[][3] = {
        {3, 5, 65536},  {7, 9, 65536},  {2, 2, 9999},  {4, 4, 9999},   {8, 8, 9999},
        {16, 16, 9999}, {17, 17, 9999}, {31, 31, 99},  {20, 50, 99},   {50, 20, 99},
        {12, 40, 99},   {5, 5, 3},      {1, 7, 9999},  {64, 30, 99},   {6, 10, 9999},
        {3, 65536, 1},  {65536, 3, 1},  {2, 65536, 1}, {31, 65536, 1}, {65536, 31, 1},
        {16, 65536, 1}, {65536, 24, 1}, {1, 65536, 1}, {32, 3, 9999},  {13, 11, 7},
    };
    int i, walked = 0;

    for (i = 0; i < (int)(sizeof shapes / sizeof shapes[0]); i++) {
        tilemm__transpose_args_t args = problem(shapes[i][0], shapes[i][1], size);
        tilemm__transpose_plan_t plan;

        args.batch_count = shapes[i][2];
        args.stride_src = args.rows * args.cols;
        args.stride_dst = args.stride_src + 1; /* a gap, which forbids the gathering kernel */
        if (args.batch_count == 1)
            args.ld_dst++;
        tilemm__plan_transpose_cuda(&args, &devices[H200], &plan);
        if (plan.kernel == TILEMM__TRANSPOSE_SHORT) {
            check_strip(&args, &plan);
            walked++;
        }
    }
    CHECK(walked > 12, "%d strips of %d bytes", walked, size);
}

int main(void)
{
    int d;

    for (d = 0; d < DEVICES; d++) {
        test_kernels(d);
        test_inplace(d);
    }
    test_choices();
    test_inplace_choices();
    /* The tiles out of place, and those in place that differ. */
    test_chunk_tile(1, 8, 256, 512);
    test_chunk_tile(2, 16, 128, 256);
    test_chunk_tile(4, 16, 64, 256);
    test_chunk_tile(16, 16, 32, 256);
    test_chunk_tile(2, 16, 64, 64);
    test_chunk_tile(4, 16, 32, 64);
    test_chunk_tile(8, 16, 32, 128);
    test_chunk_tile(16, 16, 16, 64);
    test_chunk_tile(1, 8, 128, 256);
    test_chunk_tile(2, 8, 64, 256);
    test_chunk_tile(8, 16, 32, 256);
    for (d = 0; d < 5; d++) {
        test_inplace_tiles(sizes[d], 128 / sizes[d]);
        test_inplace_tiles(sizes[d], 64 / sizes[d]);
        test_inplace_tiles(sizes[d], 32 / sizes[d]);
    }
    test_element_tile(1, 64, 64);
    test_element_tile(2, 64, 64);
    test_element_tile(4, 64, 64);
    test_element_tile(8, 32, 32);
    test_shifted_tile(1, 8, 128, 128);
    test_shifted_tile(2, 16, 256, 64);
    test_shifted_tile(4, 16, 128, 64);
    test_shifted_tile(8, 16, 64, 32);
    test_element_tile(4, 32, 128);
    test_element_tile(4, 128, 32);
    test_element_tile(8, 32, 128);
    test_element_tile(8, 128, 32);
    for (d = 0; d < 5; d++) {
        test_panel_tile(sizes[d]);
        test_strip_tile(sizes[d]);
    }
    test_strips(1);
    test_strips(2);
    return check_exit();
}
