/* plan_align.c - which operands of SGEMM are copied for the copy engine, which reads rows that
 * begin at multiples of 16 bytes, and how.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"

typedef tilemm__sgemm_align_operand_t operand_t;

static operand_t operand_of(const float *from, const float *const *array, int64_t rows,
                            int64_t cols, int64_t ld, int64_t stride)
{
    return (operand_t){.from = from,
                       .array = array,
                       .rows = rows,
                       .cols = cols,
                       .ld = ld,
                       .stride = stride,
                       .ld_to = tilemm__sgemm_ld_of_copy(cols)};
}

/* A as it is stored, if it is to be copied; else without rows. */
static operand_t copied_a(const tilemm__sgemm_args_t *args)
{
    const int64_t rows = args->trans_a ? args->k : args->m;
    const int64_t cols = args->trans_a ? args->m : args->k;
    return operand_of(args->a, args->a_array, tilemm__sgemm_is_readable_a(args) ? 0 : rows, cols,
                      args->lda, args->stride_a);
}

static operand_t copied_b(const tilemm__sgemm_args_t *args)
{
    const int64_t rows = args->trans_b ? args->n : args->k;
    const int64_t cols = args->trans_b ? args->k : args->n;
    return operand_of(args->b, args->b_array, tilemm__sgemm_is_readable_b(args) ? 0 : rows, cols,
                      args->ldb, args->stride_b);
}

tilemm__sgemm_args_t tilemm__sgemm_aligned(const tilemm__sgemm_args_t *args)
{
    const operand_t a = copied_a(args), b = copied_b(args);
    tilemm__sgemm_args_t aligned = *args;
    if (a.rows > 0) {
        aligned.a = NULL;
        aligned.a_array = NULL;
        aligned.lda = a.ld_to;
        aligned.stride_a = a.rows * a.ld_to;
    }
    if (b.rows > 0) {
        aligned.b = NULL;
        aligned.b_array = NULL;
        aligned.ldb = b.ld_to;
        aligned.stride_b = b.rows * b.ld_to;
    }
    return aligned;
}

static double most_bytes_of(const operand_t *operand, int64_t batch_count)
{
    const double numbers = (double)operand->rows * (double)operand->ld_to * (double)batch_count;
    return numbers > 0 ? numbers * sizeof(float) + TILEMM__SGEMM_LINE : 0;
}

double tilemm__sgemm_copies_bytes(const tilemm__sgemm_args_t *args)
{
    const operand_t a = copied_a(args), b = copied_b(args);
    return most_bytes_of(&a, args->batch_count) + most_bytes_of(&b, args->batch_count);
}

tilemm__sgemm_copies_t tilemm__sgemm_plan_copies(const tilemm__sgemm_args_t *args, size_t *bytes)
{
    tilemm__sgemm_copies_t copies = {
        .pass = {.operand = {copied_a(args), copied_b(args)}, .variant = TILEMM__sgemm_align_sm90}};
    for (int i = 0; i < 2; i++) {
        operand_t *const operand = &copies.pass.operand[i];
        operand->count = operand->rows * operand->ld_to * args->batch_count;
        operand->blocks = (unsigned)tilemm__min(
            tilemm__div_up(operand->count, TILEMM__SGEMM_ALIGN_BLOCK), TILEMM__SGEMM_MOST_BLOCKS);
        copies.pass.blocks += operand->blocks;
        if (operand->blocks == 0)
            continue;
        operand->by_ld_to = tilemm__division_by((uint32_t)operand->ld_to);
        operand->by_rows = tilemm__division_by((uint32_t)operand->rows);
        copies.at[i] = (size_t)tilemm__round_up((int64_t)*bytes, TILEMM__SGEMM_LINE);
        *bytes = copies.at[i] + (size_t)operand->count * sizeof(float);
    }
    return copies;
}
