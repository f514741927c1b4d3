/* errors.c - an argument that is wrong on one process, or differs there: all return the same
 * status, the message names the process and the argument, nothing is written, nobody waits.
 *
 *     mpirun -n PROCESSES errors [check]     # check: TILEMM_MPI_CHECK=1 is set
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "spread.h"
#include "tests/support/check.h"
#include "tests/support/program.h"

static tilemm_t ctx;
static place_t place;
static int rank, culprit, checked;

/* A product's arguments, one of which is spoilt on the culprit. */
typedef struct {
    tilemm_op_t transa, transb;
    int64_t m, n, k, ia, ja, ib, jb, ic, jc;
    float alpha;
    const float *a, *b;
    float *c;
    const int *desca, *descb, *descc;
    int desc[11];
} args_t;

typedef void (*spoil_t)(args_t *args);

#define SPOIL(name, statement)                                                                     \
    static void spoil_##name(args_t *x)                                                            \
    {                                                                                              \
        statement;                                                                                 \
    }
SPOIL(transa, x->transa = (tilemm_op_t)7)
SPOIL(transb, x->transb = (tilemm_op_t)0)
SPOIL(m, x->m = -1)
SPOIL(n, x->n = -5)
SPOIL(k, x->k = -1)
SPOIL(ia, x->ia = 0)
SPOIL(ja, x->ja = 100)
SPOIL(jb, x->jb = -3)
SPOIL(ic, x->ic = INT64_MAX)
SPOIL(a, x->a = NULL)
SPOIL(c, x->c = NULL)
SPOIL(misaligned, x->b = (const float *)(uintptr_t)((uintptr_t)x->b + 1))
SPOIL(desca, x->desca = NULL)
SPOIL(type, x->desc[0] = 3; x->descb = x->desc)
SPOIL(rows, x->desc[2] = -1; x->descc = x->desc)
SPOIL(block, x->desc[4] = 0; x->desca = x->desc)
SPOIL(source, x->desc[7] = place.cols; x->descb = x->desc)
SPOIL(ld, x->desc[8] = 0; x->descc = x->desc)
SPOIL(large, x->m = 1000000)
/* Valid here, and not what the others have. */
SPOIL(other_m, x->m--)
SPOIL(other_alpha, x->alpha = 2.0f)
SPOIL(other_op, x->transa = TILEMM_TRANS)
SPOIL(other_block, x->desc[5]++; x->descb = x->desc)

static const struct {
    spoil_t spoil;
    const char *text;
    int differs;
} cases[] = {
    {spoil_transa, "psgemm: transa = 7, must be", 0},
    {spoil_transb, "psgemm: transb = 0, must be", 0},
    {spoil_m, "psgemm: m = -1, must be at least 0", 0},
    {spoil_n, "psgemm: n = -5, must be at least 0", 0},
    {spoil_k, "psgemm: k = -1, must be at least 0", 0},
    {spoil_ia, "psgemm: ia = 0, must be at least 1", 0},
    {spoil_ja, "psgemm: ja = 100, must be at most 1", 0},
    {spoil_jb, "psgemm: jb = -3, must be at least 1", 0},
    {spoil_ic, "psgemm: ic = 9223372036854775807, must be at most 1", 0},
    {spoil_a, "psgemm: a = (nil), must be a pointer", 0},
    {spoil_c, "psgemm: c = (nil), must be a pointer", 0},
    {spoil_misaligned, "psgemm: b = ", 0},
    {spoil_desca, "psgemm: desca = NULL, must be", 0},
    {spoil_type, "psgemm: descb[0] = 3, must be from 1 to 2", 0},
    {spoil_rows, "psgemm: descc[2] = -1, must be at least 0", 0},
    {spoil_block, "psgemm: desca[4] = 0, must be at least 1", 0},
    {spoil_source, "psgemm: descb[7] = ", 0},
    {spoil_ld, "psgemm: descc[8] = 0, must be at least", 0},
    {spoil_large, "psgemm: ia = 1, must be at most", 0},
    {spoil_other_m, "psgemm: m = 59, must be 60", 1},
    {spoil_other_alpha, "psgemm: alpha = 2, must be 1", 1},
    {spoil_other_op, "psgemm: transa = 112, must be 111", 1},
    {spoil_other_block, "psgemm: descb[5] = 5, must be 4", 1},
};

