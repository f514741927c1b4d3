/* api.c - the entry points of transposes and scaled copies: check, bring to row-major form,
 * run.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "lib/quick.h"
#include "lib/size.h"

/* What an entry point and its arguments are called in messages. */
typedef struct {
    const char *where, *src, *ld_src, *dst, *ld_dst;
} names_t;

/* A call. Shapes and leading dimensions are those of the row-major view. */
typedef struct {
    names_t names;
    int in_place;
    int copies;       /* nothing but that: asynchronous from and to pinned memory */
    int column_major; /* the user's rows are the columns of the row-major view */
    tilemm__transpose_args_t args;
} call_t;

TILEMM__QUICK int check_elem_size(tilemm_t ctx, const char *where, size_t elem_size)
{
    return tilemm__is_elem_size(elem_size) ||
           !tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                         "%s: elem_size = %zu, must be 1, 2, 4, 8 or 16 bytes", where, elem_size);
}

/* Elements are moved by loads and stores of their size, at most 8 bytes aligned. */
static size_t alignment_of(size_t elem_size)
{
    return elem_size < 8 ? elem_size : 8;
}

/* Say what is wrong with a leading dimension. */
static __attribute__((noinline)) int explain_ld(tilemm_t ctx, const call_t *call,
                                                const char *ld_name, int64_t width, int cols,
                                                int64_t ld)
{
    char note[64];
    snprintf(note, sizeof note, "%s, %s = %lld", call->column_major ? "column-major" : "row-major",
             cols ? "cols" : "rows", (long long)width);
    return tilemm__check_ld(ctx, call->names.where, ld_name, width, ld, note);
}

/* width is what the user calls cols, or rows. */
TILEMM__QUICK int check_ld(tilemm_t ctx, const call_t *call, const char *ld_name, int64_t width,
                           int cols, int64_t ld)
{
    return (ld >= width && ld > 0) || explain_ld(ctx, call, ld_name, width, cols, ld);
}

TILEMM__QUICK int check_call(tilemm_t ctx, const call_t *call)
{
    const tilemm__transpose_args_t *p = &call->args;
    const char *where = call->names.where;
    const int row_major = !call->column_major;
    return tilemm__is_at_least(ctx, where, "rows", p->rows, 0) &&
           tilemm__is_at_least(ctx, where, "cols", p->cols, 0) &&
           tilemm__is_at_least(ctx, where, "batch_count", p->batch_count, 0) &&
           check_elem_size(ctx, where, p->elem_size) &&
           check_ld(ctx, call, call->names.ld_src, p->cols, row_major, p->ld_src) &&
           check_ld(ctx, call, call->names.ld_dst, p->trans ? p->rows : p->cols,
                    row_major != p->trans, p->ld_dst);
}

/* An operand that is used: where it lies. */
static int check_memory(tilemm_t ctx, const call_t *call, const char *name, const char *ld_name,
                        int64_t rows, int64_t cols, int64_t ld, int64_t stride, const void *pointer)
{
    const char *where = call->names.where;
    const size_t size = call->args.elem_size;
    return tilemm__check_span(ctx, where, name, ld_name, rows, cols, ld, call->args.batch_count,
                              stride, size) &&
           tilemm__check_pointer(ctx, where, name, pointer, alignment_of(size));
}

static void log_call(tilemm_t ctx, const call_t *call)
{
    const tilemm__transpose_args_t *p = &call->args;
    char batch[96] = "", alpha[48] = "";
    if (!ctx->log)
        return;
    if (p->batch_count != 1)
        snprintf(batch, sizeof batch, " --batch %lld --stride-src %lld --stride-dst %lld",
                 (long long)p->batch_count, (long long)p->stride_src, (long long)p->stride_dst);
    if (p->scaled)
        snprintf(alpha, sizeof alpha, " --alpha %.9g", (double)p->alpha);
    tilemm__log(ctx,
                "transpose --sizes %lldx%lld --elem-size %zu --ld-src %lld --ld-dst %lld%s%s%s%s",
                (long long)p->rows, (long long)p->cols, p->elem_size, (long long)p->ld_src,
                (long long)p->ld_dst, batch, alpha, call->in_place ? " --in-place" : "",
                p->trans ? "" : " --no-trans");
}

