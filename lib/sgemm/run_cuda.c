/* run_cuda.c - SGEMM on the GPU: the launches of a plan, in their order. Adds addresses in the
 * workspace to the plan's structs, and nothing else.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "choices_cuda.h"
#include "lib/cuda/cuda.h"
#include "plan_cuda.h"

static int run_skinny(tilemm__sgemm_skinny_plan_t *plan, char *workspace, cudaStream_t stream)
{
    int error = 0;
    if (plan->zero.blocks > 0) {
        plan->product.partial = (void *)workspace;
        plan->zero.begin = workspace + plan->product.partial_bytes;
        plan->product.counters = plan->zero.begin;
        error = tilemm__sgemm_zero_launch(&plan->zero, stream);
    }
    return error ? error : tilemm__sgemm_skinny_launch(&plan->product, stream);
}

static int run_splitk(tilemm__sgemm_splitk_t *splitk, void *workspace, cudaStream_t stream)
{
    if (splitk->blocks == 0)
        return 0;
    splitk->partial = workspace;
    return tilemm__sgemm_splitk_launch(splitk, stream);
}

static int run_vector(tilemm__sgemm_vector_plan_t *plan, void *workspace, cudaStream_t stream)
{
    if (plan->splitk.blocks > 0)
        plan->product.c = workspace;
    const int error = tilemm__sgemm_vector_launch(&plan->product, stream);
    return error ? error : run_splitk(&plan->splitk, workspace, stream);
}

static int run_ffma(tilemm__sgemm_ffma_plan_t *plan, void *workspace, cudaStream_t stream)
{
    const int sm80 = plan->tiles.variant >= TILEMM__sgemm_ffma_sm80_128x128x16_nn;
    if (plan->tiles.partial_bytes > 0)
        plan->tiles.partial = workspace;
    int error = (sm80 ? tilemm__sgemm_ffma_sm80_launch
                      : tilemm__sgemm_ffma_sm75_launch)(&plan->tiles, stream);
    if (!error)
        error = run_splitk(&plan->splitk, workspace, stream);
    if (!error && plan->fringe.blocks > 0)
        error = tilemm__sgemm_skinny_launch(&plan->fringe, stream);
    return error;
}

/* Copy what the copy engine cannot read, for a product that is then given the copies. */
static int run_copies(tilemm__sgemm_copies_t *copies, tilemm__sgemm_args_t *args, char *workspace,
                      cudaStream_t stream)
{
    tilemm__sgemm_align_operand_t *const operand = copies->pass.operand;
    if (copies->pass.blocks == 0)
        return 0;
    for (int i = 0; i < 2; i++)
        operand[i].to = (void *)(workspace + copies->at[i]);
    if (operand[0].blocks > 0)
        args->a = operand[0].to;
    if (operand[1].blocks > 0)
        args->b = operand[1].to;
    return tilemm__sgemm_align_launch(&copies->pass, stream);
}

/* What FP16 planes of an invariant product carry, at its place in the workspace. */
static void set_carry(tilemm__sgemm_carry_t *carry, const tilemm__sgemm_carry_places_t *at,
                      char *workspace)
{
    carry->a = (void *)(workspace + at->a);
    carry->b = (void *)(workspace + at->b);
    carry->left = (void *)(workspace + at->left);
}

/* FP16 planes made in the kernel; and then what they do not carry. */
static int run_half(tilemm__sgemm_fused_plan_t *plan, char *workspace, cudaStream_t stream)
{
    tilemm__sgemm_half_parts_t *const parts = &plan->parts;
    set_carry(&plan->product.carry, &plan->carry, workspace);
    plan->rest.carry = parts->carry = plan->product.carry;
    plan->rest.args = plan->product.args;
    if (parts->blocks > 0) {
        parts->partial = plan->product.partial;
        plan->product.carry.a = parts->classes_a = (void *)(workspace + plan->parts_a);
        plan->product.carry.b = parts->classes_b = (void *)(workspace + plan->parts_b);
    }
    int error = tilemm__sgemm_half_launch(&plan->product, stream);
    if (!error && parts->blocks > 0)
        error = tilemm__sgemm_half_parts_launch(parts, stream);
    return error || plan->product.goes_on ? error
                                          : tilemm__sgemm_invariant_launch(&plan->rest, stream);
}

