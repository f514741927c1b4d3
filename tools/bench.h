/* bench.h - what the parts of `tilemm bench` share: options, the machine, contenders, the report.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_BENCH_H
#define TILEMM_TOOLS_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "reference.h"
#include "tilemm.h"

/* ---- options ------------------------------------------------------------------------------ */

typedef enum { BENCH_ALL = 0, BENCH_GEMM, BENCH_TRANSPOSE, BENCH_REDUCE } bench_verb_t;
typedef enum { VS_DEFAULT = 0, VS_OPENBLAS, VS_CUBLAS, VS_NONE } bench_vs_t;

typedef struct {
    int dims;
    int64_t dim[3];
} bench_size_t;

enum { MAX_SIZES = 256 };
#define NOT_GIVEN INT64_MIN /* leading dimensions and strides: as small as may be */

typedef struct {
    bench_verb_t verb;
    int size_count;
    bench_size_t sizes[MAX_SIZES];
    int vs;
    int64_t reps; /* 0: as many as make sense */
    const char *csv, *json, *plot;
    const char *suite; /* or NULL */
    context_options_t context;
    int layout;
    float alpha, beta;
    int scaled; /* --alpha was given */
    int64_t batch;
    /* gemm */
    int transa, transb, math /* -1: the library's default */;
    int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
    /* transpose */
    int64_t elem_size, ld_src, ld_dst, stride_src, stride_dst;
    int in_place, no_trans;
    /* reduce (and lda) */
    int op, axis /* -1: a vector */, arg, nan;
    int64_t inc, inc_y, segments /* -1: none */;
} bench_options_t;

/* ---- the machine -------------------------------------------------------------------------- */

typedef struct {
    tilemm_t ctx;
    int on_gpu;
    int threads;      /* that ours and OpenBLAS use */
    char device[160]; /* "cpu, 2 threads" */
    void *stream, *start, *end;
    /* What is compared with: NULL where it is not. */
    const reference_blas_t *blas;
    const reference_cublas_t *cublas;
    const reference_cub_t *cub;
} machine_t;

/* 0, or the status to exit with, after a message. */
int machine_open(machine_t *machine, const bench_options_t *options);
void machine_close(machine_t *machine);

/* Memory on the host and, on a GPU, as much on the device. */
typedef struct {
    size_t bytes;
    void *host, *device;
} buffer_t;

/* 0, or -1 with a message where these buffers together do not fit in the memory that is free. */
int machine_has_room(const machine_t *machine, const buffer_t *const *buffers, int count);
int buffer_open(const machine_t *machine, buffer_t *buffer); /* of buffer->bytes */
void buffer_close(buffer_t *buffer);
void *buffer_use(const machine_t *machine, const buffer_t *buffer); /* where the work happens */
int buffer_send(const machine_t *machine, const buffer_t *buffer);  /* host to device */
int buffer_fetch(const machine_t *machine,
                 const buffer_t *buffer); /* device to host, after all work */
int buffer_poison(const machine_t *machine, const buffer_t *buffer); /* NaN everywhere */

/* *result = a * b, or -1 where that is no size of an object. */
int multiply_sizes(int64_t a, int64_t b, int64_t *result);

/* The elements that `batch` matrices of `lines` lines of `length` elements touch, leading dimension
 * ld, stride apart, and in *first where the first of them starts; -1 where that is too many. */
int64_t batch_span(int64_t lines, int64_t length, int64_t ld, int64_t stride, int64_t batch,
                   int64_t *first);

/* ---- data: the same on every run ----------------------------------------------------------- */

void fill_normal(float *x, size_t count, uint64_t seed); /* mean 0, variance 1 */
void fill_bytes(void *x, size_t bytes, uint64_t seed);

/* ---- contenders ---------------------------------------------------------------------------- */

typedef struct contender {
    const char *name; /* "tilemm", "OpenBLAS"; the first contender is ours */
    /* Do the work once, or queue it on the machine's stream. 0, or -1 with a message. */
    int (*run)(const machine_t *machine, void *problem);
    /* Before each timed sample, if not NULL; a sample is one run then. */
    int (*restore)(const machine_t *machine, void *problem);
    double work;  /* what a run does; 0: the case's work */
    double error; /* NaN: not measured */
    int tag;      /* the verb's own */
    char kernel[64];
    int reps;
    double median, q1, q3; /* seconds a run */
} contender_t;

enum { MAX_CONTENDERS = 4 };

/* Measure all in turns, reps times (0: as many as make sense). 0, or -1 with a message. */
int measure(const machine_t *machine, contender_t *contenders, int count, void *problem,
            int64_t reps);

/* Run once, wait, and keep the kernel's name of ours. */
int run_once(const machine_t *machine, contender_t *contender, void *problem);

/* Report an error status of the library, of cuBLAS or of CUDA: 0 for success, -1 otherwise. */
int check_ours(const machine_t *machine, tilemm_status_t status);
int check_peer(const char *name, int status);

/* ---- the report ----------------------------------------------------------------------------- */

typedef struct {
    const char *verb;       /* "gemm" */
    const char *unit;       /* "GFLOP/s" or "GB/s" */
    const char *error_kind; /* "max |error| / (|A||B|)" */
    char size[64];          /* "1024x1024x1024" */
    double extent;          /* where it stands on the plot's axis */
    const char *extent_name;
    double work; /* 1e9 of it in a second is 1 unit */
    int error_is_count;
} bench_case_t;

typedef struct report report_t;

/* NULL after a message: gnuplot or a file is not there. */
report_t *report_open(const bench_options_t *options);

/* A new table: "SGEMM, row-major, ..." */
void report_table(report_t *report, const machine_t *machine, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Say what is being done, on a terminal. */
void report_progress(report_t *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void report_case(report_t *report, const bench_case_t *which, const contender_t *contenders,
                 int count);

/* Print a remark under the table. */
void report_note(report_t *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Write the files. 0, or EXIT_FAILED with a message: also where a result of ours was wrong. */
int report_close(report_t *report);

/* ---- suites --------------------------------------------------------------------------------- */

/* One product of a suite: its mode, layout, transposes (0 to 3: nn nt tn tt), sizes, batch (given
 * by arrays of pointers or strides), and the ratio to the peer that is aimed at (0: none). */
typedef struct {
    int math, layout, trans;
    int64_t m, n, k, batch;
    int by_pointers;
    double goal;
} bench_row_t;

/* The suite of that name, or NULL. */
const bench_row_t *bench_suite(const char *name, int *count);

/* ---- the verbs: 0, or EXIT_FAILED with a message -------------------------------------------- */

int bench_gemm(const machine_t *machine, const bench_options_t *options, report_t *report);
int bench_gemm_suite(const machine_t *machine, const bench_options_t *options, report_t *report);
int bench_transpose(const machine_t *machine, const bench_options_t *options, report_t *report);
int bench_transpose_has_suite(const char *name);
int bench_transpose_suite(const machine_t *machine, const bench_options_t *options,
                          report_t *report);
int bench_reduce(const machine_t *machine, const bench_options_t *options, report_t *report);
int bench_reduce_has_suite(const char *name);
int bench_reduce_suite(const machine_t *machine, const bench_options_t *options, report_t *report);

#endif
