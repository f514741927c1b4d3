/* drop_in.c - libtilemm-scalapack.so, preloaded, beside the ScaLAPACK behind it: products and
 * transposes of descriptors of both types on several BLACS contexts, contexts that end, and the
 * errors of wrong arguments. PROGRAM CASES.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h> /* _GNU_SOURCE, for RTLD_DEFAULT */
#endif

#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

typedef void (*psgemm_t)(const char *, const char *, const int *, const int *, const int *,
                         const float *, const float *, const int *, const int *, const int *,
                         const float *, const int *, const int *, const int *, const float *,
                         float *, const int *, const int *, const int *);
typedef void (*pstran_t)(const int *, const int *, const float *, const float *, const int *,
                         const int *, const int *, const float *, float *, const int *, const int *,
                         const int *);

static psgemm_t psgemm[2]; /* the reference's, and the one that the program finds */
static pstran_t pstran[2];
static void (*get)(const int *context, const int *what, int *value);
static void (*grid_init)(int *context, const char *order, const int *rows, const int *cols, int);
static void (*grid_info)(const int *context, int *rows, int *cols, int *row, int *col);
static void (*grid_exit)(const int *context);

/* What ScaLAPACK calls for a wrong argument, here in place of its own, which ends the job. */
static int error_code;
static char error_routine[32];
void PB_Cabort(int context, char *routine, int info);
void PB_Cabort(int context, char *routine, int info)
{
    (void)context;
    error_code = info;
    snprintf(error_routine, sizeof error_routine, "%s", routine);
}
void PB_Cwarn(int context, int line, char *routine, char *form, ...);
void PB_Cwarn(int context, int line, char *routine, char *form, ...)
{
    (void)context;
    (void)line;
    (void)routine;
    (void)form;
}

static unsigned state = 1;
static int random_below(int n)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (unsigned)n);
}
static float random_float(void)
{
    return (float)random_below(1 << 20) / (1 << 19) - 1;
}

typedef struct {
    int context, rows, cols, row, col;
} grid_t;

static grid_t begin_grid(int rows, int cols)
{
    const int what = 0, any = -1;
    grid_t g = {0};
    get(&any, &what, &g.context);
    grid_init(&g.context, random_below(2) ? "Row" : "Col", &rows, &cols, 3);
    grid_info(&g.context, &g.rows, &g.cols, &g.row, &g.col);
    return g;
}

/* Elements of a side that a process has, counted. */
static int local(int n, int first, int block, int me, int source, int procs)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += ((i < first ? 0 : 1 + (i - first) / block) + source) % procs == me;
    return count;
}

/* A matrix with a sub-matrix of m x n at (i, j), of either type. */
typedef struct {
    int desc[11], i, j, count;
    float *x;
} matrix_t;

static matrix_t make(const grid_t *g, int m, int n)
{
    matrix_t a = {.i = 1 + random_below(6), .j = 1 + random_below(6)};
    const int high = m + a.i - 1 + random_below(5), wide = n + a.j - 1 + random_below(5);
    const int mb = 1 + random_below(9), nb = 1 + random_below(9), two = random_below(2);
    const int imb = two ? 1 + random_below(9) : mb, inb = two ? 1 + random_below(9) : nb;
    const int rsrc = random_below(g->rows), csrc = random_below(g->cols);
    const int rows = local(high, imb, mb, g->row, rsrc, g->rows);
    const int cols = local(wide, inb, nb, g->col, csrc, g->cols);
    const int ld = rows + 1 + random_below(3);
    const int one[9] = {1, g->context, high, wide, mb, nb, rsrc, csrc, ld};
    const int other[11] = {2, g->context, high, wide, imb, inb, mb, nb, rsrc, csrc, ld};
    memcpy(a.desc, two ? other : one, two ? sizeof other : sizeof one);
    a.count = ld * (cols + 1);
    a.x = malloc((size_t)a.count * sizeof *a.x);
    state += (unsigned)(g->row * 31 + g->col) * 7919; /* other numbers on each process */
    for (int i = 0; i < a.count; i++)
        a.x[i] = random_float();
    state = (unsigned)(high * 1009 + wide * 31 + mb); /* the same sizes on all */
    return a;
}

static float *copy_of(const matrix_t *a)
{
    float *x = malloc((size_t)a->count * sizeof *x);
    memcpy(x, a->x, (size_t)a->count * sizeof *x);
    return x;
}

/* Both have the same elements up to the bound, also where nothing was to be written. */
static void compare(const float *x, const float *y, int count, double bound, const char *what)
{
    double worst = 0;
    for (int i = 0; i < count; i++)
        worst = fmax(worst, fabs((double)x[i] - (double)y[i]));
    CHECK(worst <= bound, "%s: differs by %g, at most %g", what, worst, bound);
}