/* In place, of a matrix on the host for which the GPU has too little memory. */
static tilemm_status_t run_on_cpu(tilemm_t ctx, const call_t *call)
{
    tilemm_t cpu = NULL;
    tilemm_status_t status = tilemm_create(&cpu, TILEMM_BACKEND_CPU, 0);
    if (status != TILEMM_SUCCESS)
        return tilemm__fail(ctx, status,
                            "%s: there is no room on the GPU, nor a context for the CPU",
                            call->names.where);
    cpu->threads = ctx->threads;
    status = cpu->backend->transpose_inplace(cpu, &call->args);
    if (status == TILEMM_SUCCESS)
        tilemm__set_kernel(ctx, cpu->last_kernel);
    else
        tilemm__fail(ctx, status, "%s", cpu->last_error);
    (void)tilemm_destroy(cpu);
    return status;
}

/* The call whose arguments are right but for its operands, which nobody has looked at. */
TILEMM__LONG tilemm_status_t run_long(tilemm_t ctx, call_t *call)
{
    tilemm__transpose_args_t *p = &call->args;
    const int64_t dst_rows = p->trans ? p->cols : p->rows, dst_cols = p->trans ? p->rows : p->cols;
    const int nothing = p->rows == 0 || p->cols == 0 || p->batch_count == 0;
    const int reads_src = !nothing && (!p->scaled || p->alpha != 0.0f);
    if ((reads_src && !check_memory(ctx, call, call->names.src, call->names.ld_src, p->rows,
                                    p->cols, p->ld_src, p->stride_src, p->src)) ||
        (!nothing && !check_memory(ctx, call, call->names.dst, call->names.ld_dst, dst_rows,
                                   dst_cols, p->ld_dst, p->stride_dst, p->dst)))
        return TILEMM_INVALID_ARGUMENT;
    log_call(ctx, call);
    if (nothing)
        return TILEMM_SUCCESS;
    if (p->scaled && p->alpha == 1.0f)
        p->scaled = 0;
    if (call->copies && ctx->backend->copy)
        return ctx->backend->copy(ctx, p);
    if (!call->in_place)
        return ctx->backend->transpose(ctx, p);
    const tilemm_status_t status = ctx->backend->transpose_inplace(ctx, p);
    return status == TILEMM__LEFT_TO_CPU ? run_on_cpu(ctx, call) : status;
}

/* Step 2 of quick.h. */
TILEMM__QUICK int run_small(tilemm_t ctx, const call_t *call)
{
    const tilemm__transpose_args_t *p = &call->args;
    return ctx->backend->transpose_small && !ctx->log && p->trans && !call->in_place &&
           p->batch_count == 1 && p->rows > 0 && p->cols > 0 && p->src && p->dst &&
           tilemm__is_multiple((uintptr_t)p->src | (uintptr_t)p->dst, alignment_of(p->elem_size)) &&
           !(p->scaled && p->alpha == 0.0f) && ctx->backend->transpose_small(ctx, p);
}

TILEMM__QUICK tilemm_status_t run(tilemm_t ctx, call_t *call)
{
    if (!ctx)
        return TILEMM_INVALID_ARGUMENT;
    const int valid = check_call(ctx, call);
    if (valid && run_small(ctx, call))
        return TILEMM_SUCCESS;
    tilemm__check_context(ctx);
    return valid ? run_long(ctx, call) : TILEMM_INVALID_ARGUMENT;
}

TILEMM__QUICK tilemm_status_t run_plain(tilemm_t ctx, names_t names, int64_t rows, int64_t cols,
                                        size_t elem_size, const void *src, int64_t ld_src,
                                        int64_t stride_src, void *dst, int64_t ld_dst,
                                        int64_t stride_dst, int64_t batch_count, int in_place)
{
    call_t call = {names,
                   in_place,
                   /* copies */ 0,
                   /* column_major */ 0,
                   {rows, cols, elem_size, /* trans */ 1, /* scaled */ 0, /* alpha */ 1.0f, src,
                    dst, ld_src, ld_dst, stride_src, stride_dst, batch_count}};
    return run(ctx, &call);
}

tilemm_status_t tilemm_transpose(tilemm_t ctx, int64_t rows, int64_t cols, size_t elem_size,
                                 const void *src, int64_t ld_src, void *dst, int64_t ld_dst)
{
    return run_plain(ctx, (names_t){"transpose", "src", "ld_src", "dst", "ld_dst"}, rows, cols,
                     elem_size, src, ld_src, 0, dst, ld_dst, 0, 1, 0);
}

