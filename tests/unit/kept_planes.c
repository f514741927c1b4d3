/* kept_planes.c - the steps of a pipeline as the kernels of SGEMM get them, on a GPU that is not
 * there: planes and notes that a product reads were made, some steps before or in its own, from the
 * lines of its operands, with the pitches that it reads them by; and nothing is made twice.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/cuda/cuda.h"
#include "lib/sgemm/plan_cuda.h"
#include "lib/sgemm/plan_pipeline.h"
#include "lib/size.h"
#include "machines.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

/* ---- what has been made ---------------------------------------------------------------------- */

enum { MOST_LINES = 1 << 17 };

/* A line's planes, by their address. */
typedef struct {
    const unsigned short *hi, *lo;
    const unsigned *notes;
    const float *from;
    int64_t pitch, notes_pitch;
} line_t;

static line_t lines[MOST_LINES];
static int64_t line_count;
static int64_t made, read, wrong, stale, zeros; /* lines; launches that make zeros */
static const tilemm__sgemm_planes_operand_t *groups_of[2];

static line_t *line_at(const unsigned short *hi)
{
    size_t at = ((uintptr_t)hi / 128 * 2654435761u) % MOST_LINES;
    while (lines[at].hi && lines[at].hi != hi)
        at = (at + 1) % MOST_LINES;
    line_count += !lines[at].hi;
    if (line_count > MOST_LINES / 2)
        exit(1);
    lines[at].hi = hi;
    return &lines[at];
}

static void make(const tilemm__sgemm_make_operand_t *x)
{
    const tilemm__sgemm_planes_operand_t *to = &x->to;
    for (int64_t i = 0; i < x->mn_planes; i++)
        *line_at(to->hi + i * to->pitch) =
            (line_t){to->hi + i * to->pitch,
                     to->lo ? to->lo + i * to->pitch : NULL,
                     to->notes + i,
                     i < x->mn ? x->from + (x->k_major ? i * x->ld : i) : NULL,
                     to->pitch,
                     to->notes_pitch};
    made += x->mn;
}

/* Lines of an operand that begins at `from`, up to where planes end. */
static void check_lines(const tilemm__sgemm_planes_operand_t *of, const float *from, int64_t step)
{
    for (int64_t i = 0; i < tilemm__round_up(of->mn, TILEMM__SGEMM_PLANES_ALIGN_MN); i++) {
        const line_t *line = line_at(of->hi + i * of->pitch);
        wrong += line->lo != (of->lo ? of->lo + i * of->pitch : NULL) ||
                 line->notes != of->notes + i || line->pitch != of->pitch ||
                 line->notes_pitch != of->notes_pitch;
        stale += line->from != (i < of->mn ? from + i * step : NULL);
    }
    read += of->mn;
}

/* ---- the launchers -------------------------------------------------------------------------- */

int tilemm__sgemm_zero_launch(const tilemm__sgemm_zero_t *problem, void *stream)
{
    (void)stream;
    zeros += problem->blocks > 0;
    return 0;
}

int tilemm__sgemm_make_planes_launch(const tilemm__sgemm_make_planes_t *problem, void *stream)
{
    (void)stream;
    CHECK(problem->blocks > 0, "a grid of no blocks");
    make(&problem->a);
    make(&problem->b);
    return 0;
}

int tilemm__sgemm_judge_lines_launch(const tilemm__sgemm_judge_lines_t *problem, void *stream)
{
    (void)stream;
    groups_of[0] = &problem->a.of;
    groups_of[1] = &problem->b.of;
    return 0;
}

static const tilemm__sgemm_args_t *current;

static int multiply(const tilemm__sgemm_planes_product_t *p)
{
    const tilemm__sgemm_args_t *args = current;
    CHECK(p->m == args->m && p->n == args->n && p->a.mn == p->m && p->b.mn == p->n &&
              p->c == args->c,
          "%lld x %lld", (long long)p->m, (long long)p->n);
    check_lines(&p->a, args->a, args->trans_a ? 1 : args->lda);
    check_lines(&p->b, args->b, args->trans_b ? args->ldb : 1);
    CHECK(groups_of[0]->groups == p->a.groups && groups_of[0]->notes == p->a.notes &&
              groups_of[0]->exact == p->a.exact && groups_of[1]->groups == p->b.groups &&
              groups_of[1]->notes == p->b.notes && groups_of[1]->density == p->b.density &&
              groups_of[1]->mn == p->n && groups_of[0]->notes_pitch == p->a.notes_pitch,
          "other lines are judged");
    return 0;
}

