/* plan_transpose_cpu.c - the CPU's transposition plans, on traits of several machines.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <string.h>

#include "tests/support/check.h"
#include "lib/transpose/plan_cpu.h"

static const tilemm__cpu_traits_t machines[] = {
    {"server, AVX-512", TILEMM__ISA_AVX512, 64, 48 << 10, 2 << 20, 60 << 20},
    {"server, AVX-512, small L3", TILEMM__ISA_AVX512, 16, 48 << 10, 1 << 20, 32 << 20},
    {"desktop, AVX2", TILEMM__ISA_AVX2, 8, 32 << 10, 256 << 10, 8 << 20},
    {"board, NEON, no L3", TILEMM__ISA_NEON, 4, 32 << 10, 512 << 10, 512 << 10},
    {"anything", TILEMM__ISA_GENERIC, 1, 8 << 10, 64 << 10, 64 << 10},
};

static const size_t sizes[] = {1, 2, 4, 8, 16};

static tilemm__transpose_args_t matrix(int64_t rows, int64_t cols, size_t elem_size, int trans)
{
    tilemm__transpose_args_t args;

    memset(&args, 0, sizeof(args));
    args.rows = rows;
    args.cols = cols;
    args.elem_size = elem_size;
    args.trans = trans;
    /* Plans look at the alignment of addresses, not at what is there. */
    args.src = (const void *)(uintptr_t)4096;
    args.dst = (void *)(uintptr_t)8192;
    args.ld_src = cols;
    args.ld_dst = trans ? rows : cols;
    args.batch_count = 1;
    return args;
}

/* What must hold of every plan. */
static void check_sound(const tilemm__transpose_args_t *args, int in_place,
                        const tilemm__cpu_traits_t *traits, int threads, size_t workspace)
{
    tilemm__plan_transpose_cpu_t plan;
    const double bytes = (double)args->rows * (double)args->cols * (double)args->elem_size;
    const char *const name = traits->name;

    tilemm__plan_transpose_cpu(args, in_place, traits, threads, workspace, &plan);
#define SHAPE                                                                                      \
    "%s, %lld x %lld of %d bytes%s: threads %d, blocks %lld x %lld, scratch %lld, head %lld",      \
        name, (long long)args->rows, (long long)args->cols, (int)args->elem_size,                  \
        in_place ? " in place" : "", plan.threads, (long long)plan.block_rows,                     \
        (long long)plan.block_cols, (long long)plan.scratch, (long long)plan.head
    CHECK(plan.threads >= 1 && plan.threads <= threads, SHAPE);
    CHECK(plan.block_rows >= 1 && plan.block_cols >= 1, SHAPE);
    const double used = (double)plan.scratch * plan.threads + (double)plan.rest_bytes;
    CHECK(used <= (double)workspace, SHAPE);
    CHECK(plan.scratch % 64 == 0, SHAPE);
    CHECK(plan.tile_rows >= 1 && plan.tile_cols >= 1, SHAPE);
    if (in_place)
        CHECK(used <= bytes / 16, SHAPE);
    if (bytes < 65536)
        CHECK(plan.threads == 1, SHAPE);
    if (plan.method == TILEMM__TRANSPOSE_CPU_SIMD || plan.method == TILEMM__TRANSPOSE_CPU_COPY)
        CHECK(plan.threads <= tilemm__transpose_tasks(&plan), SHAPE);
    if (plan.buffered) {
        const size_t block = (size_t)(plan.block_rows * tilemm__transpose_block_ld(
                                                            plan.block_cols, args->elem_size)) *
                             args->elem_size;

        CHECK(block <= (plan.scratch ? plan.scratch : (size_t)TILEMM__TRANSPOSE_STACK), SHAPE);
    }
    if (plan.lines)
        CHECK((size_t)(plan.block_cols *
                       tilemm__transpose_block_ld(plan.block_rows, args->elem_size)) *
                      args->elem_size <=
                  plan.scratch,
              SHAPE);
    if (plan.method == TILEMM__TRANSPOSE_CPU_SWAP) {
        const size_t pair = (size_t)(2 * plan.block_rows *
                                     tilemm__transpose_block_ld(plan.block_rows, args->elem_size)) *
                            args->elem_size;

        CHECK(plan.block_rows == plan.block_cols, SHAPE);
        CHECK(pair <= (plan.scratch ? plan.scratch : (size_t)TILEMM__TRANSPOSE_STACK), SHAPE);
    }
    if (plan.stream) {
        const uintptr_t vector = (uintptr_t)plan.tile_rows * args->elem_size;

        CHECK(((uintptr_t)args->dst + (uintptr_t)plan.head * args->elem_size) % vector == 0, SHAPE);
        CHECK((uintptr_t)plan.ld_dst * args->elem_size % vector == 0, SHAPE);
        CHECK((uintptr_t)plan.block_rows * args->elem_size % vector == 0 ||
                  plan.head + plan.block_rows >= plan.rows,
              SHAPE);
    } else {
        CHECK(plan.head == 0, SHAPE);
    }
#undef SHAPE
}

