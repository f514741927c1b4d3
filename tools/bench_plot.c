/* bench_plot.c - `tilemm bench --plot`: rate against size, drawn by gnuplot.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bench_report.h"
#include "output.h"

int report_has_gnuplot(void)
{
    return system("gnuplot --version </dev/null >/dev/null 2>&1") == 0;
}

static int is_same_series(const record_t *a, const record_t *b)
{
    return a->table == b->table && strcmp(a->got.name, b->got.name) == 0;
}

static int is_new_series(const report_t *report, size_t r)
{
    for (size_t i = 0; i < r; i++)
        if (is_same_series(&report->records[i], &report->records[r]))
            return 0;
    return 1;
}

/* A block of data for each line of the plot, numbered by its first record. */
static void write_series(const report_t *report, FILE *script)
{
    for (size_t r = 0; r < report->count; r++) {
        if (!is_new_series(report, r))
            continue;
        fprintf(script, "$d%zu << END\n", r);
        for (size_t i = r; i < report->count; i++)
            if (is_same_series(&report->records[i], &report->records[r]))
                fprintf(script, "%.9g %.9g\n", report->records[i].of.extent,
                        report->records[i].rate);
        fputs("END\n", script);
    }
}

static void write_script(const report_t *report, FILE *script)
{
    fprintf(script,
            "set terminal svg size %d,480 noenhanced background rgb 'white'\n"
            "set key below\nset grid\nset style data linespoints\n",
            640 * report->table_count);
    write_series(report, script);
    fprintf(script, "set multiplot layout 1,%d\n", report->table_count);
    for (int t = 0; t < report->table_count; t++) {
        const char *separator = "plot ";
        const bench_case_t *of = NULL;
        double low = HUGE_VAL, high = 0;
        for (size_t r = 0; r < report->count; r++)
            if (report->records[r].table == t) {
                of = &report->records[r].of;
                low = fmin(low, of->extent);
                high = fmax(high, of->extent);
            }
        if (!of)
            continue;
        fputs("set title ", script);
        report_write_quoted(script, report->tables[t].title, '\'');
        fprintf(script,
                "\nset xlabel '%s'\nset ylabel '%s'\nset yrange [0:*]\n"
                "set format x '%%.0s%%c'\n"
                "set logscale x 2\nset xrange [%.9g:%.9g]\n",
                of->extent_name, of->unit, fmax(low, 1) / 1.1, fmax(high, 1) * 1.1);
        for (size_t r = 0; r < report->count; r++)
            if (report->records[r].table == t && is_new_series(report, r)) {
                fprintf(script, "%s$d%zu using 1:2 title ", separator, r);
                report_write_quoted(script, report->records[r].got.name, '\'');
                separator = ", ";
            }
        fputc('\n', script);
    }
    fputs("unset multiplot\n", script);
}

int report_draw_plot(const report_t *report)
{
    output_t output;
    char command[48];
    int status = EXIT_OK;
    if (!report->count)
        return EXIT_OK;
    if (output_open(&output, report->options->plot) != 0)
        return EXIT_FAILED;
    snprintf(command, sizeof command, "exec gnuplot >/dev/fd/%d", fileno(output.file));
    FILE *script = popen(command, "w");
    if (!script)
        return output_close(&output, command_error("cannot start gnuplot: %s", strerror(errno)));
    void (*old_handler)(int) = signal(SIGPIPE, SIG_IGN);
    write_script(report, script);
    const int written = fflush(script) == 0 && !ferror(script);
    if (pclose(script) != 0 || !written)
        status = command_error("gnuplot failed");
    signal(SIGPIPE, old_handler);
    return output_close(&output, status);
}