int tilemm__sgemm_planes_sm80_launch(const tilemm__sgemm_planes_product_t *problem, void *stream)
{
    (void)stream;
    return multiply(problem);
}

int tilemm__sgemm_planes_sm90_launch(const tilemm__sgemm_planes_product_t *problem, void *stream)
{
    (void)stream;
    return multiply(problem);
}

/* Exact lines are read from the operands themselves. */
static void check_exact(const tilemm__sgemm_exact_lines_t *exact)
{
    for (int i = 0; i < 2; i++) {
        const tilemm__sgemm_exact_operand_t *x = i ? &exact->pass[1].others : &exact->pass[0].lines;
        const tilemm__sgemm_exact_operand_t *y = i ? &exact->pass[1].lines : &exact->pass[0].others;
        CHECK(x->from == current->a && x->count == current->m && y->from == current->b &&
                  y->count == current->n && x->groups == groups_of[0]->groups &&
                  y->exact == groups_of[1]->exact,
              "pass %d: exact lines of other operands", i);
    }
}

int tilemm__sgemm_rest_launch(const tilemm__sgemm_rest_t *problem, void *stream)
{
    (void)stream;
    CHECK(problem->fp32.args.a == current->a && problem->fp32.args.b == current->b, "the rest");
    for (int i = 0; i < 2 && !problem->bf16.routes.no_bf16; i++) {
        const tilemm__sgemm_hard_operand_t *hard = i ? &problem->bf16.b : &problem->bf16.a;
        CHECK(hard->of.from == (i ? current->b : current->a) &&
                  hard->of.mn == (i ? current->n : current->m) &&
                  hard->of.to.exact == groups_of[i]->exact,
              "hard tiles of other operands");
        for (int j = 0; j < 2; j++) /* FP16 planes, which may stay, are as they were */
            CHECK((void *)hard->planes > (void *)groups_of[j]->notes, "where FP16 planes are");
    }
    check_exact(&problem->exact);
    return 0;
}

int tilemm__sgemm_exact_lines_launch(const tilemm__sgemm_exact_lines_t *problem, void *stream)
{
    (void)stream;
    check_exact(problem);
    return 0;
}

int tilemm__sgemm_ffma_sm80_launch(const tilemm__sgemm_ffma_t *problem, void *stream)
{
    (void)stream;
    CHECK(problem->args.a == current->a && problem->args.b == current->b, "hard tiles");
    return 0;
}

