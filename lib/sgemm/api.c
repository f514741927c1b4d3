/* api.c - the entry points of the matrix product: check, bring to row-major form, run.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "exchange.h"
#include "lib/quick.h"
#include "lib/size.h"

/* The three entry points' arguments, in the user's terms. */
typedef struct {
    const char *where;
    tilemm_layout_t layout;
    tilemm_op_t transa, transb;
    int pointers;              /* a, b and c hold arrays of pointers */
    tilemm__sgemm_args_t args; /* trans_a and trans_b: the lines in memory are columns of op(X) */
} call_t;

/* Whether the lines in memory are the rows of op(X). */
static inline int by_rows(tilemm_layout_t layout, tilemm_op_t op)
{
    return (layout == TILEMM_ROW_MAJOR) == (op == TILEMM_NO_TRANS);
}

/* Say what is wrong with a leading dimension. */
static __attribute__((noinline)) int explain_ld(tilemm_t ctx, const char *where,
                                                tilemm_layout_t layout, const char *ld_name,
                                                tilemm_op_t op, const char *width_name,
                                                int64_t width, int64_t ld)
{
    char note[80];
    snprintf(note, sizeof note, "%s, %s, %s = %lld",
             layout == TILEMM_ROW_MAJOR ? "row-major" : "column-major",
             op == TILEMM_NO_TRANS ? "NO_TRANS" : "TRANS", width_name, (long long)width);
    return tilemm__check_ld(ctx, where, ld_name, width, ld, note);
}

/* The leading dimension of an operand for which op(it) is rows x cols. */
TILEMM__QUICK int check_ld(tilemm_t ctx, const call_t *call, const char *ld_name, tilemm_op_t op,
                           const char *row_name, const char *col_name, int64_t rows, int64_t cols,
                           int64_t ld)
{
    const int along_rows = by_rows(call->layout, op);
    const int64_t width = along_rows ? cols : rows;
    return (ld >= width && ld > 0) || explain_ld(ctx, call->where, call->layout, ld_name, op,
                                                 along_rows ? col_name : row_name, width, ld);
}

TILEMM__QUICK int check_sizes(tilemm_t ctx, const call_t *call)
{
    const char *where = call->where;
    const tilemm__sgemm_args_t *p = &call->args;
    return tilemm__is_layout(ctx, where, call->layout) &&
           tilemm__is_op(ctx, where, "transa", call->transa) &&
           tilemm__is_op(ctx, where, "transb", call->transb) &&
           tilemm__is_at_least(ctx, where, "m", p->m, 0) &&
           tilemm__is_at_least(ctx, where, "n", p->n, 0) &&
           tilemm__is_at_least(ctx, where, "k", p->k, 0) &&
           tilemm__is_at_least(ctx, where, "batch_count", p->batch_count, 0);
}

TILEMM__QUICK int check_call(tilemm_t ctx, const call_t *call)
{
    const tilemm__sgemm_args_t *p = &call->args;
    return check_sizes(ctx, call) &&
           check_ld(ctx, call, "lda", call->transa, "m", "k", p->m, p->k, p->lda) &&
           check_ld(ctx, call, "ldb", call->transb, "k", "n", p->k, p->n, p->ldb) &&
           check_ld(ctx, call, "ldc", TILEMM_NO_TRANS, "m", "n", p->m, p->n, p->ldc);
}

/* The pointers in an array that the host can read. */
static int check_array(tilemm_t ctx, const call_t *call, const char *name, const void *array)
{
    const void *const *pointers = array;
    if (!tilemm__check_pointer(ctx, call->where, name, array, _Alignof(float *)))
        return 0;
    if (ctx->backend->id == TILEMM_BACKEND_CUDA && ctx->backend->locate(ctx, array) != TILEMM__HOST)
        return 1;
    int cpu = ctx->backend->id == TILEMM_BACKEND_CPU;
    for (int64_t i = 0; i < call->args.batch_count; i++)
        if (!pointers[i] || !tilemm__is_multiple((uintptr_t)pointers[i], _Alignof(float)) ||
            (cpu && ctx->backend->locate(ctx, pointers[i]) == TILEMM__DEVICE)) {
            char element[40];
            snprintf(element, sizeof element, "%s[%lld]", name, (long long)i);
            return tilemm__check_pointer(ctx, call->where, element, pointers[i], _Alignof(float));
        }
    return 1;
}