/* All processes have this status, and a message about the culprit, or that arguments differ. */
static void check_told(const char *what, tilemm_status_t status, const char *text, int differs)
{
    char begin[160];
    int least = (int)status, most = (int)status;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(least == TILEMM_INVALID_ARGUMENT && most == least, "%s: statuses %d to %d", what, least,
          most);
    snprintf(begin, sizeof begin, "process %d (row %d, column %d): %s", culprit,
             culprit / place.cols, culprit % place.cols, text);
    if (!differs || checked)
        CHECK(!strncmp(tilemm_last_error(ctx), begin, strlen(begin)),
              "\"%s\" must begin with \"%s\"", tilemm_last_error(ctx), begin);
    else
        CHECK(strstr(tilemm_last_error(ctx), "arguments differ between processes") != NULL,
              "%s: \"%s\"", what, tilemm_last_error(ctx));
}

static void try_products(void)
{
    spread_t x = spread_plain(&place, 60, 60, 4, 4, 1), y = spread_plain(&place, 60, 60, 4, 4, 2);
    spread_fill(&x, &place);
    spread_fill(&y, &place);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        args_t args = {
            TILEMM_NO_TRANS, TILEMM_NO_TRANS, 60,     60,     60,     1,      1,  1, 1, 1, 1, 1.0f,
            x.part,          x.part,          y.part, x.desc, x.desc, y.desc, {0}};
        memcpy(args.desc, x.desc, sizeof args.desc);
        if (rank == culprit)
            cases[i].spoil(&args);
        const tilemm_status_t status =
            tilemm_psgemm(place.grid, args.transa, args.transb, args.m, args.n, args.k, args.alpha,
                          args.a, args.ia, args.ja, args.desca, args.b, args.ib, args.jb,
                          args.descb, 0.0f, args.c, args.ic, args.jc, args.descc);
        check_told(cases[i].text, status, cases[i].text, cases[i].differs);
    }
    /* Another function. */
    float result = 0;
    const tilemm_status_t status =
        rank == culprit
            ? tilemm_psreduce(place.grid, TILEMM_SUM, 60, 60, x.part, 1, 1, x.desc, &result)
            : tilemm_pstran(place.grid, 60, 60, 1.0f, x.part, 1, 1, x.desc, 0.0f, y.part, 1, 1,
                            y.desc);
    check_told("functions", status, "psreduce: called while process 0 calls pstran", 1);
    y.rows = y.cols = 0; /* all of it is the surroundings */
    CHECK(spread_untouched(&y), "a call that failed has written");
    y.rows = y.cols = 60;
    /* The grid works on. */
    CHECK_OK(ctx, tilemm_pstran(place.grid, 60, 60, 1.0f, x.part, 1, 1, x.desc, 0.0f, y.part, 1, 1,
                                y.desc));
    CHECK_OK(ctx, tilemm_psreduce(place.grid, TILEMM_SUM, 60, 60, y.part, 1, 1, y.desc, &result));
    spread_free(&x);
    spread_free(&y);
}

