/* loops.c - the routines in plain C, for what libtilemm does not take: increments of 0, misaligned
 * operands, and a process in which no context can be created. Results are right, and slow.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"

/* Elements may be misaligned. */
static float load(const float *at)
{
    float value;
    memcpy(&value, at, sizeof value);
    return value;
}

static void store(float *at, float value)
{
    memcpy(at, &value, sizeof value);
}

/* The index of element (i, j) of op(X). */
static int64_t at(const tilemm__blas_call_t *call, tilemm_op_t op, int64_t i, int64_t j, int64_t ld)
{
    const int by_rows = (call->layout == TILEMM_ROW_MAJOR) == (op == TILEMM_NO_TRANS);
    return by_rows ? i * ld + j : i + j * ld;
}

static void product(const tilemm__blas_call_t *p, const float *a, const float *b, float *c)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            float *to = c + at(p, TILEMM_NO_TRANS, i, j, p->ldc);
            double sum = 0;
            for (int64_t l = 0; p->alpha != 0.0f && l < p->k; l++)
                sum += (double)load(a + at(p, p->transa, i, l, p->lda)) *
                       (double)load(b + at(p, p->transb, l, j, p->ldb));
            const double product = p->alpha == 0.0f ? 0 : (double)p->alpha * sum;
            store(to, (float)(p->beta == 0.0f ? product
                                              : product + (double)p->beta * (double)load(to)));
        }
}

static const float *first(const float *x, int64_t n, int64_t inc)
{
    return inc < 0 ? x - (n - 1) * inc : x;
}

static void sums(tilemm__blas_call_t *p)
{
    const float *x = first(p->a, p->n, p->lda);
    const float *y = p->kind == SDOT ? first(p->b, p->n, p->ldb) : NULL;
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const double value = (double)load(x + i * p->lda);
        sum += p->kind == SASUM ? fabs(value) : value * (y ? (double)load(y + i * p->ldb) : value);
    }
    p->value = (float)(p->kind == SNRM2 ? sqrt(sum) : sum);
}

/* NaN is larger than nothing, and nothing larger than NaN: it is found if it is the first. */
static void largest(tilemm__blas_call_t *p)
{
    float most = fabsf(load(p->a));
    p->index = 0;
    for (int64_t i = 1; i < p->n; i++)
        if (fabsf(load(p->a + i * p->lda)) > most) {
            most = fabsf(load(p->a + i * p->lda));
            p->index = i;
        }
}

/* Element (i, j) of A goes to (i, j) of op(A). */
static void copy(const tilemm__blas_call_t *p, const float *from)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++)
            store(p->c + at(p, p->transa, i, j, p->ldc),
                  p->alpha == 0.0f ? 0.0f
                                   : p->alpha * load(from + at(p, TILEMM_NO_TRANS, i, j, p->lda)));
}

static void copy_in_place(const tilemm__blas_call_t *p)
{
    const int64_t lines = p->layout == TILEMM_ROW_MAJOR ? p->m : p->n;
    const size_t bytes = (size_t)(lines * p->lda) * sizeof(float);
    float *old = malloc(bytes);
    if (!old) {
        fprintf(stderr, "tilemm-blas: simatcopy: out of memory, and nothing was computed\n");
        return;
    }
    /* the last line ends before its leading dimension does */
    memcpy(old, p->a,
           bytes -
               (size_t)(p->lda - (p->layout == TILEMM_ROW_MAJOR ? p->n : p->m)) * sizeof(float));
    copy(p, old);
    free(old);
}

void tilemm__blas_loops(tilemm__blas_call_t *call)
{
    switch (call->kind) {
    case SGEMM:
    case SGEMM_BATCH:
        for (int64_t i = 0; i < call->batch; i++)
            product(call, call->a + i * call->stride_a, call->b + i * call->stride_b,
                    call->c + i * call->stride_c);
        break;
    case SASUM:
    case SNRM2:
    case SDOT: sums(call); break;
    case ISAMAX: largest(call); break;
    case SOMATCOPY: copy(call, call->a); break;
    case SIMATCOPY: copy_in_place(call); break;
    case KINDS: break;
    }
}