/* An operand that is used; op(it) is rows x cols. */
static int check_memory(tilemm_t ctx, const call_t *call, const char *name, const char *ld_name,
                        tilemm_op_t op, int64_t rows, int64_t cols, int64_t ld, int64_t stride,
                        const void *matrix, const void *array)
{
    const int along_rows = by_rows(call->layout, op);
    return tilemm__check_span(ctx, call->where, name, ld_name, along_rows ? rows : cols,
                              along_rows ? cols : rows, ld, call->args.batch_count, stride,
                              sizeof(float)) &&
           (call->pointers
                ? check_array(ctx, call, name, array)
                : tilemm__check_pointer(ctx, call->where, name, matrix, _Alignof(float)));
}

static void log_call(tilemm_t ctx, const call_t *call)
{
    static const char *const math[] = {"fp32", "strict", "tf32"};
    static const char *const invariance[] = {"", " --invariance batch", " --invariance across"};
    const tilemm__sgemm_args_t *p = &call->args;
    char batch[128] = "";
    if (p->batch_count != 1 || call->pointers)
        snprintf(batch, sizeof batch,
                 " --batch %lld --stride-a %lld --stride-b %lld --stride-c %lld",
                 (long long)p->batch_count, (long long)p->stride_a, (long long)p->stride_b,
                 (long long)p->stride_c);
    tilemm__log(ctx,
                "gemm --sizes %lldx%lldx%lld --layout %s --trans %c%c --alpha %.9g --beta %.9g "
                "--lda %lld --ldb %lld --ldc %lld%s --math %s%s",
                (long long)p->m, (long long)p->n, (long long)p->k,
                call->layout == TILEMM_ROW_MAJOR ? "row" : "col",
                call->transa == TILEMM_NO_TRANS ? 'n' : 't',
                call->transb == TILEMM_NO_TRANS ? 'n' : 't', (double)p->alpha, (double)p->beta,
                (long long)p->lda, (long long)p->ldb, (long long)p->ldc, batch, math[ctx->math],
                invariance[ctx->invariance]);
}

/* A column-major product is the row-major product of the transposes, C' = op(B)' op(A)'; and so the
 * other way round. */
TILEMM__QUICK tilemm__sgemm_args_t exchange(const tilemm__sgemm_args_t *p, tilemm_layout_t layout)
{
    return tilemm__sgemm_exchange(p, layout == TILEMM_COL_MAJOR);
}

/* The call whose arguments are right but for its operands, which nobody has looked at. args is the
 * row-major product. */
TILEMM__LONG tilemm_status_t run_long(tilemm_t ctx, const char *where, tilemm_layout_t layout,
                                      tilemm_op_t transa, tilemm_op_t transb, int pointers,
                                      tilemm__sgemm_args_t *args)
{
    const call_t call = {where, layout, transa, transb, pointers, exchange(args, layout)};
    const tilemm__sgemm_args_t *p = &call.args;
    const int nothing = p->m == 0 || p->n == 0 || p->batch_count == 0;
    const int product = !nothing && p->k > 0 && p->alpha != 0.0f;
    if ((product && (!check_memory(ctx, &call, "a", "lda", transa, p->m, p->k, p->lda, p->stride_a,
                                   p->a, p->a_array) ||
                     !check_memory(ctx, &call, "b", "ldb", transb, p->k, p->n, p->ldb, p->stride_b,
                                   p->b, p->b_array))) ||
        (!nothing && !check_memory(ctx, &call, "c", "ldc", TILEMM_NO_TRANS, p->m, p->n, p->ldc,
                                   p->stride_c, p->c, p->c_array)))
        return TILEMM_INVALID_ARGUMENT;
    if (ctx->log)
        log_call(ctx, &call);
    if (nothing)
        return TILEMM_SUCCESS;
    if (!product)
        args->k = 0;
    if (args->k == 0 && args->beta == 1.0f)
        return TILEMM_SUCCESS;
    return ctx->backend->sgemm(ctx, args);
}

