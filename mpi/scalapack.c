/* scalapack.c - psgemm_ and pstran_ of ScaLAPACK, on libtilemm-mpi.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h> /* _GNU_SOURCE, for RTLD_NEXT */
#endif

#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/distribution.h"
#include "mpi/scalapack_grid.h"

typedef void (*psgemm_t)(const char *transa, const char *transb, const int *m, const int *n,
                         const int *k, const float *alpha, const float *a, const int *ia,
                         const int *ja, const int *desca, const float *b, const int *ib,
                         const int *jb, const int *descb, const float *beta, float *c,
                         const int *ic, const int *jc, const int *descc);
typedef void (*pstran_t)(const int *m, const int *n, const float *alpha, const float *a,
                         const int *ia, const int *ja, const int *desca, const float *beta,
                         float *c, const int *ic, const int *jc, const int *descc);

void psgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
             const float *alpha, const float *a, const int *ia, const int *ja, const int *desca,
             const float *b, const int *ib, const int *jb, const int *descb, const float *beta,
             float *c, const int *ic, const int *jc, const int *descc);
void pstran_(const int *m, const int *n, const float *alpha, const float *a, const int *ia,
             const int *ja, const int *desca, const float *beta, float *c, const int *ic,
             const int *jc, const int *descc);

/* ---- arguments -------------------------------------------------------------------------- */

/* What a descriptor says, of either type. */
typedef struct {
    int context, m, n, imb, inb, mb, nb, rsrc, csrc, lld;
} matrix_t;

/* 0 where the type is neither 1 nor 2. */
static int read_descriptor(const int *d, matrix_t *x)
{
    switch (d[0]) {
    case 1: *x = (matrix_t){d[1], d[2], d[3], d[4], d[5], d[4], d[5], d[6], d[7], d[8]}; return 1;
    case 2: *x = (matrix_t){d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10]}; return 1;
    default: return 0;
    }
}

/* Whether libtilemm takes the m x n sub-matrix at (i, j). Only what is the same on all processes
 * counts: leading dimensions are looked at by libtilemm, on which all processes agree. A source of
 * -1 (a copy in each row or column of processes) is none that it takes. */
static int is_taken(const tilemm__blacs_t *blacs, const int *desc, int m, int n, int i, int j,
                    matrix_t *x)
{
    return read_descriptor(desc, x) && x->context == blacs->handle && x->imb > 0 && x->inb > 0 &&
           x->mb > 0 && x->nb > 0 && x->rsrc >= 0 && x->rsrc < blacs->rows && x->csrc >= 0 &&
           x->csrc < blacs->cols && m > 0 && n > 0 && i > 0 && j > 0 && m <= x->m && n <= x->n &&
           i - 1 <= x->m - m && j - 1 <= x->n - n;
}

static int is_trans(char letter, tilemm_op_t *op)
{
    switch (letter) {
    case 'n':
    case 'N': *op = TILEMM_NO_TRANS; return 1;
    case 't':
    case 'T':
    case 'c':
    case 'C': *op = TILEMM_TRANS; return 1;
    default: return 0;
    }
}

/* ---- the ScaLAPACK behind --------------------------------------------------------------- */

static void *find_behind(const char *name, const void *caller)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol)
        symbol = tilemm__scalapack_find_from(name, caller);
    if (!symbol)
        fprintf(stderr, "tilemm-scalapack: no %s is behind this library: nothing was computed\n",
                name);
    return symbol;
}

/* ---- C, kept while a GPU computes ------------------------------------------------------- */

typedef struct {
    float *memory;
    size_t bytes;
} kept_t;