/* The same, made by a pass. */
static int run_half_planes(tilemm__sgemm_half_plan_t *plan, char *workspace, cudaStream_t stream)
{
    tilemm__sgemm_half_planes_t *const to[2] = {&plan->make.a.to, &plan->make.b.to};
    for (int i = 0; i < 2; i++) {
        to[i]->high = (void *)(workspace + plan->high[i]);
        to[i]->low = (void *)(workspace + plan->low[i]);
        to[i]->words = (void *)(workspace + plan->words[i]);
        to[i]->most = (void *)(workspace + plan->most[i]);
    }
    plan->product.a = *to[0];
    plan->product.b = *to[1];
    set_carry(&plan->product.carry, &plan->carry, workspace);
    plan->rest.carry = plan->product.carry;
    int error = tilemm__sgemm_make_half_launch(&plan->make, stream);
    if (!error)
        error = tilemm__sgemm_half_planes_launch(&plan->product, stream);
    return error ? error
                 : (tilemm__sgemm_reads_unaligned(plan->rest.variant)
                        ? tilemm__sgemm_unaligned_launch
                        : tilemm__sgemm_invariant_launch)(&plan->rest, stream);
}

static int run_fused(tilemm__sgemm_fused_plan_t *plan, char *workspace, cudaStream_t stream)
{
    if (plan->product.partial_bytes > 0)
        plan->product.partial = (void *)workspace;
    int error = run_copies(&plan->copies, &plan->product.args, workspace, stream);
    const int variant = plan->product.variant;
    if (!error && tilemm__sgemm_is_half(variant))
        return run_half(plan, workspace, stream);
    if (!error)
        error = (tilemm__sgemm_is_tf32(variant)           ? tilemm__sgemm_tf32_launch
                 : tilemm__sgemm_reads_unaligned(variant) ? tilemm__sgemm_unaligned_launch
                 : variant >= TILEMM__sgemm_invariant_sm90_128x128x32_nn
                     ? tilemm__sgemm_invariant_launch
                     : tilemm__sgemm_fused_launch)(&plan->product, stream);
    return error ? error : run_splitk(&plan->splitk, workspace, stream);
}

static int run_warp(tilemm__sgemm_warp_plan_t *plan, char *workspace, cudaStream_t stream)
{
    plan->product.partial = (void *)workspace;
    const int variant = plan->product.variant;
    const int error = (variant >= TILEMM__sgemm_resident_sm90_32x8_k ? tilemm__sgemm_resident_launch
                       : variant >= TILEMM__sgemm_team_sm90_32x8_nn
                           ? tilemm__sgemm_team_launch
                           : tilemm__sgemm_warp_launch)(&plan->product, stream);
    return error ? error : run_splitk(&plan->splitk, workspace, stream);
}

static void place_planes(const tilemm__sgemm_planes_places_t *places, char *workspace, int products,
                         tilemm__sgemm_planes_operand_t *planes)
{
    planes->hi = (void *)(workspace + places->hi);
    if (products > 1)
        planes->lo = (void *)(workspace + places->lo);
    planes->notes = (void *)(workspace + places->notes);
    planes->exact = (void *)(workspace + places->exact);
    planes->groups = (void *)(workspace + places->groups);
}

static void place_lines(const tilemm__sgemm_make_operand_t *from,
                        const tilemm__sgemm_planes_operand_t *planes,
                        tilemm__sgemm_exact_operand_t *lines)
{
    lines->from = from->from;
    lines->array = from->array;
    lines->exact = planes->exact;
    lines->groups = planes->groups;
    lines->density = planes->density;
    lines->compact = (float *)(uintptr_t)planes->hi;
}

