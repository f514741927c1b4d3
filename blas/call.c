/* call.c - a call done by libtilemm, on a context, or by the BLAS behind, each in the
 * floating-point environment that it wants.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <fenv.h>
#include <math.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "blas.h"

/* The floating-point environment of the program. While libtilemm computes, no exception traps; its
 * flags are not the program's. */
#ifdef __SSE__
static _Thread_local unsigned int environment;

void tilemm__blas_enter(void)
{
    environment = _mm_getcsr();
    _mm_setcsr((environment | _MM_MASK_MASK) & ~(unsigned int)_MM_EXCEPT_MASK);
}

void tilemm__blas_leave(void)
{
    _mm_setcsr(environment);
}
#else
static _Thread_local fenv_t environment;

void tilemm__blas_enter(void)
{
    feholdexcept(&environment);
}

void tilemm__blas_leave(void)
{
    fesetenv(&environment);
}
#endif

/* How many calls of the BLAS behind the thread is in: it may call this library. */
static _Thread_local int behind;

int tilemm__blas_is_behind(void)
{
    return behind > 0;
}

void tilemm__blas_call_behind(const tilemm__blas_entry_t *entry, tilemm__blas_call_t *call)
{
    behind++;
    tilemm__blas_leave();
    entry->call_behind(entry, call);
    tilemm__blas_enter();
    behind--;
}

static void say_nothing(const char *line, void *user)
{
    (void)line;
    (void)user;
}

void tilemm__blas_set_quiet(tilemm_t ctx, int quiet)
{
    tilemm_set_log(ctx, quiet ? say_nothing : NULL, NULL);
}

tilemm_status_t tilemm__blas_copy_quietly(tilemm_t ctx, const void *from, size_t bytes, void *to)
{
    tilemm__blas_set_quiet(ctx, 1);
    const tilemm_status_t status =
        tilemm_copy_matrix(ctx, 1, (int64_t)bytes, 1, from, (int64_t)bytes, to, (int64_t)bytes);
    tilemm__blas_set_quiet(ctx, 0);
    return status;
}

/* The reference compares each element with the largest before it: NaN is found if it is the first,
 * and left out otherwise. */
static tilemm_status_t call_isamax(tilemm_t ctx, tilemm__blas_call_t *p)
{
    float first;
    tilemm_backend_t backend = TILEMM_BACKEND_CUDA;
    tilemm_set_nan_policy(ctx, TILEMM_NAN_IGNORE);
    tilemm_status_t status = tilemm_isamax(ctx, p->n, p->a, p->lda, &p->index);
    tilemm_set_nan_policy(ctx, TILEMM_NAN_PROPAGATE);
    if (status != TILEMM_SUCCESS)
        return status;
    tilemm_get_backend(ctx, &backend);
    if (backend == TILEMM_BACKEND_CPU)
        first = *p->a;
    else
        status = tilemm__blas_copy_quietly(ctx, p->a, sizeof first, &first);
    if (status == TILEMM_SUCCESS && isnan(first))
        p->index = 0;
    return status;
}

tilemm_status_t tilemm__blas_call_tilemm(tilemm_t ctx, tilemm__blas_call_t *p)
{
    switch (p->kind) {
    case SGEMM:
        return tilemm_sgemm(ctx, p->layout, p->transa, p->transb, p->m, p->n, p->k, p->alpha, p->a,
                            p->lda, p->b, p->ldb, p->beta, p->c, p->ldc);
    case SGEMM_BATCH:
        return tilemm_sgemm_strided_batched(
            ctx, p->layout, p->transa, p->transb, p->m, p->n, p->k, p->alpha, p->a, p->lda,
            p->stride_a, p->b, p->ldb, p->stride_b, p->beta, p->c, p->ldc, p->stride_c, p->batch);
    case SASUM: return tilemm_sasum(ctx, p->n, p->a, p->lda, &p->value);
    case SNRM2: return tilemm_snrm2(ctx, p->n, p->a, p->lda, &p->value);
    case SDOT: return tilemm_sdot(ctx, p->n, p->a, p->lda, p->b, p->ldb, &p->value);
    case ISAMAX: return call_isamax(ctx, p);
    case SOMATCOPY:
        return tilemm_somatcopy(ctx, p->layout, p->transa, p->m, p->n, p->alpha, p->a, p->lda, p->c,
                                p->ldc);
    case SIMATCOPY:
        return tilemm_simatcopy(ctx, p->layout, p->transa, p->m, p->n, p->alpha, p->c, p->lda,
                                p->ldc);
    case KINDS: break;
    }
    return TILEMM_INTERNAL_ERROR;
}