/* What the reference reads again if the GPU fails. */
static int keep(const tilemm__blacs_t *blacs, const matrix_t *x, const float *c, float beta,
                kept_t *kept)
{
    const tilemm__dist_t down = {x->m, x->imb, x->mb, blacs->rows, x->rsrc};
    const tilemm__dist_t across = {x->n, x->inb, x->nb, blacs->cols, x->csrc};
    const int64_t rows = tilemm__dist_count(&down, blacs->row);
    const int64_t cols = tilemm__dist_count(&across, blacs->col);
    *kept = (kept_t){0};
    if (beta == 0 || !rows || !cols || x->lld < rows)
        return 1;
    kept->bytes = (size_t)((cols - 1) * x->lld + rows) * sizeof *c;
    kept->memory = malloc(kept->bytes);
    if (kept->memory)
        memcpy(kept->memory, c, kept->bytes);
    return kept->memory != NULL;
}

/* ---- calls ------------------------------------------------------------------------------ */

/* A call, of either routine. Of pstran_, sub(A) is n x m. */
typedef struct {
    int is_product;
    tilemm_op_t transa, transb;
    int m, n, k;
    float alpha, beta;
    const float *a, *b;
    float *c;
    int ia, ja, ib, jb, ic, jc;
    const int *desca, *descb, *descc;
    matrix_t of_a, of_b, of_c;
} call_t;

static tilemm_status_t compute(tilemm_grid_t grid, const call_t *p)
{
    if (p->is_product)
        return tilemm_psgemm(grid, p->transa, p->transb, p->m, p->n, p->k, p->alpha, p->a, p->ia,
                             p->ja, p->desca, p->b, p->ib, p->jb, p->descb, p->beta, p->c, p->ic,
                             p->jc, p->descc);
    return tilemm_pstran(grid, p->m, p->n, p->alpha, p->a, p->ia, p->ja, p->desca, p->beta, p->c,
                         p->ic, p->jc, p->descc);
}

/* A line for TILEMM_LOG, by the first process of the grid. */
static void log_call(const tilemm__blacs_t *blacs, const call_t *p, const char *by, const char *why)
{
    if (blacs->row || blacs->col || !tilemm__scalapack_logs())
        return;
    if (p->is_product)
        fprintf(stderr,
                "tilemm-mpi bench --sizes %dx%dx%d --trans %c%c --grid %dx%d --block %dx%d --alpha "
                "%.9g --beta %.9g # psgemm_ by %s%s%s\n",
                p->m, p->n, p->k, p->transa == TILEMM_NO_TRANS ? 'n' : 't',
                p->transb == TILEMM_NO_TRANS ? 'n' : 't', blacs->rows, blacs->cols, p->of_c.mb,
                p->of_c.nb, (double)p->alpha, (double)p->beta, by, *why ? ": " : "", why);
    else
        fprintf(stderr, "# pstran_ %dx%d, grid %dx%d, by %s%s%s\n", p->m, p->n, blacs->rows,
                blacs->cols, by, *why ? ": " : "", why);
}

/* C is neither what it was nor what it is to be: the job ends, as by any error of PBLAS. */
static void abort_context(const tilemm__blacs_t *blacs)
{
    void (*end)(const int *handle, const int *status);
    const int status = 1;
    fprintf(stderr, "tilemm-scalapack: %s\n", tilemm__scalapack_error(blacs));
    *(void **)&end = dlsym(RTLD_DEFAULT, "blacs_abort_");
    if (end)
        end(&blacs->handle, &status);
    else
        MPI_Abort(MPI_COMM_WORLD, status);
}

