/* run_cpu.c - reductions on the CPU: plan and run.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "passes_cpu.h"

#include "lib/cpu/cpu.h"
#include "lib/size.h"

/* The results of vectors that have no elements, and perhaps no address. */
static void store_empty(const tilemm__reduce_args_t *args)
{
    for (int64_t v = 0; v < args->count; v++)
        if (tilemm__op_is_order(args->op))
            tilemm__store_key(args, v, TILEMM__KEY_NONE, -1);
        else
            tilemm__store_sum(args, v, (tilemm__sum_t){0, 0}, 0);
}

static void plan_and_run(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    const tilemm__reduce_cpu_t *k = tilemm__cpu_kernels(ctx)->reduce;
    tilemm__limits_t limits = tilemm__cpu_limits(ctx);
    tilemm__reduce_cpu_plan_t plan;
    void *workspace = NULL;
    tilemm__plan_reduce_cpu(args, &limits, &plan);
    if (plan.workspace > 0) {
        workspace = tilemm__cpu_workspace(ctx, plan.workspace, &limits.workspace);
        if (limits.workspace < plan.workspace)
            tilemm__plan_reduce_cpu(args, &limits, &plan);
    }
    tilemm__release_threads(limits.threads - plan.threads);
    if (plan.method == TILEMM__REDUCE_COLUMNS || plan.method == TILEMM__REDUCE_COLUMN_BLOCKS) {
        tilemm__set_kernel_name(ctx, k->name_down);
        tilemm__reduce_columns(k, args, &plan, workspace);
    } else {
        tilemm__set_kernel_name(ctx, k->name_across);
        tilemm__reduce_vectors(k, args, &plan, workspace);
    }
    tilemm__release_threads(plan.threads);
}

tilemm_status_t tilemm__cpu_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    if (args->n == 0)
        store_empty(args);
    else
        plan_and_run(ctx, args);
    return TILEMM_SUCCESS;
}

/* tilemm__sum_is_certain() for the plain sum of a short vector, not a mean, in less time; stores
 * the result if it is certain. A sum that is not finite counts as uncertain. */
static inline int store_certain(const tilemm__reduce_args_t *args, tilemm__plain_t plain)
{
    const double lost = plain.magnitude * ((TILEMM__PLAIN_ADDITIONS + 3) * 0x1p-52);
    double low = plain.sum - lost, high = plain.sum + lost;
    if (args->op == TILEMM__NRM2) {
        low = sqrt(low);
        high = sqrt(high);
    }
    const float result = (float)low;
    if (tilemm__float_bits(result) != tilemm__float_bits((float)high) || result != result)
        return 0;
    *args->out = result;
    return 1;
}

int tilemm__cpu_reduce_small(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    const tilemm__reduce_cpu_t *k = tilemm__cpu_kernels(ctx)->reduce;
    const float *y = args->op == TILEMM__DOT ? args->y : args->x;
    if (tilemm__cpu_may_have_device(ctx))
        return 0;
    tilemm__set_kernel_name(ctx, k->name_across);
    if (tilemm__op_is_order(args->op) || args->n > k->short_n ||
        !store_certain(args, k->sum_short(args->op, args->nan_ignore, args->n, args->x, y)))
        tilemm__reduce_vector(k, args, 0);
    return 1;
}

/* Segment s of a call as a vector. */
static tilemm__reduce_args_t segment_of(const tilemm__segments_args_t *args, int64_t s)
{
    const int64_t *at = args->offsets + s;
    return (tilemm__reduce_args_t){.op = args->op,
                                   .nan_ignore = args->nan_ignore,
                                   .count = 1,
                                   .n = tilemm__max(at[1] - at[0], 0),
                                   .x = at[1] > at[0] ? args->x + at[0] : NULL,
                                   .istride = 1,
                                   .y_istride = 1,
                                   .out = args->out + s,
                                   .out_stride = 1};
}

/* What every thread of a call on segments needs to know. */
typedef struct {
    const tilemm__reduce_cpu_t *k;
    const tilemm__segments_args_t *args;
    tilemm__segments_cpu_plan_t plan;
    int64_t next;   /* the next segment that no thread has taken */
    int64_t longer; /* segments that all threads take, one at a time */
} segments_t;

static void reduce_segments(void *data, thread_t me)
{
    segments_t *const job = data;
    const int64_t grain = me.of > 1 ? job->plan.grain : job->args->segments;
    int64_t longer = 0;
    for (int64_t s = take(&job->next, grain); s < job->args->segments;
         s = take(&job->next, grain)) {
        const int64_t end = tilemm__min(job->args->segments, s + grain);
        for (int64_t i = s; i < end; i++) {
            const tilemm__reduce_args_t segment = segment_of(job->args, i);
            if (segment.n == 0)
                store_empty(&segment);
            else if (segment.n > job->plan.alone)
                longer++;
            else
                tilemm__reduce_vector(job->k, &segment, 0);
        }
    }
    take(&job->longer, longer);
}

tilemm_status_t tilemm__cpu_reduce_segments(tilemm_t ctx, const tilemm__segments_args_t *args)
{
    const tilemm__reduce_cpu_t *k = tilemm__cpu_kernels(ctx)->reduce;
    const tilemm__limits_t limits = tilemm__cpu_limits(ctx);
    segments_t job = {.k = k, .args = args};
    tilemm__plan_segments_cpu(args, &limits, &job.plan);
    tilemm__run_team(job.plan.threads, reduce_segments, &job);
    tilemm__release_threads(limits.threads);
    for (int64_t s = 0; job.longer > 0; s++) {
        const tilemm__reduce_args_t segment = segment_of(args, s);
        if (segment.n > job.plan.alone) {
            plan_and_run(ctx, &segment);
            job.longer--;
        }
    }
    tilemm__set_kernel_name(ctx, k->name_segments);
    return TILEMM_SUCCESS;
}