static tilemm__plan_transpose_cpu_t plan_for(const tilemm__transpose_args_t *args, int in_place,
                                             const tilemm__cpu_traits_t *traits, int threads)
{
    tilemm__plan_transpose_cpu_t plan;

    tilemm__plan_transpose_cpu(args, in_place, traits, threads, SIZE_MAX, &plan);
    return plan;
}

static void check_methods(const tilemm__cpu_traits_t *traits)
{
    tilemm__transpose_args_t args = matrix(100, 300, 4, 1);
    tilemm__plan_transpose_cpu_t plan;

    CHECK(plan_for(&args, 0, traits, 1).method == TILEMM__TRANSPOSE_CPU_SIMD, "%s", traits->name);
    CHECK(plan_for(&args, 1, traits, 1).method == TILEMM__TRANSPOSE_CPU_R2C, "%s", traits->name);
    args = matrix(300, 100, 4, 1);
    CHECK(plan_for(&args, 1, traits, 1).method == TILEMM__TRANSPOSE_CPU_C2R, "%s", traits->name);
    args = matrix(5000, 300, 4, 1);
    CHECK(plan_for(&args, 1, traits, 1).method == TILEMM__TRANSPOSE_CPU_PANELS, "%s", traits->name);
    CHECK(plan_for(&args, 1, traits, 1).rest == 5000 % 64, "%s", traits->name);
    args.ld_src = 301;
    CHECK(plan_for(&args, 1, traits, 1).method == TILEMM__TRANSPOSE_CPU_C2R, "%s", traits->name);
    args = matrix(300, 300, 4, 1);
    args.ld_src = 301;
    CHECK(plan_for(&args, 1, traits, 1).method == TILEMM__TRANSPOSE_CPU_SWAP, "%s", traits->name);
    args.trans = 0;
    CHECK(plan_for(&args, 1, traits, 1).method == TILEMM__TRANSPOSE_CPU_MOVE, "%s", traits->name);
    CHECK(plan_for(&args, 0, traits, 1).method == TILEMM__TRANSPOSE_CPU_COPY, "%s", traits->name);
    args = matrix(1, 1000, 4, 1);
    CHECK(plan_for(&args, 0, traits, 1).method == TILEMM__TRANSPOSE_CPU_COPY, "%s", traits->name);
    args.ld_dst = 2;
    CHECK(plan_for(&args, 0, traits, 1).method == TILEMM__TRANSPOSE_CPU_SIMD, "%s", traits->name);
    args = matrix(1000, 1, 4, 1);
    CHECK(plan_for(&args, 0, traits, 1).method == TILEMM__TRANSPOSE_CPU_COPY, "%s", traits->name);
    CHECK(plan_for(&args, 1, traits, 1).method == TILEMM__TRANSPOSE_CPU_MOVE, "%s", traits->name);

    args = matrix(300, 100, 4, 1);
    args.scaled = 1;
    args.alpha = 0;
    args.ld_dst = 303;
    plan = plan_for(&args, 0, traits, 1);
    CHECK(plan.method == TILEMM__TRANSPOSE_CPU_FILL && plan.rows == 100 && plan.cols == 300 &&
              plan.ld_dst == 303,
          "%s: zeros", traits->name);
    CHECK(plan_for(&args, 1, traits, 1).method == TILEMM__TRANSPOSE_CPU_FILL, "%s", traits->name);
    args.alpha = 1;
    CHECK(plan_for(&args, 0, traits, 1).kind == 2, "%s: alpha of 1", traits->name);
    args.alpha = 2;
    CHECK(plan_for(&args, 0, traits, 1).kind == 5, "%s: alpha of 2", traits->name);
}

