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
    char head[480]; /* of Markdown: processor or device, versions, date */
} table_t;

struct report {
    FILE *table_stream; /* NULL: standard output belongs to a file format */
    FILE *csv, *json;   /* standard output, or that of these */
    output_t csv_output, json_output;
    const bench_options_t *options;
    int on_terminal, progress_shown;
    int size_width; /* of the table's first column */
    int wrong;      /* results of ours */
    int failed;
    table_t *tables;
    int table_count;
    record_t *records;
    size_t count;
};

void report_write_csv(const report_t *report);
void report_write_json(const report_t *report);

/* Write a text between two of these quotes, with those in it doubled. */
void report_write_quoted(FILE *file, const char *text, char quote);

/* gnuplot: whether it is there; the plot. draw_plot returns a status, after a message. */
int report_has_gnuplot(void);
int report_draw_plot(const report_t *report);

#endif
