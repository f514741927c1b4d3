/* bench_report.h - the results of `tilemm bench`, which are printed as they come and written to
 * files at the end.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_BENCH_REPORT_H
#define TILEMM_TOOLS_BENCH_REPORT_H

#include <stdio.h>

#include "bench.h"
#include "output.h"

/* One contender on one case. */
typedef struct {
    int table;
    bench_case_t of;
    contender_t got;
    double rate, ratio; /* ratio NaN: it is ours */
} record_t;

typedef struct {
    char title[320], device[160];
    char where[320]; /* processor or GPU, what it uses of it, the library */
} table_t;

/* What is told of the machine, in this order: columns of CSV, members of JSON. */
enum {
    FACT_DATE, /* and time of the beginning, in UTC */
    FACT_OS,
    FACT_OS_KERNEL,
    FACT_CPU,
    FACT_PROCESSORS,
    FACT_CPU_MHZ,
    FACT_CPU_MAX_MHZ,
    FACT_INSTRUCTION_SET, /* of CPU kernels */
    FACT_THREADS,
    FACT_GPU,
    FACT_GPU_CC,
    FACT_GPU_SMS,
    FACT_GPU_MAX_MHZ,
    FACT_GPU_DRIVER,
    FACT_TILEMM_ARCH,
    FACT_LIBRARY,
    FACT_COMPILER,
    FACT_PEERS,
    FACTS,
    FACT_SIZE = 160
};

typedef struct {
    const char *name;
    int is_number;
} fact_name_t;

extern const fact_name_t fact_names[FACTS];

struct report {
    FILE *table_stream; /* NULL: standard output belongs to a file format */
    FILE *csv, *json;   /* standard output, or that of these */
    output_t csv_output, json_output;
    const bench_options_t *options;
    int on_terminal, progress_shown;
    int size_width; /* of the table's first column */
    int wrong;      /* results of ours */
    int failed;
    int cases, reported;          /* of all tables; so far */
    char facts[FACTS][FACT_SIZE]; /* "": not known */
    table_t *tables;
    int table_count;
    record_t *records;
    size_t count;
};

void report_write_csv(const report_t *report);
void report_write_json(const report_t *report);

/* Write a text between two of these quotes, with those in it doubled. */
void report_write_quoted(FILE *file, const char *text, char quote);

/* Set what is known of a machine; one more where the run goes on to another backend. */
void report_describe(char facts[][FACT_SIZE], const machine_t *machine, int device);

/* Append the peers' names; text that is there already is the first of the list. */
void report_peers(const machine_t *machine, const char *between, char *text, size_t size);

/* Append a table's `where`: "AMD EPYC 9575F, 2 threads, avx512 kernels, libtilemm 0.1.0" */
void report_where(char facts[][FACT_SIZE], const machine_t *machine, char *text, size_t size);

/* Whether gnuplot is there and draws what the file's name tells: 0, or -1 with a message. */
int report_check_plot(const char *path);
/* Draw the plot. Returns a status, after a message. */
int report_draw_plot(const report_t *report);

#endif
