/* api.c - the entry points of the reductions: check, bring to vectors with strides, run.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "lib/quick.h"
#include "lib/size.h"

_Static_assert((int)TILEMM_SUM == TILEMM__SUM && (int)TILEMM_ASUM == TILEMM__ASUM &&
                   (int)TILEMM_SUMSQ == TILEMM__SUMSQ && (int)TILEMM_NRM2 == TILEMM__NRM2 &&
                   (int)TILEMM_MEAN == TILEMM__MEAN && (int)TILEMM_MAX == TILEMM__MAX &&
                   (int)TILEMM_MIN == TILEMM__MIN && (int)TILEMM_AMAX == TILEMM__AMAX &&
                   (int)TILEMM_AMIN == TILEMM__AMIN,
               "args.h numbers the reductions as tilemm.h does");

static const char *const op_names[] = {"sum", "asum", "sumsq", "nrm2", "mean",
                                       "max", "min",  "amax",  "amin", "dot"};

static const char *nan_name(tilemm_t ctx)
{
    return ctx->nan_policy == TILEMM_NAN_IGNORE ? "ignore" : "propagate";
}

/* Element 0 of a vector that is walked from its far end if the increment is negative; results
 * come out as an offset from its address. */
static int64_t first_element(int64_t n, int64_t inc)
{
    return inc < 0 && n > 0 ? (n - 1) * -inc : 0;
}

static int check_vector(tilemm_t ctx, const char *where, const char *name, const char *inc_name,
                        int64_t n, const float *x, int64_t inc)
{
    return tilemm__check_span(ctx, where, name, inc_name, n, 1, inc, 1, 0, sizeof(float)) &&
           (n == 0 || tilemm__check_pointer(ctx, where, name, x, _Alignof(float)));
}

/* The call of which nothing is checked but the context. */
TILEMM__LONG tilemm_status_t reduce_long(tilemm_t ctx, const char *where, const char *result_name,
                                         tilemm__reduce_args_t *args)
{
    const int64_t n = args->n, incx = args->istride, incy = args->y_istride;
    const int op = args->op;
    char inc_y[40] = "";
    const void *result = args->index_out ? (void *)args->index_out : args->out;
    tilemm__check_context(ctx);
    if (!tilemm__check_at_least(ctx, where, "n", n, 0) ||
        !tilemm__check_increment(ctx, where, "incx", incx) ||
        (op == TILEMM__DOT && !tilemm__check_increment(ctx, where, "incy", incy)) ||
        !check_vector(ctx, where, "x", "incx", n, args->x, incx) ||
        (op == TILEMM__DOT && !check_vector(ctx, where, "y", "incy", n, args->y, incy)) ||
        !tilemm__check_pointer(ctx, where, result_name, result,
                               args->index_out ? _Alignof(int64_t) : _Alignof(float)))
        return TILEMM_INVALID_ARGUMENT;
    if (op == TILEMM__DOT && ctx->log)
        snprintf(inc_y, sizeof inc_y, " --inc-y %lld", (long long)incy);
    tilemm__log(ctx, "reduce --op %s%s --sizes %lld --inc %lld%s --nan %s", args->out ? "" : "i",
                op_names[op], (long long)n, (long long)incx, inc_y, nan_name(ctx));
    args->x = n ? args->x + first_element(n, incx) : NULL;
    args->y = n && args->y ? args->y + first_element(n, incy) : NULL;
    return ctx->backend->reduce(ctx, args);
}

/* Step 2 of quick.h. */
TILEMM__QUICK int reduce_small(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    enum { MOST = 16384 }; /* too few for a second thread */
    return ctx->backend->reduce_small && !ctx->log && args->n > 0 && args->n <= MOST &&
           args->istride == 1 && args->x && (args->out || args->index_out) &&
           tilemm__is_multiple((uintptr_t)args->x | (uintptr_t)args->y | (uintptr_t)args->out,
                               _Alignof(float)) &&
           tilemm__is_multiple((uintptr_t)args->index_out, _Alignof(int64_t)) &&
           (args->op != TILEMM__DOT || (args->y_istride == 1 && args->y)) &&
           ctx->backend->reduce_small(ctx, args);
}

