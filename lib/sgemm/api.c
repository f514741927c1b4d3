/* api.c - the entry points of the matrix product: check, bring to row-major form, run.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "lib/internal.h"

/* The three entry points' arguments, in the user's terms. */
typedef struct {
    const char *where;
    tilemm_layout_t layout;
    tilemm_op_t transa, transb;
    int pointers; /* a, b and c hold arrays of pointers */
    tilemm__sgemm_args_t args;
} call_t;

/* An operand in the user's terms: op(it) is rows x cols, which the user calls row_name and
 * col_name. */
typedef struct {
    const char *name, *ld_name, *row_name, *col_name;
    int64_t rows, cols;
    tilemm_op_t op;
    int64_t ld, stride;
    const void *matrix, *array;
} operand_t;

/* Whether the lines of memory are the rows of op(it). */
static int by_rows(const call_t *call, const operand_t *x)
{
    return (call->layout == TILEMM_ROW_MAJOR) == (x->op == TILEMM_NO_TRANS);
}

static int check_shape(tilemm_t ctx, const call_t *call, const operand_t *x)
{
    int64_t width = by_rows(call, x) ? x->cols : x->rows;
    char note[80];
    if (x->ld >= width && x->ld > 0)
        return 1; /* and no time is lost on the note */
    snprintf(note, sizeof note, "%s, %s, %s = %lld",
             call->layout == TILEMM_ROW_MAJOR ? "row-major" : "column-major",
             x->op == TILEMM_NO_TRANS ? "NO_TRANS" : "TRANS",
             by_rows(call, x) ? x->col_name : x->row_name, (long long)width);
    return tilemm__check_ld(ctx, call->where, x->ld_name, width, x->ld, note);
}

/* The pointers in an array that the host can read. */
static int check_array(tilemm_t ctx, const call_t *call, const char *name, const void *array)
{
    const void *const *pointers = array;
    if (!tilemm__check_pointer(ctx, call->where, name, array))
        return 0;
    if (ctx->backend->id == TILEMM_BACKEND_CUDA && ctx->backend->locate(ctx, array) != TILEMM__HOST)
        return 1;
    int cpu = ctx->backend->id == TILEMM_BACKEND_CPU;
    for (int64_t i = 0; i < call->args.batch_count; i++)
        if (!pointers[i] || (cpu && ctx->backend->locate(ctx, pointers[i]) == TILEMM__DEVICE)) {
            char element[40];
            snprintf(element, sizeof element, "%s[%lld]", name, (long long)i);
            return tilemm__check_pointer(ctx, call->where, element, pointers[i]);
        }
    return 1;
}

/* An operand that is used. */
static int check_memory(tilemm_t ctx, const call_t *call, const operand_t *x)
{
    int64_t lines = by_rows(call, x) ? x->rows : x->cols;
    int64_t width = by_rows(call, x) ? x->cols : x->rows;
    return tilemm__check_span(ctx, call->where, x->name, x->ld_name, lines, width, x->ld,
                              call->args.batch_count, x->stride, sizeof(float)) &&
           (call->pointers ? check_array(ctx, call, x->name, x->array)
                           : tilemm__check_pointer(ctx, call->where, x->name, x->matrix));
}

static void log_call(tilemm_t ctx, const call_t *call)
{
    static const char *const math[] = {"fp32", "strict", "tf32"};
    const tilemm__sgemm_args_t *p = &call->args;
    char batch[128] = "";
    if (p->batch_count != 1 || call->pointers)
        snprintf(batch, sizeof batch,
                 " --batch %lld --stride-a %lld --stride-b %lld --stride-c %lld",
                 (long long)p->batch_count, (long long)p->stride_a, (long long)p->stride_b,
                 (long long)p->stride_c);
    tilemm__log(ctx,
                "gemm --sizes %lldx%lldx%lld --layout %s --trans %c%c --alpha %.9g --beta %.9g "
                "--lda %lld --ldb %lld --ldc %lld%s --math %s",
                (long long)p->m, (long long)p->n, (long long)p->k,
                call->layout == TILEMM_ROW_MAJOR ? "row" : "col",
                call->transa == TILEMM_NO_TRANS ? 'n' : 't',
                call->transb == TILEMM_NO_TRANS ? 'n' : 't', (double)p->alpha, (double)p->beta,
                (long long)p->lda, (long long)p->ldb, (long long)p->ldc, batch, math[ctx->math]);
}

