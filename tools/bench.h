/* bench.h - what the parts of `tilemm bench` share: options, the machine, contenders, the report.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_BENCH_H
#define TILEMM_TOOLS_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "data.h"
#include "lib/size.h"
#include "reference.h"
#include "tilemm.h"

typedef enum { BENCH_ALL = 0, BENCH_GEMM, BENCH_TRANSPOSE, BENCH_REDUCE } bench_verb_t;
enum { VS_DEFAULT = 0, VS_OPENBLAS, VS_CUBLAS, VS_NONE };

/* Where operands lie. On a GPU the usual place is the device. */
enum { MEMORY_USUAL = 0, MEMORY_DEVICE, MEMORY_PINNED, MEMORY_PAGEABLE, MEMORY_MANAGED };

static inline int is_on_host(int memory)
{
    return memory == MEMORY_PINNED || memory == MEMORY_PAGEABLE;
}

typedef struct {
    int dims; /* given; where it is 1, dim[1] and dim[2] repeat dim[0] */
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
    const char *csv, *json, *plot, *timeline;
    int memory;            /* MEMORY_PINNED ... */
    int64_t device_memory; /* bytes, at most, for operands on the host; 0: what is free */
    const char *suite;     /* or NULL */
    int log;               /* each case, on standard error */
    int markdown;
    int calibrate; /* measure a cost model, and nothing else */
    context_options_t context;
    int layout;
    float alpha, beta;
    int scaled; /* --alpha was given */
    int64_t batch;
    int64_t ld[3], stride[3]; /* of A, B, C; of source and destination; of a matrix to reduce */
    /* gemm */
    int trans;      /* 0 to 3: nn nt tn tt */
    int math;       /* -1: the library's default */
    int invariance; /* likewise */
    int data;       /* a family: data_t */
    /* transpose */
    int elem_size, in_place, no_trans;
    /* reduce */
    int op, axis /* -1: a vector */, arg, nan;
    int64_t inc, inc_y, segments /* -1: none */;
    /* Of a suite's row: the ratio that is aimed at to the peer, and to what moves the same bytes (a
     * copy; by axis and by segment, the sum of all elements); 0: none. */
    double goal, bytes_goal;
} bench_options_t;

extern const word_t trans_words[];  /* nn nt tn tt */
extern const word_t data_words[];   /* families of data */
extern const word_t memory_words[]; /* device pinned pageable managed */
extern const word_t suite_words[];  /* the names of all suites */

/* ---- the machine -------------------------------------------------------------------------- */

enum { MAX_BUFFERS = 8 }; /* of a problem */

typedef struct {
    tilemm_t ctx;
    int log; /* TILEMM_LOG=1: run_once() prints the call; timed calls are not logged */
    int on_gpu;
    int threads;      /* that ours and OpenBLAS use */
    char device[160]; /* "cpu, 2 threads" */
    void *stream, *start, *end;
    /* What is compared with: NULL where it is not. */
    const reference_blas_t *blas;
    const reference_cublas_t *cublas;
    const reference_cub_t *cub;
} machine_t;

/* The devices that --devices names, each once, or the one of --device. Returns their number. */
int bench_devices(const bench_options_t *options, int devices[MAX_DEVICES]);

/* 0, or the status to exit with, after a message. */
int machine_open(machine_t *machine, const bench_options_t *options);
void machine_close(machine_t *machine);

/* Memory on the host and, on a GPU where it is not to lie on the host alone, the same amount on the
 * device; managed memory is both. It may hold a batch of matrices:
 * `lines` rows or columns of `length` elements, ld apart. */
typedef struct {
    size_t bytes;
    uint64_t seed; /* an operand: filled with data of this seed. 0: not filled */
    data_t family; /* of it; DATA_NORMAL is that of all but products */
    int of_b;      /* it is the right operand */
    int across;    /* its rows of op(A), or columns of op(B), lie across the lines */
    size_t elem_size;
    int64_t lines, length, ld, stride, batch; /* stride: from matrix to matrix */
    int64_t first;                            /* the element at which matrix 0 starts */
    int memory;                               /* MEMORY_PINNED ... */
    void *host, *device;                      /* device: NULL where the work is on the host's */
} buffer_t;

/* Set what a buffer holds, and its bytes. ld and stride may be NOT_GIVEN: as small as possible. 0,
 * or -1 where that is too large. */
int buffer_shape(buffer_t *buffer, int64_t lines, int64_t length, int64_t ld, int64_t stride,
                 int64_t batch, size_t elem_size);