static void check_large(const tilemm__cpu_traits_t *traits)
{
    const int threads = traits->threads;
    tilemm__transpose_args_t args = matrix(8192, 8192, 4, 1);
    tilemm__plan_transpose_cpu_t plan = plan_for(&args, 0, traits, threads);

    CHECK(plan.threads == threads, "%s: %d threads", traits->name, plan.threads);
    CHECK(plan.stream && !plan.head && plan.ahead, "%s: 8192 x 8192", traits->name);
    CHECK(plan.along_rows == !plan.buffered, "%s: whole lines straight from the source",
          traits->name);
    CHECK(plan.buffered == (traits->isa != TILEMM__ISA_AVX512), "%s: 8192 x 8192", traits->name);
    CHECK((double)plan.block_rows * (double)plan.block_cols * 4 <= (double)traits->l2_bytes / 8,
          "%s: blocks leave the L2 cache", traits->name);
    args.dst = (void *)(uintptr_t)(8192 + 16);
    plan = plan_for(&args, 0, traits, threads);
    CHECK(plan.stream && plan.head == 12, "%s: head %d", traits->name, (int)plan.head);
    args.ld_dst = 8193;
    plan = plan_for(&args, 0, traits, threads);
    CHECK(!plan.stream && !plan.head, "%s: odd rows", traits->name);
    CHECK(plan.lines == (traits->isa == TILEMM__ISA_AVX512 || traits->isa == TILEMM__ISA_AVX2),
          "%s: odd rows", traits->name);
    CHECK(plan.buffered == !plan.lines, "%s: odd rows", traits->name);

    /* Past 2^31 elements, and thin. */
    args = matrix(INT64_C(1) << 33, 3, 4, 1);
    plan = plan_for(&args, 0, traits, threads);
    CHECK(plan.threads == threads && plan.block_cols == 3 && plan.block_rows >= 256, "%s: 2^33 x 3",
          traits->name);
    args = matrix(3, INT64_C(1) << 33, 4, 1);
    plan = plan_for(&args, 0, traits, threads);
    CHECK(plan.threads == threads && plan.block_rows == 3 && plan.block_cols >= 256, "%s: 3 x 2^33",
          traits->name);
    args = matrix(INT64_C(1) << 20, INT64_C(1) << 20, 16, 1);
    args.batch_count = 4;
    args.stride_src = args.stride_dst = INT64_C(1) << 40;
    plan = plan_for(&args, 0, traits, threads);
    CHECK(plan.threads == threads, "%s: batch of 2^20 x 2^20", traits->name);

    /* Less and less workspace: a slower plan each time, but a plan. */
    args = matrix(100000, 30000, 4, 1);
    tilemm__plan_transpose_cpu(&args, 1, traits, threads, SIZE_MAX, &plan);
    CHECK(plan.scratch >= 120000 && plan.threads == threads, "%s: all", traits->name);
    tilemm__plan_transpose_cpu(&args, 1, traits, threads, 200000, &plan);
    CHECK(plan.scratch >= 120000 && plan.threads == 1, "%s: for one thread", traits->name);
    tilemm__plan_transpose_cpu(&args, 1, traits, threads, 1000, &plan);
    CHECK(plan.scratch == 0 && plan.threads == threads, "%s: none", traits->name);
}

int main(void)
{
    static const int64_t sides[] = {1,
                                    2,
                                    3,
                                    4,
                                    7,
                                    8,
                                    16,
                                    31,
                                    64,
                                    65,
                                    127,
                                    128,
                                    300,
                                    1000,
                                    4096,
                                    4097,
                                    20000,
                                    1000000,
                                    INT64_C(5000000000)};
    static const size_t workspaces[] = {0, 1000, 20000, 300000, 10000000, SIZE_MAX};
    const size_t side_count = sizeof(sides) / sizeof(sides[0]);
    size_t machine, i, j, k, w;

    for (machine = 0; machine < sizeof(machines) / sizeof(machines[0]); machine++) {
        const tilemm__cpu_traits_t *const traits = &machines[machine];

        check_methods(traits);
        check_large(traits);
        for (i = 0; i < side_count; i++)
            for (j = 0; j < side_count; j++)
                for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
                    for (w = 0; w < sizeof(workspaces) / sizeof(workspaces[0]); w++) {
                        tilemm__transpose_args_t args;

                        if ((double)sides[i] * (double)sides[j] > 1e17)
                            continue;
                        args = matrix(sides[i], sides[j], sizes[k], 1);
                        args.dst = (void *)(uintptr_t)(8192 + (w + j) % 5 * 8);
                        check_sound(&args, 0, traits, traits->threads, workspaces[w]);
                        check_sound(&args, 1, traits, traits->threads, workspaces[w]);
                        args.ld_dst = (args.ld_dst + 63) / 64 * 64;
                        check_sound(&args, 0, traits, traits->threads, workspaces[w]);
                        args = matrix(sides[i], sides[j], sizes[k], 0);
                        check_sound(&args, 0, traits, traits->threads, workspaces[w]);
                        args.batch_count = 5;
                        args.ld_src++;
                        check_sound(&args, 0, traits, traits->threads, workspaces[w]);
                    }
    }
    return check_exit();
}