static void try_reductions(void)
{
    spread_t x = spread_plain(&place, 60, 60, 4, 4, 1);
    float result = 0;
    spread_fill(&x, &place);
    tilemm_status_t status =
        tilemm_psreduce(place.grid, rank == culprit ? (tilemm_reduce_t)9 : TILEMM_SUM, 60, 60,
                        x.part, 1, 1, x.desc, &result);
    check_told("op", status, "psreduce: op = 9, must be", 0);
    status = tilemm_psreduce(place.grid, TILEMM_MAX, 60, 60, x.part, 1, 1, x.desc,
                             rank == culprit ? NULL : &result);
    check_told("result", status, "psreduce: result = (nil), must be", 0);
    if (rank == culprit)
        tilemm_set_nan_policy(ctx, TILEMM_NAN_IGNORE);
    status = tilemm_psreduce(place.grid, TILEMM_MAX, 60, 60, x.part, 1, 1, x.desc, &result);
    check_told("policy", status, "psreduce: the context's NaN policy = 1, must be 0", 1);
    tilemm_set_nan_policy(ctx, TILEMM_NAN_PROPAGATE);
    status = tilemm_pstran(place.grid, rank == culprit ? -1 : 60, 60, 1.0f, x.part, 1, 1, x.desc,
                           0.0f, x.part, 1, 1, x.desc);
    check_told("pstran", status, "pstran: m = -1, must be at least 0", 0);
    spread_free(&x);
}

static void try_grids(int procs)
{
    tilemm_grid_t grid = (tilemm_grid_t)&procs;
    CHECK(tilemm_grid_create(&grid, MPI_COMM_WORLD, procs + 1, 1, ctx) == TILEMM_INVALID_ARGUMENT &&
              !grid && strstr(tilemm_last_error(ctx), "grid_create: rows = "),
          "\"%s\"", tilemm_last_error(ctx));
    CHECK(tilemm_grid_create(&grid, MPI_COMM_WORLD, rank == culprit ? 0 : 1, 1, ctx) ==
              TILEMM_INVALID_ARGUMENT,
          "rows = 0 on one process");
    CHECK(tilemm_grid_create(&grid, MPI_COMM_WORLD, 1, 1, rank == culprit ? NULL : ctx) ==
              TILEMM_INVALID_ARGUMENT,
          "no context on one process");
    CHECK(tilemm_grid_create(&grid, MPI_COMM_WORLD, 1, rank == culprit ? 1 : 2, ctx) ==
              TILEMM_INVALID_ARGUMENT,
          "cols differ");
    CHECK(tilemm_grid_create(&grid, MPI_COMM_NULL, 1, 1, ctx) == TILEMM_INVALID_ARGUMENT,
          "no communicator");
    CHECK(tilemm_grid_create(NULL, MPI_COMM_WORLD, 1, 1, ctx) == TILEMM_INVALID_ARGUMENT,
          "no place for the grid");
    CHECK(tilemm_grid_destroy(NULL) == TILEMM_SUCCESS, "no grid");
    int desc[9];
    CHECK(tilemm_grid_descriptor(place.grid, 5, 5, 0, 1, desc, NULL, NULL) ==
                  TILEMM_INVALID_ARGUMENT &&
              strstr(tilemm_last_error(ctx), "grid_descriptor: mb = 0"),
          "\"%s\"", tilemm_last_error(ctx));
}

int main(int argc, char **argv)
{
    int procs = 1;
    tilemm_grid_t grid = NULL;
    checked = argc > 1 && !strcmp(argv[1], "check");
    test_begin(TILEMM_BACKEND_CPU); /* which forgets TILEMM_... */
    setenv("TILEMM_MPI_CHECK", checked ? "1" : "0", 1);
    ctx = test_context(TILEMM_BACKEND_CPU, "");
    CHECK(tilemm_grid_create(&grid, MPI_COMM_WORLD, 1, 1, ctx) == TILEMM_INVALID_ARGUMENT &&
              strstr(tilemm_last_error(ctx), "MPI is not initialised"),
          "\"%s\"", tilemm_last_error(ctx));
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &procs);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    culprit = procs - 1;
    place = spread_place(MPI_COMM_WORLD, 2, procs / 2, ctx);
    try_grids(procs);
    try_products();
    try_reductions();
    CHECK_OK(ctx, tilemm_grid_destroy(place.grid));
    tilemm_destroy(ctx);
    int failed = rank == 0 ? check_exit() : check_failures > 0;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