/* Planes that are not there yet. */
static int make_planes(const tilemm__sgemm_planes_cuda_plan_t *plan,
                       const tilemm__sgemm_planes_part_t *part, char *workspace,
                       cudaStream_t stream)
{
    tilemm__sgemm_make_planes_t make = part->make;
    tilemm__sgemm_zero_t zero = plan->zero;
    int error = 0;
    make.a.to = part->judge.a.of;
    make.b.to = part->judge.b.of;
    make.zero = (void *)(workspace + plan->density);
    make.zeros = plan->zeros;
    zero.begin = workspace + plan->a.groups;
    if (zero.blocks > 0)
        error = tilemm__sgemm_zero_launch(&zero, stream);
    return error || make.blocks == 0 ? error : tilemm__sgemm_make_planes_launch(&make, stream);
}

static void place_hard(const tilemm__sgemm_make_operand_t *from,
                       const tilemm__sgemm_planes_operand_t *planes, void *bf16,
                       tilemm__sgemm_hard_operand_t *hard)
{
    hard->of.from = from->from;
    hard->of.array = from->array;
    hard->of.to = *planes;
    hard->planes = bf16;
}

/* Where a part begins: k0 along k, in matrix `first`. Later parts of k are added. */
static void place_operands(const tilemm__sgemm_args_t *all, int64_t first, int64_t k0,
                           tilemm__sgemm_args_t *part)
{
    if (all->a_array)
        part->a_array = all->a_array + first;
    else
        part->a = all->a + first * all->stride_a + k0 * (all->trans_a ? all->lda : 1);
    if (all->b_array)
        part->b_array = all->b_array + first;
    else
        part->b = all->b + first * all->stride_b + k0 * (all->trans_b ? 1 : all->ldb);
    if (all->c_array)
        part->c_array = all->c_array + first;
    else
        part->c = all->c + first * all->stride_c;
    part->beta = k0 > 0 ? 1.0f : all->beta;
}

/* A part of k, from k0 on, of the matrices from `first` on: `part` is for such, and a copy. */
static int run_part(const tilemm__sgemm_planes_cuda_plan_t *plan, const tilemm__sgemm_args_t *args,
                    tilemm__sgemm_planes_part_t part, int64_t first, int64_t k0, char *workspace,
                    cudaStream_t stream)
{
    tilemm__sgemm_make_operand_t *const a = &part.make.a, *const b = &part.make.b;
    tilemm__sgemm_planes_product_t *const product = &part.product;
    tilemm__sgemm_rest_t *const rest = &part.rest;
    tilemm__sgemm_args_t *const at = &rest->fp32.args;
    tilemm__sgemm_density_t *const density = (void *)(workspace + plan->density);
    const int sm90 = product->variant >= TILEMM__sgemm_planes_sm90_128x128x64_p3_1x2;
    place_operands(args, first, k0, at);
    a->from = at->a;
    a->array = at->a_array;
    b->from = at->b;
    b->array = at->b_array;
    product->c = at->c;
    product->c_array = at->c_array;
    product->beta = at->beta;
    place_planes(&plan->a, workspace, product->products, &part.judge.a.of);
    place_planes(&plan->b, workspace, product->products, &part.judge.b.of);
    part.judge.a.of.density = &density[0];
    part.judge.b.of.density = &density[1];
    product->a = part.judge.a.of;
    product->b = part.judge.b.of;
    product->routes.a = product->a.groups;
    product->routes.b = product->b.groups;
    product->routes.density = density;
    product->routes.left = (unsigned *)(density + 2);
    rest->bf16.routes = rest->fp32.routes = product->routes;
    rest->bf16.made = product->routes.left + 1;
    place_hard(a, &product->a, workspace + plan->a.bf16, &rest->bf16.a);
    place_hard(b, &product->b, workspace + plan->b.bf16, &rest->bf16.b);
    rest->exact.left = product->routes.left;
    product->sums.counters = (void *)(workspace + plan->counters);
    product->sums.partial = (void *)(workspace + plan->partial);
    rest->bf16.sums.counters = (void *)(workspace + plan->hard_counters);
    rest->bf16.sums.partial = product->sums.partial; /* whose sums are done */
    rest->exact.sums.counters = (void *)(workspace + plan->exact_counters);
    if (plan->exact_partial > 0)
        rest->exact.sums.partial = (void *)(workspace + plan->exact_partial);
    for (int columns = 0; columns < 2; columns++) {
        tilemm__sgemm_exact_pass_t *const pass = &rest->exact.pass[columns];
        place_lines(columns ? b : a, columns ? &product->b : &product->a, &pass->lines);
        place_lines(columns ? a : b, columns ? &product->a : &product->b, &pass->others);
        pass->beta = at->beta;
        pass->c = at->c;
        pass->c_array = at->c_array;
    }
    int error = make_planes(plan, &part, workspace, stream);
    if (!error)
        error = tilemm__sgemm_judge_lines_launch(&part.judge, stream);
    if (!error)
        error = (sm90 ? tilemm__sgemm_planes_sm90_launch
                      : tilemm__sgemm_planes_sm80_launch)(product, stream);
    if (error)
        return error;
    if (rest->blocks > 0)
        return tilemm__sgemm_rest_launch(rest, stream);
    error = tilemm__sgemm_ffma_sm80_launch(&rest->fp32, stream);
    return error ? error : tilemm__sgemm_exact_lines_launch(&rest->exact, stream);
}