static void product(const grid_t *g)
{
    static const char letters[] = "NnTtCc";
    const char ta = letters[random_below(6)], tb = letters[random_below(6)];
    const int at = ta != 'N' && ta != 'n', bt = tb != 'N' && tb != 'n';
    const int m = random_below(40), n = random_below(40),
              k = random_below(8) ? random_below(60) : 0;
    const float alpha = random_below(6) ? random_float() : 0;
    const float beta = random_below(3) ? random_float() : (float)random_below(2);
    matrix_t a = make(g, at ? k : m, at ? m : k), b = make(g, bt ? n : k, bt ? k : n);
    matrix_t c = make(g, m, n);
    float *wanted = copy_of(&c);
    psgemm[0](&ta, &tb, &m, &n, &k, &alpha, a.x, &a.i, &a.j, a.desc, b.x, &b.i, &b.j, b.desc, &beta,
              wanted, &c.i, &c.j, c.desc);
    psgemm[1](&ta, &tb, &m, &n, &k, &alpha, a.x, &a.i, &a.j, a.desc, b.x, &b.i, &b.j, b.desc, &beta,
              c.x, &c.i, &c.j, c.desc);
    compare(c.x, wanted, c.count, 1e-6 * (k + 1), "psgemm_");
    free(a.x);
    free(b.x);
    free(c.x);
    free(wanted);
}

static void transpose(const grid_t *g)
{
    const int m = 1 + random_below(50), n = 1 + random_below(50);
    const float alpha = random_below(3) ? random_float() : 1;
    const float beta = random_below(2) ? random_float() : 0;
    matrix_t a = make(g, n, m), c = make(g, m, n);
    float *wanted = copy_of(&c);
    pstran[0](&m, &n, &alpha, a.x, &a.i, &a.j, a.desc, &beta, wanted, &c.i, &c.j, c.desc);
    pstran[1](&m, &n, &alpha, a.x, &a.i, &a.j, a.desc, &beta, c.x, &c.i, &c.j, c.desc);
    compare(c.x, wanted, c.count, alpha == 1 && beta == 0 ? 0 : 1e-6, "pstran_");
    free(a.x);
    free(c.x);
    free(wanted);
}

/* A product with one thing wrong: both report the same, and C stays. */
static void wrong(const grid_t *g, int which)
{
    int m = 5, n = 6, k = 7, code[2];
    const float alpha = 1, beta = 1;
    char ta = 'N';
    matrix_t a = make(g, m, k), b = make(g, k, n), c = make(g, m, n);
    float *before = copy_of(&c);
    const int ld = c.desc[0] == 1 ? 8 : 10;
    switch (which) {
    case 0: ta = 'X'; break;
    case 1: m = -1; break;
    case 2: k = -1; break;
    case 3: a.i = 0; break;
    case 4: b.j = 1000; break;
    case 5: c.desc[0] = 3; break;
    case 6: c.desc[4] = 0; break;
    case 7: b.desc[1] = g->context + 1; break;
    case 8: a.desc[2] = 3; break;
    case 9: c.desc[ld] = 0; break;
    default: n = 1000; break;
    }
    for (int i = 0; i < 2; i++) {
        error_code = 0;
        psgemm[i](&ta, "N", &m, &n, &k, &alpha, a.x, &a.i, &a.j, a.desc, b.x, &b.i, &b.j, b.desc,
                  &beta, c.x, &c.i, &c.j, c.desc);
        code[i] = error_code;
    }
    CHECK(code[0] != 0 && code[0] == code[1] && strcmp(error_routine, "PSGEMM") == 0,
          "wrong argument %d: %d, must be %d (%s)", which, code[1], code[0], error_routine);
    compare(c.x, before, c.count, 0, "C of a wrong call");
    free(a.x);
    free(b.x);
    free(c.x);
    free(before);
}

static int load(void)
{
    void *library = dlopen("libscalapack-openmpi.so.2.2", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        library = dlopen("libscalapack-openmpi.so", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return 0;
    *(void **)&get = dlsym(library, "blacs_get_");
    *(void **)&grid_init = dlsym(library, "blacs_gridinit_");
    *(void **)&grid_info = dlsym(library, "blacs_gridinfo_");
    *(void **)&grid_exit = dlsym(library, "blacs_gridexit_");
    *(void **)&psgemm[0] = dlsym(library, "psgemm_");
    *(void **)&pstran[0] = dlsym(library, "pstran_");
    *(void **)&psgemm[1] = dlsym(RTLD_DEFAULT, "psgemm_");
    *(void **)&pstran[1] = dlsym(RTLD_DEFAULT, "pstran_");
    CHECK(psgemm[0] != psgemm[1] && pstran[0] != pstran[1], "the drop-in was not preloaded");
    return 1;
}

int main(int argc, char **argv)
{
    static const int shapes[][2] = {{2, 2}, {1, 4}, {4, 1}, {1, 2}, {2, 1}, {1, 1}};
    const int cases = argc > 1 ? atoi(argv[1]) : 4;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!load()) {
        MPI_Finalize();
        return 77;
    }
    for (int round = 0; round < 12; round++) {
        state = (unsigned)round + 1;
        const int *shape = shapes[round % 6];
        grid_t g = begin_grid(shape[0], shape[1]); /* handles are used again */
        if (g.row >= 0) {
            for (int i = 0; i < cases; i++) {
                state = (unsigned)(round * 1000 + i * 10 + 1);
                product(&g);
                transpose(&g);
            }
            for (int which = 0; which <= 10; which++)
                wrong(&g, which);
            if (round % 2 || round > 9) /* others end with MPI */
                grid_exit(&g.context);
        }
    }
    int failed = check_failures > 0, any = 1;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld checks, %ld failed\n", check_count, check_failures);
    MPI_Finalize();
    return any;
}