/* One vector to one value, and to one index where index is not NULL. */
TILEMM__QUICK tilemm_status_t reduce_vector(tilemm_t ctx, const char *where, int op, int64_t n,
                                            const float *x, int64_t incx, const float *y,
                                            int64_t incy, const char *result_name, float *result,
                                            int64_t *index)
{
    if (!ctx)
        return TILEMM_INVALID_ARGUMENT;
    tilemm__reduce_args_t args = {.op = op,
                                  .nan_ignore = ctx->nan_policy == TILEMM_NAN_IGNORE,
                                  .count = 1,
                                  .n = n,
                                  .x = x,
                                  .istride = incx,
                                  .y = y,
                                  .y_istride = incy,
                                  .out = result,
                                  .index_out = index,
                                  .out_stride = 1};
    return reduce_small(ctx, &args) ? TILEMM_SUCCESS : reduce_long(ctx, where, result_name, &args);
}

/* The result is of this type and goes to `value` or to `index`. */
#define VECTOR_REDUCTION(name, op, type, result, value, index)                                     \
    tilemm_status_t tilemm_##name(tilemm_t ctx, int64_t n, const float *x, int64_t incx,           \
                                  type *result)                                                    \
    {                                                                                              \
        return reduce_vector(ctx, #name, op, n, x, incx, NULL, 1, #result, value, index);          \
    }
VECTOR_REDUCTION(ssum, TILEMM__SUM, float, result, result, NULL)
VECTOR_REDUCTION(sasum, TILEMM__ASUM, float, result, result, NULL)
VECTOR_REDUCTION(snrm2, TILEMM__NRM2, float, result, result, NULL)
VECTOR_REDUCTION(smax, TILEMM__MAX, float, result, result, NULL)
VECTOR_REDUCTION(smin, TILEMM__MIN, float, result, result, NULL)
VECTOR_REDUCTION(isamax, TILEMM__AMAX, int64_t, index, NULL, index)
VECTOR_REDUCTION(isamin, TILEMM__AMIN, int64_t, index, NULL, index)
VECTOR_REDUCTION(ismax, TILEMM__MAX, int64_t, index, NULL, index)
VECTOR_REDUCTION(ismin, TILEMM__MIN, int64_t, index, NULL, index)

tilemm_status_t tilemm_sdot(tilemm_t ctx, int64_t n, const float *x, int64_t incx, const float *y,
                            int64_t incy, float *result)
{
    return reduce_vector(ctx, "sdot", TILEMM__DOT, n, x, incx, y, incy, "result", result, NULL);
}

static int check_reduction(tilemm_t ctx, const char *where, tilemm_reduce_t op, int extremes_only)
{
    int value = (int)op, least = extremes_only ? TILEMM__MAX : TILEMM__SUM;
    if (value >= least && value <= TILEMM__AMIN)
        return 1;
    tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT, "%s: op = %d, must be %s", where, value,
                 extremes_only ? "TILEMM_MAX, TILEMM_MIN, TILEMM_AMAX or TILEMM_AMIN"
                               : "one of tilemm_reduce_t, 0 to 8");
    return 0;
}

static tilemm_status_t reduce_matrix(tilemm_t ctx, const char *where, int arg, tilemm_reduce_t op,
                                     tilemm_axis_t axis, tilemm_layout_t layout, int64_t rows,
                                     int64_t cols, const float *a, int64_t lda, float *out,
                                     int64_t incout, int64_t *index_out)
{
    if (!tilemm__check_context(ctx) || !check_reduction(ctx, where, op, arg))
        return TILEMM_INVALID_ARGUMENT;
    if (axis != TILEMM_AXIS_ROWS && axis != TILEMM_AXIS_COLS)
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                            "%s: axis = %d, must be TILEMM_AXIS_ROWS (0) or TILEMM_AXIS_COLS (1)",
                            where, (int)axis);
    int row_major = layout == TILEMM_ROW_MAJOR;
    int down = (axis == TILEMM_AXIS_ROWS) == row_major; /* across the lines of memory */
    char note[64];
    snprintf(note, sizeof note, "%s = %lld, %s", row_major ? "cols" : "rows",
             (long long)(row_major ? cols : rows), row_major ? "row-major" : "column-major");
    if (!tilemm__check_layout(ctx, where, layout) ||
        !tilemm__check_at_least(ctx, where, "rows", rows, 0) ||
        !tilemm__check_at_least(ctx, where, "cols", cols, 0) ||
        !tilemm__check_ld(ctx, where, "lda", row_major ? cols : rows, lda, note))
        return TILEMM_INVALID_ARGUMENT;
    int64_t count = axis == TILEMM_AXIS_ROWS ? cols : rows;
    int64_t n = axis == TILEMM_AXIS_ROWS ? rows : cols;
    if (!tilemm__check_increment(ctx, where, "incout", incout) ||
        !tilemm__check_span(ctx, where, "out", "incout", count, 1, incout, 1, 0,
                            arg ? sizeof(int64_t) : sizeof(float)) ||
        (n > 0 && count > 0 &&
         (!tilemm__check_span(ctx, where, "a", "lda", row_major ? rows : cols,
                              row_major ? cols : rows, lda, 1, 0, sizeof(float)) ||
          !tilemm__check_pointer(ctx, where, "a", a, _Alignof(float)))) ||
        (count > 0 && (!arg || out) &&
         !tilemm__check_pointer(ctx, where, "out", out, _Alignof(float))) ||
        (count > 0 && arg &&
         !tilemm__check_pointer(ctx, where, "index_out", index_out, _Alignof(int64_t))))
        return TILEMM_INVALID_ARGUMENT;
    tilemm__log(ctx, "reduce --op %s --axis %s --layout %s --sizes %lldx%lld --lda %lld%s --nan %s",
                op_names[op], axis == TILEMM_AXIS_ROWS ? "rows" : "cols", row_major ? "row" : "col",
                (long long)rows, (long long)cols, (long long)lda, arg ? " --arg" : "",
                nan_name(ctx));
    if (count == 0)
        return TILEMM_SUCCESS;
    int64_t first = first_element(count, incout);
    tilemm__reduce_args_t args = {.op = (int)op,
                                  .nan_ignore = ctx->nan_policy == TILEMM_NAN_IGNORE,
                                  .count = count,
                                  .n = n,
                                  .x = a,
                                  .istride = down ? lda : 1,
                                  .vstride = down ? 1 : lda,
                                  .out = out ? out + first : NULL,
                                  .index_out = index_out ? index_out + first : NULL,
                                  .out_stride = incout};
    return ctx->backend->reduce(ctx, &args);
}