/* The call stays in registers: only the row-major product has an address, for the backend. */
TILEMM__QUICK tilemm_status_t run(tilemm_t ctx, const char *where, tilemm_layout_t layout,
                                  tilemm_op_t transa, tilemm_op_t transb, int pointers,
                                  const tilemm__sgemm_args_t *p)
{
    const call_t call = {where, layout, transa, transb, pointers, *p};
    if (!ctx)
        return TILEMM_INVALID_ARGUMENT;
    if (!check_call(ctx, &call)) {
        tilemm__check_context(ctx);
        return TILEMM_INVALID_ARGUMENT;
    }
    tilemm__sgemm_args_t args = exchange(p, layout);
    if (ctx->backend->sgemm_small && !ctx->log && p->batch_count == 1 && p->a && p->b && p->c &&
        tilemm__is_multiple((uintptr_t)p->a | (uintptr_t)p->b | (uintptr_t)p->c, _Alignof(float)) &&
        p->m > 0 && p->n > 0 && p->k > 0 && p->alpha != 0.0f &&
        ctx->backend->sgemm_small(ctx, &args))
        return TILEMM_SUCCESS;
    tilemm__check_context(ctx);
    return run_long(ctx, where, layout, transa, transb, pointers, &args);
}

TILEMM__QUICK tilemm_status_t run_strided(tilemm_t ctx, const char *where, tilemm_layout_t layout,
                                          tilemm_op_t transa, tilemm_op_t transb, int64_t m,
                                          int64_t n, int64_t k, float alpha, const float *a,
                                          int64_t lda, int64_t stride_a, const float *b,
                                          int64_t ldb, int64_t stride_b, float beta, float *c,
                                          int64_t ldc, int64_t stride_c, int64_t batch_count)
{
    const int trans_a = !by_rows(layout, transa), trans_b = !by_rows(layout, transb);
    const tilemm__sgemm_args_t args = {m,   n,   k,        trans_a,  trans_b,  alpha,       beta,
                                       a,   b,   c,        NULL,     NULL,     NULL,        lda,
                                       ldb, ldc, stride_a, stride_b, stride_c, batch_count, 0};
    return run(ctx, where, layout, transa, transb, 0, &args);
}

tilemm_status_t tilemm_sgemm(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t transa,
                             tilemm_op_t transb, int64_t m, int64_t n, int64_t k, float alpha,
                             const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                             float *c, int64_t ldc)
{
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
    const int trans_a = !by_rows(layout, transa), trans_b = !by_rows(layout, transb);
    const tilemm__sgemm_args_t args = {m,    n,    k,    trans_a, trans_b, alpha,       beta,
                                       NULL, NULL, NULL, a,       b,       c,           lda,
                                       ldb,  ldc,  0,    0,       0,       batch_count, 0};
    return run(ctx, "sgemm_batched", layout, transa, transb, 1, &args);
}

/* What a user's workspace may lose until it is aligned. */
enum { ALIGNMENT = 256 };

tilemm_status_t tilemm_sgemm_workspace(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t transa,
                                       tilemm_op_t transb, int64_t m, int64_t n, int64_t k,
                                       int64_t batch_count, size_t *bytes)
{
    const int trans_a = !by_rows(layout, transa), trans_b = !by_rows(layout, transb);
    const tilemm__sgemm_args_t sizes = {
        m, n, k, trans_a, trans_b, 1.0f, .batch_count = batch_count};
    const call_t call = {"sgemm_workspace", layout, transa, transb, 0, sizes};
    if (!tilemm__check_context(ctx) || !check_sizes(ctx, &call) ||
        !tilemm__check_pointer(ctx, call.where, "bytes", bytes, _Alignof(size_t)))
        return TILEMM_INVALID_ARGUMENT;
    tilemm__sgemm_args_t args = exchange(&sizes, layout);
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
