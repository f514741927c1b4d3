/* problem.c - a distributed product: operands, the plan, and the error of a result.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* Elements whose error a process looks at, and the work that all of them may take. */
static const double most_error_work = 4e7;
enum { MAX_SAMPLES = 256 };

/* A random number of 64 bits that depends on x alone (splitmix64's finaliser). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Element (i, j) of a matrix at the start, in [-1, 1). */
static float element(int matrix, int64_t i, int64_t j)
{
    const uint64_t bits = mix(mix((uint64_t)j * MATRICES + (uint64_t)matrix) + (uint64_t)i);
    return (float)((double)(bits >> 40) / (1 << 23) - 1);
}

/* The line of the whole matrix that a process's line is. */
static int64_t whole(int64_t local, int block, int proc, int procs)
{
    return (local / block * procs + proc) * block + local % block;
}

static int64_t whole_row(const problem_t *p, int64_t local)
{
    return whole(local, p->block[0], p->place->row, p->place->rows);
}

static int64_t whole_col(const problem_t *p, int64_t local)
{
    return whole(local, p->block[1], p->place->col, p->place->cols);
}

static void fill(const problem_t *p, int matrix, float *x, int64_t ld)
{
    for (int64_t j = 0; j < p->local_cols[matrix]; j++)
        for (int64_t i = 0; i < p->local_rows[matrix]; i++)
            x[j * ld + i] = element(matrix, whole_row(p, i), whole_col(p, j));
}

/* A copy between parts, with this process's rows and columns; each column is a row of the copy. */
static int copy_part(const problem_t *p, int matrix, const float *from, int64_t ld_from, float *to,
                     int64_t ld_to)
{
    if (!p->local_rows[matrix] || !p->local_cols[matrix])
        return 0;
    if (check_status(p->place,
                     tilemm_copy_matrix(p->place->ctx, p->local_cols[matrix], p->local_rows[matrix],
                                        sizeof *from, from, ld_from, to, ld_to)) != 0)
        return -1;
    return check_status(p->place, tilemm_synchronize(p->place->ctx));
}

static int make_part(problem_t *p, int matrix)
{
    const int64_t rows = p->local_rows[matrix], cols = p->local_cols[matrix];
    const size_t bytes = (size_t)(rows ? rows : 1) * (size_t)(cols ? cols : 1) * sizeof(float);
    float *host = malloc(bytes);
    if (!host)
        return -command_error("no memory for the operands");
    fill(p, matrix, host, rows);
    p->ld[matrix] = rows ? rows : 1;
    if (matrix == C) {
        for (int64_t i = 0; p->beta == 0 && i < rows * cols; i++)
            host[i] = NAN;
        p->poison = host;
    }
    if (!p->on_device && matrix != C) {
        p->part[matrix] = host;
        return 0;
    }
    if (!p->on_device)
        p->part[C] = malloc(bytes);
    else if (rows && cols &&
             check_status(p->place,
                          tilemm_alloc_matrix(p->place->ctx, TILEMM_MEMORY_DEVICE, cols, rows,
                                              sizeof(float), (void **)&p->part[matrix],
                                              &p->ld[matrix])) != 0)
        p->part[matrix] = NULL;
    int failed = !p->part[matrix] && rows && cols;
    if (!failed && p->on_device)
        failed = copy_part(p, matrix, host, rows, p->part[matrix], p->ld[matrix]) != 0;
    if (matrix != C)
        free(host);
    return failed ? -command_error("no memory for the operands") : 0;
}

static int describe(problem_t *p)
{
    const size3_t *s = &p->size;
    const int at = p->transa == TILEMM_TRANS, bt = p->transb == TILEMM_TRANS;
    const int64_t rows[MATRICES] = {at ? s->k : s->m, bt ? s->n : s->k, s->m};
    const int64_t cols[MATRICES] = {at ? s->m : s->k, bt ? s->k : s->n, s->n};
    memcpy(p->rows, rows, sizeof rows);
    memcpy(p->cols, cols, sizeof cols);
    for (int matrix = 0; matrix < MATRICES; matrix++)
        if (check_status(p->place,
                         tilemm_grid_descriptor(p->place->grid, rows[matrix], cols[matrix],
                                                p->block[0], p->block[1], p->desc[matrix],
                                                &p->local_rows[matrix], &p->local_cols[matrix])))
            return -1;
    return 0;
}

