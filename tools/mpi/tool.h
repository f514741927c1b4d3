/* tool.h - what the files of `tilemm-mpi` share: processes, distributed problems, contenders.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_MPI_TOOL_H
#define TILEMM_TOOLS_MPI_TOOL_H

#include <stdint.h>
#include <stdio.h>

#include "tilemm_mpi.h"
#include "tools/command.h"

enum { MAX_SIZES = 32, MAX_COUNTS = 32, MAX_CONTENDERS = 4 };

/* op(A) is m x k, op(B) k x n. */
typedef struct {
    int64_t m, n, k;
} size3_t;

typedef struct {
    int count;
    size3_t at[MAX_SIZES];
} sizes_t;

typedef struct {
    int count, at[MAX_COUNTS];
} counts_t;

/* Parsers of option values: "2x3"; "64" or "64x32"; "1024,300x200x100"; "1,2,4". */
int parse_pair(const char *text, void *value); /* int[2] */
int parse_pair_or_one(const char *text, void *value);
int parse_sizes(const char *text, void *sizes);
int parse_counts(const char *text, void *counts);

/* ---- processes -------------------------------------------------------------------------- */

/* The processes of a grid, its context, and where in the grid this one is. */
typedef struct {
    MPI_Comm comm;
    int size, rank;
    int rows, cols, row, col;
    tilemm_t ctx;
    tilemm_grid_t grid;
    int on_gpu;
} place_t;

/* The most square grid of `processes`: rows <= cols. */
void square_grid(int processes, int *rows, int *cols);

/* Make a grid of all processes of comm. Collective. 0, or -1 with a message. */
int place_open(place_t *place, MPI_Comm comm, int rows, int cols, tilemm_t ctx);
void place_close(place_t *place);

/* Whether something failed on any process. Collective. */
int any_failed(const place_t *place, int failed);
double largest(const place_t *place, double x); /* on any process. Collective. */

/* A status of libtilemm as 0, or -1 with its message, printed by the first process. */
int check_status(const place_t *place, tilemm_status_t status);

/* Wait for all processes of comm without keeping a processor busy. */
void wait_quietly(MPI_Comm comm);

/* ---- problems --------------------------------------------------------------------------- */

enum { A, B, C, MATRICES };

typedef struct {
    const place_t *place;
    size3_t size;
    tilemm_op_t transa, transb;
    float alpha, beta;
    int block[2];
    int on_device;                                      /* the operands are */
    int64_t rows[MATRICES], cols[MATRICES];             /* of the whole matrices */
    int64_t local_rows[MATRICES], local_cols[MATRICES]; /* of this process's parts */
    int64_t ld[MATRICES];
    int desc[MATRICES][9];
    float *part[MATRICES]; /* where the product has them */
    float *poison;         /* what C is before each run */
    tilemm_psgemm_plan_t plan;
} problem_t;

/* Set size, transposes, factors, blocks and on_device before. Random operands in [-1, 1), which
 * depend on the element alone. Collective. 0, or -1 with a message. */
int problem_open(problem_t *problem, const place_t *place);
void problem_close(problem_t *problem);

/* Make the plan for other grids, without MPI. 0, or -1. */
int problem_plan(const problem_t *problem, int rows, int cols, int64_t panel,
                 tilemm_psgemm_plan_t *plan);

/* NaN, or where beta is not 0 the numbers at the start, into C. */
int problem_poison(problem_t *problem);

/* The largest |C - C'| / (|alpha| |A| |B| + |beta C|) of some elements on all processes, where C'
 * is computed in FP64. Collective. NaN where C was not written. */
double problem_error(problem_t *problem);

/* ---- contenders ------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    int (*run)(problem_t *problem, void *user); /* 0, or -1 with a message */
    void *user;
    int keeps_c; /* its result is not in the problem's C */
    /* what was measured */
    int reps;
    double least, median, q1, q3, error;
} contender_t;

/* Run them in turns, `reps` times each or, if that is 0, as often as their time allows. The time of
 * a run is from when the first process begins until the last has ended. Collective. 0, or -1. */
int measure(problem_t *problem, contender_t *contenders, int count, int reps);

int run_tilemm(problem_t *problem, void *unused);

/* ScaLAPACK over OpenBLAS, loaded at run time; NULL where it is not there, on any process.
 * Collective, the first time on all processes of MPI_COMM_WORLD. */
const char *scalapack_name(int threads);
int scalapack_open(problem_t *problem, void **peer); /* on the problem's grid. Collective. */
int run_scalapack(problem_t *problem, void *peer);
void scalapack_close(void *peer);

/* The product of each process's share alone: nothing travels, all processes multiply at once. */
typedef struct {
    float *a, *b, *c;
    int64_t m, n, k;
    double scale; /* of k: the whole over what is run */
    tilemm_t ctx;
} share_product_t;
int share_open(problem_t *problem, share_product_t *share);
int multiply_share(problem_t *problem, void *share);
void share_close(share_product_t *share);

/* The whole product on the first process alone. */
int one_open(problem_t *problem, share_product_t *one);
int run_one(problem_t *problem, void *one);

/* ---- reports ---------------------------------------------------------------------------- */

/* A contender's figures for a problem. */
typedef struct {
    char name[64];
    int processes, rows, cols, block[2], threads;
    char trans[3];
    size3_t size;
    int reps;
    double median, q1, q3; /* seconds */
    double gflops;         /* of all processes together */
    double error;          /* NaN: none */
    double bytes, bound;   /* a process; NaN: not known */
    double efficiency;     /* of a scaling table; NaN: none */
} record_t;

typedef struct {
    record_t *records;
    int count, room;
} report_t;

int report_add(report_t *report, const problem_t *problem, const contender_t *got, int threads);
void report_csv(const report_t *report, FILE *file);
/* Efficiency against processes, a line for each contender. */
void report_svg(const report_t *report, const char *title, FILE *file);

/* The steps of one run of libtilemm, drawn. Collective. */
int draw_timeline(problem_t *problem, const char *title, const char *path);

/* What all verbs' contexts take. */
typedef struct {
    int backend, device, threads, math;
} backend_options_t;
/* The context of this process: threads 0 are its share of the machine's. Collective. NULL with a
 * message. *threads are those used. */
tilemm_t open_context(const backend_options_t *options, int *threads);

int command_mpi_bench(int argc, char **argv);
int command_mpi_model(int argc, char **argv);

#endif