tilemm_status_t tilemm_sreduce(tilemm_t ctx, tilemm_reduce_t op, tilemm_axis_t axis,
                               tilemm_layout_t layout, int64_t rows, int64_t cols, const float *a,
                               int64_t lda, float *out, int64_t incout)
{
    return reduce_matrix(ctx, "sreduce", 0, op, axis, layout, rows, cols, a, lda, out, incout,
                         NULL);
}

tilemm_status_t tilemm_sargreduce(tilemm_t ctx, tilemm_reduce_t op, tilemm_axis_t axis,
                                  tilemm_layout_t layout, int64_t rows, int64_t cols,
                                  const float *a, int64_t lda, float *out, int64_t incout,
                                  int64_t *index_out)
{
    return reduce_matrix(ctx, "sargreduce", 1, op, axis, layout, rows, cols, a, lda, out, incout,
                         index_out);
}

tilemm_status_t tilemm_sreduce_segments(tilemm_t ctx, tilemm_reduce_t op, int64_t segments,
                                        const float *x, const int64_t *offsets, float *out)
{
    static const char where[] = "sreduce_segments";
    if (!tilemm__check_context(ctx) || !check_reduction(ctx, where, op, 0) ||
        !tilemm__check_at_least(ctx, where, "segments", segments, 0))
        return TILEMM_INVALID_ARGUMENT;
    if (segments == 0)
        return TILEMM_SUCCESS;
    if (!tilemm__check_span(ctx, where, "offsets", "increment", segments, 1, 1, 1, 0,
                            2 * sizeof(int64_t)) ||
        !tilemm__check_pointer(ctx, where, "offsets", offsets, _Alignof(int64_t)) ||
        !tilemm__check_pointer(ctx, where, "out", out, _Alignof(float)))
        return TILEMM_INVALID_ARGUMENT;
    int64_t elements = -1; /* unknown */
    if (ctx->backend->id == TILEMM_BACKEND_CPU ||
        ctx->backend->locate(ctx, offsets) == TILEMM__HOST) {
        if (!tilemm__check_offsets(ctx, segments, offsets))
            return TILEMM_INVALID_ARGUMENT;
        elements = offsets[segments] - offsets[0];
    }
    if (elements != 0 && !tilemm__check_pointer(ctx, where, "x", x, _Alignof(float)))
        return TILEMM_INVALID_ARGUMENT;
    tilemm__log(ctx, "reduce --op %s --segments %lld --sizes %lld --nan %s", op_names[op],
                (long long)segments, (long long)(elements < 0 ? segments : elements),
                nan_name(ctx));
    tilemm__segments_args_t args = {.op = (int)op,
                                    .nan_ignore = ctx->nan_policy == TILEMM_NAN_IGNORE,
                                    .segments = segments,
                                    .x = x,
                                    .offsets = offsets,
                                    .out = out};
    return ctx->backend->reduce_segments(ctx, &args);
}