static int run_planes(const tilemm__sgemm_planes_cuda_plan_t *plan,
                      const tilemm__sgemm_args_t *args, char *workspace, cudaStream_t stream)
{
    int error = 0;
    for (int64_t first = 0; first < args->batch_count && !error; first += plan->batch_group)
        for (int64_t k0 = 0; k0 < args->k && !error; k0 += plan->k_part) {
            const int last_group = args->batch_count - first < plan->batch_group;
            const int last_k = args->k - k0 < plan->k_part;
            error =
                run_part(plan, args, plan->part[last_group][last_k], first, k0, workspace, stream);
        }
    return error;
}

/* Where a context's choices stay; NULL if there is no memory for them. */
static struct tilemm__sgemm_choices *choices_of(tilemm__cuda_state_t *state)
{
    if (!state->choices)
        state->choices = calloc(1, sizeof(struct tilemm__sgemm_choices));
    return state->choices;
}

tilemm_status_t tilemm__cuda_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    return tilemm__cuda_sgemm_kept(ctx, args, NULL);
}

tilemm_status_t tilemm__cuda_sgemm_kept(tilemm_t ctx, const tilemm__sgemm_args_t *args,
                                        const tilemm__sgemm_kept_t *kept)
{
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    tilemm__limits_t limits = tilemm__cuda_limits(ctx, SIZE_MAX);
    tilemm__sgemm_cuda_plan_t plan;
    char *workspace = NULL, *own = NULL;
    int error = 0;
    limits.kept = kept;
    limits.choices = choices_of(state);
    if (args->k > TILEMM__SGEMM_MOST_K)
        return tilemm__fail(ctx, TILEMM_NOT_SUPPORTED, "sgemm: k = %lld, must be at most %lld",
                            (long long)args->k, (long long)TILEMM__SGEMM_MOST_K);
    if (tilemm__plan_sgemm_cuda(args, &limits, &plan) != TILEMM_SUCCESS)
        return tilemm__fail(ctx, TILEMM_NOT_SUPPORTED,
                            "sgemm: an invariant product has too many tiles: m = %lld, n = %lld, "
                            "batch of %lld",
                            (long long)args->m, (long long)args->n, (long long)args->batch_count);
    if (plan.workspace > 0) {
        const size_t wanted = plan.workspace;
        workspace = tilemm__cuda_workspace(ctx, wanted, &limits.workspace);
        if (limits.workspace < wanted &&
            tilemm__plan_sgemm_cuda(args, &limits, &plan) != TILEMM_SUCCESS)
            return tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY,
                                "sgemm: an invariant product of operands that are not aligned to "
                                "16 bytes needs a workspace of %zu bytes, has %zu",
                                wanted, limits.workspace);
        /* Its bits do not depend on the workspace: FP16 planes need theirs. */
        if (limits.workspace < plan.workspace &&
            !(workspace = own = tilemm__cuda_lend(ctx, plan.workspace)))
            return tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY,
                                "sgemm: an invariant product needs %zu bytes of device memory",
                                plan.workspace);
    }
    tilemm__set_kernel(ctx, plan.name);
    switch (plan.method) {
    case TILEMM__SGEMM_NOTHING: break;
    case TILEMM__SGEMM_SCALE:
        error = tilemm__sgemm_scale_launch(&plan.as.scale, state->stream);
        break;
    case TILEMM__SGEMM_FFMA: error = run_ffma(&plan.as.ffma, workspace, state->stream); break;
    case TILEMM__SGEMM_SKINNY: error = run_skinny(&plan.as.skinny, workspace, state->stream); break;
    case TILEMM__SGEMM_SMALL_BATCH:
        error = tilemm__sgemm_small_batch_launch(&plan.as.small_batch, state->stream);
        break;
    case TILEMM__SGEMM_VECTOR: error = run_vector(&plan.as.vector, workspace, state->stream); break;
    case TILEMM__SGEMM_SLICEK:
        error = tilemm__sgemm_slicek_launch(&plan.as.slicek, state->stream);
        break;
    case TILEMM__SGEMM_OUTER:
        error = tilemm__sgemm_outer_launch(&plan.as.outer, state->stream);
        break;
    case TILEMM__SGEMM_FITTED:
        error = tilemm__sgemm_fitted_launch(&plan.as.fitted, state->stream);
        break;
    case TILEMM__SGEMM_PACKED:
        error = tilemm__sgemm_packed_launch(&plan.as.packed, state->stream);
        break;
    case TILEMM__SGEMM_SHORT:
        error = tilemm__sgemm_short_launch(&plan.as.short_k, state->stream);
        break;
    case TILEMM__SGEMM_FUSED: error = run_fused(&plan.as.fused, workspace, state->stream); break;
    case TILEMM__SGEMM_PLANES:
        error = run_planes(&plan.as.planes, args, workspace, state->stream);
        break;
    case TILEMM__SGEMM_HALF_PLANES:
        error = run_half_planes(&plan.as.half, workspace, state->stream);
        break;
    case TILEMM__SGEMM_WARP: error = run_warp(&plan.as.warp, workspace, state->stream); break;
    }
    if (own)
        tilemm__cuda_return(ctx, own);
    return error ? tilemm__cuda_fail(ctx, "sgemm", error) : TILEMM_SUCCESS;
}

size_t tilemm__cuda_sgemm_workspace(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    const tilemm__limits_t limits = tilemm__cuda_limits(ctx, SIZE_MAX);
    tilemm__sgemm_cuda_plan_t plan;
    /* A call that cannot be done is refused, and needs none. */
    return tilemm__plan_sgemm_cuda(args, &limits, &plan) == TILEMM_SUCCESS ? plan.workspace : 0;
}

size_t tilemm__cuda_sgemm_kept_workspace(tilemm_t ctx, const tilemm__sgemm_args_t *args,
                                         const tilemm__sgemm_kept_t *kept)
{
    tilemm__limits_t limits = tilemm__cuda_limits(ctx, SIZE_MAX);
    tilemm__sgemm_cuda_plan_t plan;
    limits.kept = kept;
    return tilemm__plan_sgemm_cuda(args, &limits, &plan) == TILEMM_SUCCESS && plan.keeps
               ? plan.workspace
               : 0;
}