/* Returns whether libtilemm has computed: the same on all processes. */
static int run(const tilemm__blacs_t *blacs, const call_t *p)
{
    const double processes = (double)blacs->rows * blacs->cols;
    const double work = p->is_product ? 2.0 * p->m * p->n * p->k / processes : 0;
    int on_gpu, may_begin_again = 1;
    kept_t kept = {0};
    fenv_t environment;
    tilemm_grid_t grid = tilemm__scalapack_grid(blacs, work, &on_gpu);
    if (!grid) {
        log_call(blacs, p, "the ScaLAPACK behind", "");
        return 0;
    }
    if (on_gpu && !tilemm__scalapack_agree(blacs, keep(blacs, &p->of_c, p->c, p->beta, &kept))) {
        free(kept.memory);
        log_call(blacs, p, "the ScaLAPACK behind", "no memory for a copy of C");
        return 0;
    }
    const int error = errno;
    feholdexcept(&environment);
    const tilemm_status_t status = compute(grid, p);
    fesetenv(&environment);
    errno = error;
    if (status == TILEMM_SUCCESS) {
        log_call(blacs, p, on_gpu ? "libtilemm, CUDA" : "libtilemm, CPU", "");
    } else {
        log_call(blacs, p, "the ScaLAPACK behind", tilemm__scalapack_error(blacs));
        if (kept.memory)
            memcpy(p->c, kept.memory, kept.bytes);
        may_begin_again = on_gpu || p->beta == 0 || status == TILEMM_INVALID_ARGUMENT ||
                          status == TILEMM_OUT_OF_MEMORY || status == TILEMM_NOT_SUPPORTED;
        if (on_gpu && status == TILEMM_DEVICE_FAILURE)
            tilemm__scalapack_lose_gpu(blacs);
    }
    free(kept.memory);
    if (!may_begin_again)
        abort_context(blacs);
    return status == TILEMM_SUCCESS || !may_begin_again;
}

__attribute__((visibility("default"))) void
psgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
        const float *alpha, const float *a, const int *ia, const int *ja, const int *desca,
        const float *b, const int *ib, const int *jb, const int *descb, const float *beta, float *c,
        const int *ic, const int *jc, const int *descc)
{
    tilemm__blacs_t blacs;
    psgemm_t behind;
    call_t p = {.is_product = 1,
                .m = *m,
                .n = *n,
                .k = *k,
                .alpha = *alpha,
                .beta = *beta,
                .a = a,
                .b = b,
                .c = c,
                .ia = *ia,
                .ja = *ja,
                .ib = *ib,
                .jb = *jb,
                .ic = *ic,
                .jc = *jc,
                .desca = desca,
                .descb = descb,
                .descc = descc};
    if (is_trans(*transa, &p.transa) && is_trans(*transb, &p.transb) &&
        tilemm__blacs_ask(desca[1], __builtin_return_address(0), &blacs)) {
        const int at = p.transa == TILEMM_TRANS, bt = p.transb == TILEMM_TRANS;
        if (is_taken(&blacs, desca, at ? *k : *m, at ? *m : *k, *ia, *ja, &p.of_a) &&
            is_taken(&blacs, descb, bt ? *n : *k, bt ? *k : *n, *ib, *jb, &p.of_b) &&
            is_taken(&blacs, descc, *m, *n, *ic, *jc, &p.of_c) && run(&blacs, &p))
            return;
    }
    *(void **)&behind = find_behind("psgemm_", __builtin_return_address(0));
    if (behind)
        behind(transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, beta, c, ic, jc,
               descc);
}

__attribute__((visibility("default"))) void pstran_(const int *m, const int *n, const float *alpha,
                                                    const float *a, const int *ia, const int *ja,
                                                    const int *desca, const float *beta, float *c,
                                                    const int *ic, const int *jc, const int *descc)
{
    tilemm__blacs_t blacs;
    pstran_t behind;
    call_t p = {.m = *m,
                .n = *n,
                .alpha = *alpha,
                .beta = *beta,
                .a = a,
                .c = c,
                .ia = *ia,
                .ja = *ja,
                .ic = *ic,
                .jc = *jc,
                .desca = desca,
                .descc = descc};
    if (tilemm__blacs_ask(desca[1], __builtin_return_address(0), &blacs) &&
        is_taken(&blacs, desca, *n, *m, *ia, *ja, &p.of_a) &&
        is_taken(&blacs, descc, *m, *n, *ic, *jc, &p.of_c) && run(&blacs, &p))
        return;
    *(void **)&behind = find_behind("pstran_", __builtin_return_address(0));
    if (behind)
        behind(m, n, alpha, a, ia, ja, desca, beta, c, ic, jc, descc);
}