/* Open the buffers of a problem in that kind of memory. Operands that the last problem left are
 * taken again where all of them have the same sizes and seeds. 0, or -1 with a message, also where
 * the buffers together do not fit in the memory that is free. */
int buffers_open(const machine_t *machine, buffer_t *buffers, int count, int memory);
void buffers_close(buffer_t *buffers); /* operands are kept */
int buffer_open(const machine_t *machine, buffer_t *buffer);
int buffer_send(const machine_t *machine, const buffer_t *buffer); /* host to device */
/* Device to host, after all work. */
int buffer_fetch(const machine_t *machine, const buffer_t *buffer);
int buffer_poison(const machine_t *machine, const buffer_t *buffer); /* NaN everywhere */

/* Matrix 0 where the work happens, and matrix i on the host. */
static inline void *buffer_use(const buffer_t *buffer)
{
    return (char *)(buffer->device ? buffer->device : buffer->host) +
           buffer->first * (int64_t)buffer->elem_size;
}

static inline void *buffer_matrix(const buffer_t *buffer, int64_t i)
{
    return (char *)buffer->host + (buffer->first + i * buffer->stride) * (int64_t)buffer->elem_size;
}

/* *result = a * b, or -1 where that is no size of an object. */
int multiply_sizes(int64_t a, int64_t b, int64_t *result);

typedef struct {
    /* "tilemm", "OpenBLAS". The first contender is ours; so is "default", without invariance. */
    const char *name;
    /* Do the work once, or queue it on the machine's stream. 0, or -1 with a message. */
    int (*run)(const machine_t *machine, void *problem);
    /* Before each timed sample, if not NULL; a sample is one run then. */
    int (*restore)(const machine_t *machine, void *problem);
    double work;       /* what a run does; 0: the case's work */
    double error;      /* NaN: not measured */
    double norm_error; /* of a product: relative, by the Frobenius norm; NaN: not measured */
    double goal;       /* the ratio to this peer that is aimed at; 0: none */
    int tag;           /* for the verb's own use */
    int waits;         /* on a GPU: the work is done when `run` returns, and cannot be captured */
    double bound;      /* no run, but a time that was measured before */
    char kernel[96];   /* of a peer not ours: a remark, and with a goal whether it was met */
    int reps;
    double median, q1, q3; /* seconds a run */
} contender_t;

enum { MAX_CONTENDERS = 5 };

/* Seconds since some moment in the past. */
double seconds_now(void);

/* Told from time to time what share of the measurements is done. */
typedef struct {
    void (*tell)(void *user, double share);
    void *user;
} progress_t;

/* Measure all in turns, reps times (0: by the time that one takes). progress may be NULL. 0, or -1
 * with a message. */
int measure(const machine_t *machine, contender_t *contenders, int count, void *problem,
            int64_t reps, const progress_t *progress);

/* Run once, logged, wait, and keep the kernel's name of ours. */
int run_once(const machine_t *machine, contender_t *contender, void *problem);

/* Report an error status of the library, of cuBLAS or of CUDA: 0 for success, -1 otherwise. */
int check_ours(const machine_t *machine, tilemm_status_t status);
int check_peer(const char *name, int status);

/* ---- the report ----------------------------------------------------------------------------- */

typedef struct {
    const char *verb;        /* "gemm" */
    const char *unit;        /* "GFLOP/s" or "GB/s" */
    const char *error_kind;  /* "max |error| / (|A||B|)" */
    const char *extent_name; /* what the plot's axis has: "cube root of m n k" */
    int error_is_count;
    int has_norm_error;  /* contenders have it */
    char size[64];       /* "1024x1024x1024" */
    double extent, work; /* 1e9 of work in a second is 1 unit */
} bench_case_t;

typedef struct report report_t;

/* NULL after a message: gnuplot is not there or draws no such file, or a file cannot be written. */
report_t *report_open(const bench_options_t *options);

/* The machine that is measured from here on. `cases`, of which the first call counts: how many
 * cases all tables will have. */
void report_begin(report_t *report, const machine_t *machine, int cases);

/* A new table, and a case in it. */
void report_table(report_t *report, const machine_t *machine, const char *title);
void report_case(report_t *report, const bench_case_t *which, const contender_t *contenders,
                 int count);

void report_note(report_t *report, const char *text); /* a remark under the table */
/* Whether the end of a file's name is that of a format for plots. */
int report_can_plot(const char *path);