/* A column-major product is the row-major product of the transposes, C^T = op(B)^T op(A)^T. */
static void to_row_major(tilemm__sgemm_args_t *p)
{
#define EXCHANGE(type, x, y)                                                                       \
    do {                                                                                           \
        type t_ = (x);                                                                             \
        (x) = (y);                                                                                 \
        (y) = t_;                                                                                  \
    } while (0)
    EXCHANGE(int64_t, p->m, p->n);
    EXCHANGE(int, p->trans_a, p->trans_b);
    EXCHANGE(const float *, p->a, p->b);
    EXCHANGE(const float *const *, p->a_array, p->b_array);
    EXCHANGE(int64_t, p->lda, p->ldb);
    EXCHANGE(int64_t, p->stride_a, p->stride_b);
#undef EXCHANGE
}

static tilemm_status_t run(tilemm_t ctx, call_t *call)
{
    tilemm__sgemm_args_t *p = &call->args;
    const operand_t a = {"a",          "lda",  "m",         "k",  p->m,      p->k,
                         call->transa, p->lda, p->stride_a, p->a, p->a_array};
    const operand_t b = {"b",          "ldb",  "k",         "n",  p->k,      p->n,
                         call->transb, p->ldb, p->stride_b, p->b, p->b_array};
    const operand_t c = {"c",    "ldc",       "m",  "n",       p->m, p->n, TILEMM_NO_TRANS,
                         p->ldc, p->stride_c, p->c, p->c_array};
    if (!tilemm__check_context(ctx) || !tilemm__check_layout(ctx, call->where, call->layout) ||
        !tilemm__check_op(ctx, call->where, "transa", call->transa) ||
        !tilemm__check_op(ctx, call->where, "transb", call->transb) ||
        !tilemm__check_at_least(ctx, call->where, "m", p->m, 0) ||
        !tilemm__check_at_least(ctx, call->where, "n", p->n, 0) ||
        !tilemm__check_at_least(ctx, call->where, "k", p->k, 0) ||
        !tilemm__check_at_least(ctx, call->where, "batch_count", p->batch_count, 0) ||
        !check_shape(ctx, call, &a) || !check_shape(ctx, call, &b) || !check_shape(ctx, call, &c))
        return TILEMM_INVALID_ARGUMENT;
    int nothing = p->m == 0 || p->n == 0 || p->batch_count == 0;
    int product = !nothing && p->k > 0 && p->alpha != 0.0f;
    if ((product && (!check_memory(ctx, call, &a) || !check_memory(ctx, call, &b))) ||
        (!nothing && !check_memory(ctx, call, &c)))
        return TILEMM_INVALID_ARGUMENT;
    if (ctx->log)
        log_call(ctx, call);
    if (nothing)
        return TILEMM_SUCCESS;
    if (!product)
        p->k = 0;
    if (p->k == 0 && p->beta == 1.0f)
        return TILEMM_SUCCESS;
    p->trans_a = call->transa == TILEMM_TRANS;
    p->trans_b = call->transb == TILEMM_TRANS;
    if (call->layout == TILEMM_COL_MAJOR)
        to_row_major(p);
    return ctx->backend->sgemm(ctx, p);
}

static tilemm_status_t run_strided(tilemm_t ctx, const char *where, tilemm_layout_t layout,
                                   tilemm_op_t transa, tilemm_op_t transb, int64_t m, int64_t n,
                                   int64_t k, float alpha, const float *a, int64_t lda,
                                   int64_t stride_a, const float *b, int64_t ldb, int64_t stride_b,
                                   float beta, float *c, int64_t ldc, int64_t stride_c,
                                   int64_t batch_count)
{
    call_t call = {.where = where,
                   .layout = layout,
                   .transa = transa,
                   .transb = transb,
                   .args = {.m = m,
                            .n = n,
                            .k = k,
                            .alpha = alpha,
                            .beta = beta,
                            .a = a,
                            .b = b,
                            .c = c,
                            .lda = lda,
                            .ldb = ldb,
                            .ldc = ldc,
                            .stride_a = stride_a,
                            .stride_b = stride_b,
                            .stride_c = stride_c,
                            .batch_count = batch_count}};
    return run(ctx, &call);
}

/* A short way for a small product, where the checks would take as long as the product does. 1 if it
 * is done. Whatever is not plainly right, or needs a thought, goes the long way, which has the
 * words for it. */