/* No step takes these. */
#define NOT_TAKEN(name, type)                                                                      \
    int name(const type *problem, void *stream)                                                    \
    {                                                                                              \
        (void)problem;                                                                             \
        (void)stream;                                                                              \
        CHECK(0, #name);                                                                           \
        return 1;                                                                                  \
    }
NOT_TAKEN(tilemm__sgemm_ffma_sm75_launch, tilemm__sgemm_ffma_t)
NOT_TAKEN(tilemm__sgemm_fitted_launch, tilemm__sgemm_fitted_t)
NOT_TAKEN(tilemm__sgemm_short_launch, tilemm__sgemm_short_t)
NOT_TAKEN(tilemm__sgemm_slicek_launch, tilemm__sgemm_slicek_t)
NOT_TAKEN(tilemm__sgemm_outer_launch, tilemm__sgemm_outer_t)
NOT_TAKEN(tilemm__sgemm_vector_launch, tilemm__sgemm_vector_t)
NOT_TAKEN(tilemm__sgemm_warp_launch, tilemm__sgemm_warp_t)
NOT_TAKEN(tilemm__sgemm_packed_launch, tilemm__sgemm_packed_t)
NOT_TAKEN(tilemm__sgemm_team_launch, tilemm__sgemm_warp_t)
NOT_TAKEN(tilemm__sgemm_resident_launch, tilemm__sgemm_warp_t)
NOT_TAKEN(tilemm__sgemm_fused_launch, tilemm__sgemm_fused_t)
NOT_TAKEN(tilemm__sgemm_unaligned_launch, tilemm__sgemm_fused_t)
NOT_TAKEN(tilemm__sgemm_tf32_launch, tilemm__sgemm_fused_t)
NOT_TAKEN(tilemm__sgemm_invariant_launch, tilemm__sgemm_fused_t)
NOT_TAKEN(tilemm__sgemm_half_launch, tilemm__sgemm_fused_t)
NOT_TAKEN(tilemm__sgemm_half_parts_launch, tilemm__sgemm_half_parts_t)
NOT_TAKEN(tilemm__sgemm_make_half_launch, tilemm__sgemm_make_half_t)
NOT_TAKEN(tilemm__sgemm_half_planes_launch, tilemm__sgemm_half_product_t)
NOT_TAKEN(tilemm__sgemm_scale_launch, tilemm__sgemm_scale_t)
NOT_TAKEN(tilemm__sgemm_skinny_launch, tilemm__sgemm_skinny_t)
NOT_TAKEN(tilemm__sgemm_align_launch, tilemm__sgemm_align_t)
NOT_TAKEN(tilemm__sgemm_small_batch_launch, tilemm__sgemm_small_batch_t)
NOT_TAKEN(tilemm__sgemm_splitk_launch, tilemm__sgemm_splitk_t)

/* ---- what else run_cuda.c calls -------------------------------------------------------------- */

static const tilemm__cuda_traits_t *traits;
static const char *variant = "";

tilemm__limits_t tilemm__cuda_limits(tilemm_t ctx, size_t workspace)
{
    return (tilemm__limits_t){
        .cuda = traits, .math = ctx->math, .workspace = workspace, .variant = variant};
}

void *tilemm__cuda_workspace(tilemm_t ctx, size_t want, size_t *got)
{
    (void)ctx;
    (void)want;
    *got = SIZE_MAX;
    return (void *)((uintptr_t)1 << 40);
}

/* No plan here takes what the workspace does not have. */
void *tilemm__cuda_lend(tilemm_t ctx, size_t bytes)
{
    (void)ctx;
    CHECK(0, "%zu bytes", bytes);
    return NULL;
}

void tilemm__cuda_return(tilemm_t ctx, void *memory)
{
    (void)ctx, (void)memory;
}

tilemm_status_t tilemm__fail(tilemm_t ctx, tilemm_status_t status, const char *format, ...)
{
    (void)ctx;
    (void)format;
    return status;
}

tilemm_status_t tilemm__cuda_fail(tilemm_t ctx, const char *what, int cuda_error)
{
    (void)cuda_error;
    return tilemm__fail(ctx, TILEMM_DEVICE_FAILURE, what);
}

void tilemm__set_kernel(tilemm_t ctx, const char *name)
{
    (void)ctx;
    (void)name;
}

/* ---- pipelines ------------------------------------------------------------------------------ */

static tilemm__sgemm_args_t product_of(const tilemm__sgemm_args_t *args,
                                       const tilemm__pipeline_plan_t *plan,
                                       const tilemm__pipeline_step_t *step)
{
    const int64_t row = step->begin[0] * plan->side[0].strip;
    const int64_t column = step->begin[1] * plan->side[1].strip;
    tilemm__sgemm_args_t p = *args;
    p.m = tilemm__pipeline_lines(&plan->side[0], step->begin[0], step->end[0]);
    p.n = tilemm__pipeline_lines(&plan->side[1], step->begin[1], step->end[1]);
    p.a += row * (p.trans_a ? 1 : p.lda);
    p.b += column * (p.trans_b ? p.ldb : 1);
    p.c += row * p.ldc + column;
    return p;
}

/* Returns whether planes stayed. */
static int pipeline(int i)
{
    float *const somewhere = (float *)((uintptr_t)1 << 44);
    const int64_t apart = (int64_t)1 << 36;
    tilemm__sgemm_args_t args = {.m = rng_range(&(rng_t){(uint64_t)i + 1}, 1, 9000),
                                 .n = 1 + pick(12000),
                                 .k = 128 + pick(3000),
                                 .trans_a = (int)pick(2),
                                 .trans_b = (int)pick(2),
                                 .alpha = 1,
                                 .beta = (float)pick(2),
                                 .a = somewhere,
                                 .b = somewhere + apart,
                                 .c = somewhere + 2 * apart,
                                 .batch_count = 1};
    const double whole = (double)((args.m + args.n) * args.k + args.m * args.n) * 4;
    const tilemm__pipeline_places_t places = {
        .memory = (size_t)(whole * (i % 2 ? 2 : 0.2 + 0.01 * (double)pick(60))),
        .sm_count = gpus[i % GPUS].sm_count,
        .on_host = {1, pick(4) > 0, pick(4) > 0}};
    tilemm__cuda_state_t state = {0};
    struct tilemm_context ctx = {.state = &state,
                                 .math = pick(3) ? TILEMM_MATH_FP32 : TILEMM_MATH_TF32};
    tilemm__pipeline_plan_t plan;
    tilemm__pipeline_walk_t walk;
    tilemm__pipeline_step_t step;
    int64_t needed = 0, steps = 0;
    args.lda = (args.trans_a ? args.m : args.k) + pick(2) * pick(8);
    args.ldb = (args.trans_b ? args.k : args.n) + pick(2) * pick(8);
    args.ldc = args.n;
    traits = &gpus[i % GPUS];
    variant = traits->cc >= 90 ? "sgemm_planes_sm90_128x128" : "sgemm_planes_sm80_128x128";
    CHECK(tilemm__plan_pipeline(&args, &places, &plan) == TILEMM_SUCCESS, "%d: no plan", i);
    const int keep = i % 5 ? TILEMM__PIPELINE_KEEP_MANY : TILEMM__PIPELINE_KEEP_ONE;
    if (!tilemm__pipeline_keep(&plan, (tilemm__pipeline_keep_t)keep))
        return 0;
    memset(lines, 0, sizeof(lines));
    line_count = made = read = wrong = stale = zeros = 0;
    for (int run = 0; run < 2; run++) {
        tilemm__pipeline_begin(&walk);
        while (tilemm__pipeline_next(&plan, &walk, &step)) {
            const tilemm__sgemm_args_t p = product_of(&args, &plan, &step);
            const tilemm__sgemm_kept_t kept[] = {tilemm__pipeline_kept(&plan.side[0], &step, 0),
                                                 tilemm__pipeline_kept(&plan.side[1], &step, 1)};
            current = &p;
            if (run == 0 && tilemm__cuda_sgemm_kept_workspace(&ctx, &p, kept) == 0)
                return 0;
            if (run == 0)
                continue;
            CHECK(tilemm__cuda_sgemm_kept(&ctx, &p, kept) == TILEMM_SUCCESS, "%d: a step", i);
            for (int s = 0; s < 2; s++)
                needed += step.are_there[s] ? 0 : s ? p.n : p.m;
            steps++;
        }
    }
    CHECK(wrong == 0 && stale == 0,
          "%d: %lldx%lldx%lld, way %d, keep %d: %lld lines elsewhere, of %lld others' planes", i,
          (long long)args.m, (long long)args.n, (long long)args.k, (int)plan.way, keep,
          (long long)wrong, (long long)stale);
    CHECK(made == needed && made <= read && zeros == steps,
          "%d: %lld lines of %lld are made, %lld read; %lld steps of %lld make zeros", i,
          (long long)made, (long long)needed, (long long)read, (long long)zeros, (long long)steps);
    return made < read;
}

int main(void)
{
    enum { PIPELINES = 300 };
    int stayed = 0;
    for (int i = 0; i < PIPELINES; i++)
        stayed += pipeline(i);
    CHECK(stayed > PIPELINES / 6, "planes stayed in %d pipelines only", stayed);
    return check_exit();
}