tilemm_status_t tilemm_transpose_strided_batched(tilemm_t ctx, int64_t rows, int64_t cols,
                                                 size_t elem_size, const void *src, int64_t ld_src,
                                                 int64_t stride_src, void *dst, int64_t ld_dst,
                                                 int64_t stride_dst, int64_t batch_count)
{
    return run_plain(ctx, (names_t){"transpose_strided_batched", "src", "ld_src", "dst", "ld_dst"},
                     rows, cols, elem_size, src, ld_src, stride_src, dst, ld_dst, stride_dst,
                     batch_count, 0);
}

tilemm_status_t tilemm_transpose_inplace(tilemm_t ctx, int64_t rows, int64_t cols, size_t elem_size,
                                         void *a, int64_t ld_in, int64_t ld_out)
{
    return run_plain(ctx, (names_t){"transpose_inplace", "a", "ld_in", "a", "ld_out"}, rows, cols,
                     elem_size, a, ld_in, 0, a, ld_out, 0, 1, 1);
}

/* A column-major rows x cols matrix is a row-major cols x rows one. */
TILEMM__QUICK tilemm_status_t run_scaled(tilemm_t ctx, names_t names, tilemm_layout_t layout,
                                         tilemm_op_t trans, int64_t rows, int64_t cols, float alpha,
                                         const float *a, int64_t lda, float *b, int64_t ldb,
                                         int in_place)
{
    const int row_major = layout == TILEMM_ROW_MAJOR;
    call_t call = {names,
                   in_place,
                   /* copies */ 0,
                   !row_major,
                   {row_major ? rows : cols, row_major ? cols : rows, sizeof(float),
                    trans == TILEMM_TRANS, /* scaled */ 1, alpha, a, b, lda, ldb, /* strides */ 0,
                    0, /* batch_count */ 1}};
    if (!tilemm__check_context(ctx) || !tilemm__is_layout(ctx, names.where, layout) ||
        !tilemm__is_op(ctx, names.where, "trans", trans) ||
        !tilemm__is_at_least(ctx, names.where, "rows", rows, 0) ||
        !tilemm__is_at_least(ctx, names.where, "cols", cols, 0))
        return TILEMM_INVALID_ARGUMENT;
    return run(ctx, &call);
}

tilemm_status_t tilemm_somatcopy(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t trans,
                                 int64_t rows, int64_t cols, float alpha, const float *a,
                                 int64_t lda, float *b, int64_t ldb)
{
    return run_scaled(ctx, (names_t){"somatcopy", "a", "lda", "b", "ldb"}, layout, trans, rows,
                      cols, alpha, a, lda, b, ldb, 0);
}

tilemm_status_t tilemm_simatcopy(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t trans,
                                 int64_t rows, int64_t cols, float alpha, float *a, int64_t lda,
                                 int64_t ldb)
{
    return run_scaled(ctx, (names_t){"simatcopy", "a", "lda", "a", "ldb"}, layout, trans, rows,
                      cols, alpha, a, lda, a, ldb, 1);
}

tilemm_status_t tilemm_copy_matrix_strided_batched(tilemm_t ctx, int64_t rows, int64_t cols,
                                                   size_t elem_size, const void *src,
                                                   int64_t ld_src, int64_t stride_src, void *dst,
                                                   int64_t ld_dst, int64_t stride_dst,
                                                   int64_t batch_count)
{
    call_t call = {{batch_count == 1 ? "copy_matrix" : "copy_matrix_strided_batched", "src",
                    "ld_src", "dst", "ld_dst"},
                   /* in_place */ 0,
                   /* copies */ 1,
                   /* column_major */ 0,
                   {rows, cols, elem_size, /* trans */ 0, /* scaled */ 0, /* alpha */ 1.0f, src,
                    dst, ld_src, ld_dst, stride_src, stride_dst, batch_count}};
    return run(ctx, &call);
}

tilemm_status_t tilemm_copy_matrix(tilemm_t ctx, int64_t rows, int64_t cols, size_t elem_size,
                                   const void *src, int64_t ld_src, void *dst, int64_t ld_dst)
{
    return tilemm_copy_matrix_strided_batched(ctx, rows, cols, elem_size, src, ld_src, 0, dst,
                                              ld_dst, 0, 1);
}
