/* bench.h - what the parts of `tilemm bench` share: options, the machine, contenders, the report.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_BENCH_H
#define TILEMM_TOOLS_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "lib/size.h"
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
#define NOT_GIVEN INT64_MIN /* leading dimensions and strides: as small as possible */

typedef struct {
    bench_verb_t verb;
    int size_count;
    bench_size_t sizes[MAX_SIZES];
    int vs;
    int64_t reps; /* 0: by the time that one takes */
    const char *csv, *json, *plot;
    const char *suite; /* or NULL */
    int markdown;
    int calibrate; /* measure a cost model, and nothing else */
    context_options_t context;
    int layout;
    float alpha, beta;
    int scaled; /* --alpha was given */
    int64_t batch;
    /* gemm */
    int trans; /* 0 to 3: nn nt tn tt */
    int math;  /* -1: the library's default */
    int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
    /* transpose */
    int elem_size;
    int64_t ld_src, ld_dst, stride_src, stride_dst;
    int in_place, no_trans;
    /* reduce (and lda) */
    int op, axis /* -1: a vector */, arg, nan;
    int64_t inc, inc_y, segments /* -1: none */;
    /* Of a suite's row: the ratio to the peer that is aimed at, and of a transpose to a copy; 0:
     * none. */
    double goal, copy_goal;
} bench_options_t;

extern const word_t trans_words[]; /* nn nt tn tt */

/* ---- the machine -------------------------------------------------------------------------- */

typedef struct buffer buffer_t;
enum { MAX_BUFFERS = 8 }; /* of a problem */

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
    buffer_t *kept; /* MAX_BUFFERS: the last problem's operands */
} machine_t;

/* 0, or the status to exit with, after a message. */
int machine_open(machine_t *machine, const bench_options_t *options);
void machine_close(machine_t *machine);

/* Memory on the host and, on a GPU, the same amount on the device. */
struct buffer {
    size_t bytes;
    uint64_t seed; /* an operand: filled with normal numbers of this seed. 0: not filled */
    void *host, *device;
};

/* Open the buffers of a problem, of buffers[i].bytes each. Operands that the last problem left are
 * taken again where all of them have the same sizes and seeds. 0, or -1 with a message, also where
 * the buffers together do not fit in the memory that is free. */
int buffers_open(const machine_t *machine, buffer_t *buffers, int count);
void buffers_close(const machine_t *machine, buffer_t *buffers, int count); /* operands are kept */
int buffer_open(const machine_t *machine, buffer_t *buffer);
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
    double work;     /* what a run does; 0: the case's work */
    double error;    /* NaN: not measured */
    double goal;     /* the ratio to this peer that is aimed at; 0: none */
    int tag;         /* for the verb's own use */
    char kernel[64]; /* of a peer with a goal: whether it was met */
    int reps;
    double median, q1, q3; /* seconds a run */
} contender_t;

enum { MAX_CONTENDERS = 4 };

/* Measure all in turns, reps times (0: by the time that one takes). 0, or -1 with a message. */
int measure(const machine_t *machine, contender_t *contenders, int count, void *problem,
            int64_t reps);

/* Run once, wait, and keep the kernel's name of ours. */
int run_once(const machine_t *machine, contender_t *contender, void *problem);

/* Append a contender. */
static inline contender_t *add_contender(contender_t *contenders, int *count, const char *name,
                                         int (*run)(const machine_t *machine, void *problem))
{
    contender_t *added = &contenders[(*count)++];

    *added = (contender_t){.name = name, .run = run};
    return added;
}

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
void report_note(report_t *report, const char *text);

/* Write the files. 0, or EXIT_FAILED with a message: also where a result of ours was wrong. */
int report_close(report_t *report);

/* ---- what the verbs share ------------------------------------------------------------------- */

/* Check each contender's result, then measure all. Returns 0, or EXIT_FAILED with a message. */
int bench_measure(const machine_t *machine, const bench_options_t *options,
                  const bench_case_t *which, contender_t *contenders, int count,
                  int (*check)(const machine_t *machine, contender_t *contender, void *problem),
                  void *problem, report_t *report);

/* ", against OpenBLAS 0.3.21", or "". */
void bench_against(const machine_t *machine, char *text, size_t size);

/* A shape that no array can have: EXIT_FAILED, after a message. */
int bench_too_large(const char *verb, const char *size);

static inline int64_t given(int64_t value, int64_t otherwise)
{
    return value == NOT_GIVEN ? otherwise : value;
}

/* Number i of `count` numbers spread over 0 to n - 1, the first and last among them. */
static inline int64_t spread(int64_t i, int64_t count, int64_t n)
{
    return count > 1 ? (int64_t)((double)i / (double)(count - 1) * (double)(n - 1)) : 0;
}

/* Whether all are from 1 to INT_MAX, as the peers take sizes. */
int fit_int(const int64_t *values, int count);

/* ---- suites --------------------------------------------------------------------------------- */

/* One row of a suite: a size, what it sets of the options, and the ratios that are aimed at. */
typedef struct {
    bench_size_t size;
    int math, layout, trans;
    int64_t batch; /* by arrays of pointers: */
    int by_pointers;
    int elem_size, in_place;
    reduce_op_t op;
    int axis /* -1: a vector */, arg;
    int64_t segments; /* 0: none */
    double goal, copy_goal;
} bench_row_t;

/* The suite of that name of a verb, or NULL. */
const bench_row_t *bench_suite(bench_verb_t verb, const char *name, int *count);

/* ---- the verbs ------------------------------------------------------------------------------- */

/* Measure all sizes or the suite of a verb. 0, or EXIT_FAILED with a message. */
int bench_run(bench_verb_t verb, const machine_t *machine, const bench_options_t *options,
              report_t *report);

/* What stands above a verb's table, and one of its cases. */
void bench_gemm_title(const machine_t *machine, const bench_options_t *options, char *title,
                      size_t size);
int bench_gemm(const machine_t *machine, const bench_options_t *options, const bench_size_t *size,
               report_t *report);
void bench_transpose_title(const machine_t *machine, const bench_options_t *options, char *title,
                           size_t size);
int bench_transpose(const machine_t *machine, const bench_options_t *options,
                    const bench_size_t *size, report_t *report);
void bench_reduce_title(const machine_t *machine, const bench_options_t *options, char *title,
                        size_t size);
int bench_reduce(const machine_t *machine, const bench_options_t *options, const bench_size_t *size,
                 report_t *report);

/* Print the cost model's constants of the GPU. 0, or EXIT_FAILED with a message. */
int bench_calibrate(const bench_options_t *options);

#endif