/* Say what is being done, behind the case's number, on a terminal. */
void report_progress(report_t *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Write the files. 0, or EXIT_FAILED with a message: also where a result of ours was wrong. */
int report_close(report_t *report);

/* ---- what the verbs share ------------------------------------------------------------------- */

/* One problem of a verb while it is measured. */
typedef struct {
    const bench_options_t *options;
    bench_case_t which;
    buffer_t buffers[MAX_BUFFERS];
    contender_t contenders[MAX_CONTENDERS];
    int count;       /* contenders */
    int64_t m, n, k; /* m x n, and k; a vector: n */
    /* gemm */
    int by_pointers; /* tilemm_sgemm_batched */
    float *c_before; /* with beta */
    int block;       /* of cublasXt */
    /* The exact results in FP64 of `rows` rows by `cols` columns of `matrices` matrices, spread
     * over all of them, and behind these |alpha| (|A||B|) + |beta C|. */
    int64_t matrices, rows, cols;
    double *exact;
    /* transpose */
    int scaled;
    size_t copy_bytes;
    /* reduce */
    int arg;                   /* by axis: positions and values */
    int64_t results, elements; /* elements of x that are read */
    size_t workspace_bytes;    /* CUB's */
    int blas_op;               /* what OpenBLAS computes */
} bench_problem_t;

typedef struct {
    double up, down, resident; /* bytes, bytes, seconds */
} bench_bound_t;

/* Add as a contender the time that operands on the host cannot beat: that of the link, measured by
 * copies of pinned memory up and down at once, or that of the work on the device, whichever is
 * longer. 0, or -1 with a message. */
int bench_add_bound(const machine_t *machine, bench_problem_t *p, const bench_bound_t *bound);

/* Run the product once more, and draw when its steps ran on the device's streams (--timeline). 0,
 * or -1 with a message. */
int bench_timeline(const machine_t *machine, bench_problem_t *p);

/* A verb. Functions that return int return 0, or -1 with a message (shape: without one). */
typedef struct {
    bench_case_t which;
    const char *suite_title;
    int buffers; /* to open before `fill` */
    /* Append what stands above the table. */
    void (*title)(const machine_t *machine, const bench_options_t *options, char *text,
                  size_t size);
    /* Make a problem of its options and a size; -1: its matrices are too large. */
    int (*shape)(bench_problem_t *p, const bench_size_t *size);
    int (*fill)(const machine_t *machine, bench_problem_t *p); /* buffers without a seed */
    void (*add_contenders)(const machine_t *machine, bench_problem_t *p);
    int (*check)(const machine_t *machine, contender_t *contender, void *problem);
    void (*adjust_goals)(const machine_t *machine, bench_problem_t *p); /* by the times; or NULL */
    /* Of operands on the host: the bytes that must go up and down, and the time with operands on
     * the device (0: not looked at). */
    int (*bound)(const machine_t *machine, const bench_problem_t *p, bench_bound_t *bound);
} bench_work_t;

extern const bench_work_t bench_gemm, bench_transpose, bench_reduce;

contender_t *add_contender(bench_problem_t *p, const char *name,
                           int (*run)(const machine_t *machine, void *problem));

/* Append ", against OpenBLAS 0.3.21", if there is a peer. */
void append_peer(const machine_t *machine, char *text, size_t size);

/* Append ", pinned, at most 4 GiB of the device's", where the options say so. */
void append_memory(const bench_options_t *options, char *text, size_t size);

/* Measure all sizes or the suite of a verb. 0, or EXIT_FAILED with a message. */
int bench_run(bench_verb_t verb, const machine_t *machine, const bench_options_t *options,
              report_t *report);

/* Number i of `count` numbers spread over 0 to n - 1, the first and last among them. */
static inline int64_t spread(int64_t i, int64_t count, int64_t n)
{
    return count > 1 ? (int64_t)((double)i / (double)(count - 1) * (double)(n - 1)) : 0;
}

/* Whether all are from 1 to INT_MAX, as the peers take sizes. */
int fit_int(const int64_t *values, int count);

/* One row of a suite: a size, what it sets of the options, and the ratios that are aimed at. */
typedef struct {
    bench_size_t size;
    int math, layout, trans, data;
    int64_t batch;
    int by_pointers, elem_size, in_place;
    int op, axis /* -1: a vector */, arg;
    int64_t segments; /* 0: none */
    double goal, bytes_goal;
    int memory; /* MEMORY_PINNED ...: sizes are halved until the operands fit in the host's memory
                 */
    int64_t device_memory;
} bench_row_t;

/* The suite of that name of a verb, or NULL and *count 0. */
const bench_row_t *bench_suite(bench_verb_t verb, const char *name, int *count);

/* Print the cost model's constants of the GPU. 0, or EXIT_FAILED with a message. */
int bench_calibrate(const bench_options_t *options);

#endif