int problem_plan(const problem_t *p, int rows, int cols, int64_t panel, tilemm_psgemm_plan_t *plan)
{
    const size3_t *s = &p->size;
    const int at = p->transa == TILEMM_TRANS, bt = p->transb == TILEMM_TRANS;
    int desc[MATRICES][9];
    const int64_t high[MATRICES] = {at ? s->k : s->m, bt ? s->n : s->k, s->m};
    const int64_t wide[MATRICES] = {at ? s->m : s->k, bt ? s->k : s->n, s->n};
    for (int matrix = 0; matrix < MATRICES; matrix++) {
        const int made[9] = {
            1, 0, (int)high[matrix], (int)wide[matrix], p->block[0], p->block[1], 0, 0, INT_MAX};
        memcpy(desc[matrix], made, sizeof made);
    }
    return tilemm_psgemm_plan(rows, cols, p->transa, p->transb, s->m, s->n, s->k, 1, 1, desc[A], 1,
                              1, desc[B], 1, 1, desc[C], panel, plan) == TILEMM_SUCCESS
               ? 0
               : -1;
}

int problem_open(problem_t *p, const place_t *place)
{
    p->place = place;
    int failed =
        describe(p) != 0 ||
        check_status(place,
                     tilemm_psgemm_plan(place->rows, place->cols, p->transa, p->transb, p->size.m,
                                        p->size.n, p->size.k, 1, 1, p->desc[A], 1, 1, p->desc[B], 1,
                                        1, p->desc[C], place->on_gpu ? 2048 : 0, &p->plan));
    for (int matrix = 0; !failed && matrix < MATRICES; matrix++)
        failed = make_part(p, matrix) != 0;
    for (int matrix = 0; !failed && matrix < MATRICES; matrix++)
        p->desc[matrix][8] = (int)p->ld[matrix];
    if (!any_failed(place, failed))
        return 0;
    problem_close(p);
    return -1;
}

void problem_close(problem_t *p)
{
    for (int matrix = 0; matrix < MATRICES; matrix++) {
        if (p->on_device)
            tilemm_free_matrix(p->place->ctx, p->part[matrix]);
        else
            free(p->part[matrix]);
        p->part[matrix] = NULL;
    }
    free(p->poison);
    p->poison = NULL;
}

int problem_poison(problem_t *p)
{
    return copy_part(p, C, p->poison, p->local_rows[C], p->part[C], p->ld[C]);
}

/* The error of the element of C at a local row and column. */
static double error_of(const problem_t *p, float got, int64_t row, int64_t col)
{
    const int64_t i = whole_row(p, row), j = whole_col(p, col);
    double sum = 0, size = 0;
    for (int64_t l = 0; l < p->size.k; l++) {
        const double a =
            p->transa == TILEMM_TRANS ? (double)element(A, l, i) : (double)element(A, i, l);
        const double b =
            p->transb == TILEMM_TRANS ? (double)element(B, j, l) : (double)element(B, l, j);
        sum += a * b;
        size += fabs(a * b);
    }
    const double old = p->beta == 0 ? 0 : (double)p->beta * (double)element(C, i, j);
    sum = (double)p->alpha * sum + old;
    size = fabs((double)p->alpha) * size + fabs(old);
    return fabs((double)got - sum) / (size > 0 ? size : 1);
}

double problem_error(problem_t *p)
{
    const int64_t rows = p->local_rows[C], cols = p->local_cols[C];
    const double elements = (double)rows * (double)cols;
    const int samples =
        (int)fmin(fmin(elements, MAX_SAMPLES), most_error_work / (double)(p->size.k + 1) + 4);
    double worst = 0;
    int missing = 0;
    float *c = elements > 0 ? malloc((size_t)elements * sizeof *c) : NULL;
    if (elements > 0 && (!c || copy_part(p, C, p->part[C], p->ld[C], c, rows) != 0))
        missing = 1;
    for (int64_t i = 0; !missing && i < rows * cols; i++)
        missing = isnan(c[i]);
    for (int s = 0; !missing && s < samples; s++) {
        const int64_t at = (int64_t)(mix((uint64_t)s) % (uint64_t)(rows * cols));
        worst = fmax(worst, error_of(p, c[at], at % rows, at / rows));
    }
    free(c);
    worst = largest(p->place, worst);
    return any_failed(p->place, missing) ? NAN : worst;
}