static inline int run_small(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t transa,
                            tilemm_op_t transb, int64_t m, int64_t n, int64_t k, float alpha,
                            const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                            float *c, int64_t ldc)
{
    enum { MOST = 1 << 20 }; /* so that no index overflows */
    if (!ctx || !ctx->backend->sgemm_small || ctx->log || !a || !b || !c || alpha == 0.0f ||
        m <= 0 || n <= 0 || k <= 0 || m > MOST || n > MOST || k > MOST || lda > MOST ||
        ldb > MOST || ldc > MOST || (transa != TILEMM_NO_TRANS && transa != TILEMM_TRANS) ||
        (transb != TILEMM_NO_TRANS && transb != TILEMM_TRANS))
        return 0;
    const int turn_a = transa == TILEMM_TRANS, turn_b = transb == TILEMM_TRANS;
    if (layout == TILEMM_ROW_MAJOR) {
        const tilemm__sgemm_args_t args = {
            m, n, k, turn_a,     turn_b,     alpha,      beta,
            a, b, c, .lda = lda, .ldb = ldb, .ldc = ldc, .batch_count = 1};
        return lda >= (turn_a ? m : k) && ldb >= (turn_b ? k : n) && ldc >= n &&
               ctx->backend->sgemm_small(ctx, &args);
    }
    if (layout == TILEMM_COL_MAJOR) {
        const tilemm__sgemm_args_t args = {
            n, m, k, turn_b,     turn_a,     alpha,      beta,
            b, a, c, .lda = ldb, .ldb = lda, .ldc = ldc, .batch_count = 1};
        return lda >= (turn_a ? k : m) && ldb >= (turn_b ? n : k) && ldc >= m &&
               ctx->backend->sgemm_small(ctx, &args);
    }
    return 0;
}

tilemm_status_t tilemm_sgemm(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t transa,
                             tilemm_op_t transb, int64_t m, int64_t n, int64_t k, float alpha,
                             const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                             float *c, int64_t ldc)
{
    if (run_small(ctx, layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))
        return TILEMM_SUCCESS;
    return run_strided(ctx, "sgemm", layout, transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0,
                       beta, c, ldc, 0, 1);
}

tilemm_status_t tilemm_sgemm_strided_batched(tilemm_t ctx, tilemm_layout_t layout,
                                             tilemm_op_t transa, tilemm_op_t transb, int64_t m,
                                             int64_t n, int64_t k, float alpha, const float *a,
                                             int64_t lda, int64_t stride_a, const float *b,
                                             int64_t ldb, int64_t stride_b, float beta, float *c,
                                             int64_t ldc, int64_t stride_c, int64_t batch_count)
{
    return run_strided(ctx, "sgemm_strided_batched", layout, transa, transb, m, n, k, alpha, a, lda,
                       stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch_count);
}

tilemm_status_t tilemm_sgemm_batched(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t transa,
                                     tilemm_op_t transb, int64_t m, int64_t n, int64_t k,
                                     float alpha, const float *const *a, int64_t lda,
                                     const float *const *b, int64_t ldb, float beta,
                                     float *const *c, int64_t ldc, int64_t batch_count)
{
    call_t call = {.where = "sgemm_batched",
                   .layout = layout,
                   .transa = transa,
                   .transb = transb,
                   .pointers = 1,
                   .args = {.m = m,
                            .n = n,
                            .k = k,
                            .alpha = alpha,
                            .beta = beta,
                            .a_array = a,
                            .b_array = b,
                            .c_array = c,
                            .lda = lda,
                            .ldb = ldb,
                            .ldc = ldc,
                            .batch_count = batch_count}};
    return run(ctx, &call);
}

/* What a user's workspace may lose until it is aligned. */
enum { ALIGNMENT = 256 };

tilemm_status_t tilemm_sgemm_workspace(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t transa,
                                       tilemm_op_t transb, int64_t m, int64_t n, int64_t k,
                                       int64_t batch_count, size_t *bytes)
{
    const char *where = "sgemm_workspace";
    if (!tilemm__check_context(ctx) || !tilemm__check_layout(ctx, where, layout) ||
        !tilemm__check_op(ctx, where, "transa", transa) ||
        !tilemm__check_op(ctx, where, "transb", transb) ||
        !tilemm__check_at_least(ctx, where, "m", m, 0) ||
        !tilemm__check_at_least(ctx, where, "n", n, 0) ||
        !tilemm__check_at_least(ctx, where, "k", k, 0) ||
        !tilemm__check_at_least(ctx, where, "batch_count", batch_count, 0) ||
        !tilemm__check_pointer(ctx, where, "bytes", bytes))
        return TILEMM_INVALID_ARGUMENT;
    tilemm__sgemm_args_t args = {.m = m,
                                 .n = n,
                                 .k = k,
                                 .trans_a = transa == TILEMM_TRANS,
                                 .trans_b = transb == TILEMM_TRANS,
                                 .alpha = 1.0f,
                                 .batch_count = batch_count};
    if (layout == TILEMM_COL_MAJOR)
        to_row_major(&args);
    args.lda = args.trans_a ? args.m : args.k;
    args.ldb = args.trans_b ? args.k : args.n;
    args.ldc = args.n;
    *bytes = 0;
    if (m > 0 && n > 0 && k > 0 && batch_count > 0)
        *bytes = ctx->backend->sgemm_workspace(ctx, &args);
    if (*bytes)
        *bytes += ALIGNMENT;
    return TILEMM_SUCCESS;
}
