/* blas.h - what the BLAS drop-in's files share.
 *
 * An entry point (entries.c) checks its arguments as the reference BLAS does and describes the call
 * in a tilemm__blas_call_t. tilemm__blas_run (run.c) decides where it is computed: by libtilemm on
 * the CPU or the GPU, or by the BLAS behind, which is the one whose routine the program would call
 * if this library were not there.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_BLAS_BLAS_H
#define TILEMM_BLAS_BLAS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "tilemm.h"

/* The kinds of calls, and where they go. ROUTE_LOOPS is plain C, for what nothing else takes, such
 * as an increment of 0. ROUTE_NONE are calls that return at once, or are refused. */
typedef enum { SGEMM, SGEMM_BATCH, SASUM, SNRM2, SDOT, ISAMAX, SOMATCOPY, SIMATCOPY, KINDS } kind_t;
typedef enum { ROUTE_CPU, ROUTE_CUDA, ROUTE_BEHIND, ROUTE_LOOPS, ROUTE_NONE, ROUTES } route_t;

/* A call. Of a vector: n, a and lda (its increment), and b and ldb. Of a copy: trans in transa, m
 * rows, n columns, a and lda, c and ldc. */
typedef struct {
    kind_t kind;
    tilemm_layout_t layout;
    tilemm_op_t transa, transb;
    int64_t m, n, k;
    float alpha;
    const float *a;
    int64_t lda, stride_a;
    const float *b;
    int64_t ldb, stride_b;
    float beta;
    float *c;
    int64_t ldc, stride_c, batch;
    float value;   /* the result of SASUM, SNRM2 and SDOT */
    int64_t index; /* of ISAMAX, from 0 */
} tilemm__blas_call_t;

/* A set of names with one suffix, all of which have integers of one width. */
typedef struct {
    const char *xerbla, *cblas_xerbla;
    int by_blas; /* the width is that of the BLAS behind: 32 bits unless that is known to have 64 */
    int wide;    /* 64 bits */
} tilemm__blas_family_t;

typedef struct tilemm__blas_entry tilemm__blas_entry_t;

/* An entry point. */
struct tilemm__blas_entry {
    const char *symbol; /* its name */
    const tilemm__blas_family_t *family;
    /* Call the routine of the BLAS behind. */
    void (*call_behind)(const tilemm__blas_entry_t *entry, tilemm__blas_call_t *call);
    _Atomic(void *) behind; /* that routine; NULL if it is not known */
    atomic_int prepared;    /* `wide` and `behind` have been looked for */
    atomic_int wide;        /* integers have 64 bits */
    atomic_int faster;      /* see race.c */
    _Atomic double rate;    /* of the faster one, in units of work a second */
};

/* Look for the BLAS behind, as the caller's code would find it. Returns the routine, or NULL. */
void *tilemm__blas_find_behind(tilemm__blas_entry_t *entry, const void *caller);

/* A symbol that the program has, or else the library that the caller belongs to. */
void *tilemm__blas_find(const char *name, const void *caller);

/* Whether two addresses are in one program or library. */
int tilemm__blas_same_object(const void *x, const void *y);

/* Report a wrong argument through xerbla_: `routine` is BLAS's name in capitals, filled up to 6
 * letters; number is that of the argument in the column-major call that Fortran's routine would
 * get. layout is that of a call of CBLAS, or 0. */
void tilemm__blas_refuse(const tilemm__blas_entry_t *entry, const void *caller,
                         tilemm_layout_t layout, const char *routine, int number);

/* The same through cblas_xerbla, of a routine that CBLAS alone has, or of a setting that CBLAS
 * checks: NULL if it is none. */
void tilemm__blas_refuse_c(const tilemm__blas_entry_t *entry, const void *caller,
                           tilemm_layout_t layout, const char *routine, int number,
                           const char *setting, int value);

/* Do the call somewhere. */
void tilemm__blas_run(tilemm__blas_entry_t *entry, tilemm__blas_call_t *call, const void *caller);

/* Count a call that needs nothing done. */
void tilemm__blas_count_none(kind_t kind);

/* Do the call on a context, and wait for it. */
tilemm_status_t tilemm__blas_call_tilemm(tilemm_t ctx, tilemm__blas_call_t *call);

/* Whether TILEMM_LOG shows what the context does. */
void tilemm__blas_set_quiet(tilemm_t ctx, int quiet);

/* Copy bytes so that TILEMM_LOG does not show it. */
tilemm_status_t tilemm__blas_copy_quietly(tilemm_t ctx, const void *from, size_t bytes, void *to);

/* Keep the program's floating-point environment, and compute without traps; go back to it. */
void tilemm__blas_enter(void);
void tilemm__blas_leave(void);

/* Whether the thread is in a call of the BLAS behind. */
int tilemm__blas_is_behind(void);

/* Do the call by the BLAS behind, in the program's environment. */
void tilemm__blas_call_behind(const tilemm__blas_entry_t *entry, tilemm__blas_call_t *call);

/* Do the call in plain C. */
void tilemm__blas_loops(tilemm__blas_call_t *call);

/* Floating-point operations, or elements of a vector or copy. */
double tilemm__blas_work(const tilemm__blas_call_t *call);

/* Whether the BLAS behind is faster than libtilemm on the CPU, measured once. */
int tilemm__blas_behind_is_faster(tilemm__blas_entry_t *entry, const tilemm__blas_call_t *call,
                                  tilemm_t cpu);

/* Estimated seconds that a product takes on the GPU, with its copies, after rates have been
 * measured once; HUGE_VAL while they are not known. */
double tilemm__blas_gpu_seconds(const tilemm__blas_call_t *call);
int tilemm__blas_measure_gpu(tilemm_t cuda);

/* Seconds on a clock that never steps back. */
double tilemm__blas_now(void);

/* The report: whether it is asked for; forget what was counted; count a call. */
extern atomic_int tilemm__blas_reports;
void tilemm__blas_report_forget(void);
void tilemm__blas_report_count(kind_t kind, route_t route, double seconds);

/* With TILEMM_LOG=1, the line of a call that the BLAS behind gets: libtilemm prints the others. */
void tilemm__blas_log_behind(const tilemm__blas_call_t *call);

#endif
