/* bench_report.c - what `tilemm bench` has measured, as a table, CSV, JSON and a plot.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2 */
#endif

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

/* One contender on one case. */
typedef struct {
    int table;
    bench_case_t of;
    contender_t got;
    char name[48];
    double rate, ratio; /* ratio NaN: it is ours */
} record_t;

typedef struct {
    char title[320], device[160];
} table_t;

struct report {
    FILE *table_stream; /* NULL: standard output belongs to a file format */
    FILE *csv, *json;
    const char *csv_name, *json_name, *plot_name;
    int on_terminal, progress_shown;
    int size_width; /* of the table's first column */
    int wrong;      /* results of ours */
    int failed;
    table_t *tables;
    int table_count;
    record_t *records;
    size_t count, room;
};

/* ---- gnuplot -------------------------------------------------------------------------------- */

/* Start gnuplot with these file descriptors for its input and output. Returns 0 or an errno. */
static int start_gnuplot(const char *argument, int input, int output, pid_t *pid)
{
    char program[] = "gnuplot", text[32];
    char *argv[] = {program, NULL, NULL};
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);

    if (error)
        return error;
    if (argument) {
        snprintf(text, sizeof text, "%s", argument);
        argv[1] = text;
    }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    error = posix_spawnp(pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int has_gnuplot(void)
{
    pid_t pid;
    int found, null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0)
        return 0;
    found = start_gnuplot("--version", null, null, &pid) == 0 && wait_for(pid) == 0;
    close(null);
    return found;
}

static int is_new_series(const report_t *report, size_t r)
{
    for (size_t i = 0; i < r; i++)
        if (report->records[i].table == report->records[r].table &&
            strcmp(report->records[i].name, report->records[r].name) == 0)
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
            if (report->records[i].table == report->records[r].table &&
                strcmp(report->records[i].name, report->records[r].name) == 0)
                fprintf(script, "%.9g %.9g\n", report->records[i].of.extent,
                        report->records[i].rate);
        fputs("END\n", script);
    }
}

/* In single quotes, where nothing but the quote has a meaning. */
static void write_quoted(FILE *script, const char *text)
{
    putc('\'', script);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', script);
        putc(*text, script);
    }
    putc('\'', script);
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
        write_quoted(script, report->tables[t].title);
        fprintf(script,
                "\nset xlabel '%s'\nset ylabel '%s'\nset yrange [0:*]\n"
                "set format x '%%.0s%%c'\n"
                "set logscale x 2\nset xrange [%.9g:%.9g]\n",
                of->extent_name, of->unit, fmax(low, 1) / 1.1, fmax(high, 1) * 1.1);
        for (size_t r = 0; r < report->count; r++)
            if (report->records[r].table == t && is_new_series(report, r)) {
                fprintf(script, "%s$d%zu using 1:2 title ", separator, r);
                write_quoted(script, report->records[r].name);
                separator = ", ";
            }
        fputc('\n', script);
    }
    fputs("unset multiplot\n", script);
}

/* Give gnuplot the script. The drawing goes to a temporary name that is renamed. */
static int run_gnuplot(const report_t *report, int output)
{
    int ends[2], error;
    pid_t pid;
    FILE *script;
    void (*old_handler)(int);

    if (pipe2(ends, O_CLOEXEC) != 0)
        return command_error("cannot make a pipe to gnuplot: %s", strerror(errno));
    error = start_gnuplot(NULL, ends[0], output, &pid);
    close(ends[0]);
    script = fdopen(ends[1], "w");
    if (error || !script) {
        if (script)
            fclose(script);
        else
            close(ends[1]);
        if (!error)
            wait_for(pid);
        return command_error("cannot start gnuplot: %s", strerror(error ? error : errno));
    }
    old_handler = signal(SIGPIPE, SIG_IGN);
    write_script(report, script);
    error = fclose(script);
    signal(SIGPIPE, old_handler);
    if (wait_for(pid) != 0 || error)
        return command_error("gnuplot failed");
    return EXIT_OK;
}

static int draw_plot(const report_t *report)
{
    char target[PATH_MAX], temporary[PATH_MAX];
    mode_t mask;
    int output, status;

    if (!report->count)
        return EXIT_OK;
    if (output_names(report->plot_name, target, temporary, PATH_MAX) != 0)
        return EXIT_FAILED;
    output = mkstemp(temporary);
    if (output < 0)
        return command_error("%s: cannot be written: %s", report->plot_name, strerror(errno));
    mask = umask(0);
    umask(mask);
    status = run_gnuplot(report, output);
    if (status == EXIT_OK && (fchmod(output, 0666 & ~mask) != 0 || rename(temporary, target) != 0))
        status = command_error("%s: cannot be written: %s", report->plot_name, strerror(errno));
    close(output);
    if (status != EXIT_OK)
        unlink(temporary);
    return status;
}

/* ---- CSV and JSON ---------------------------------------------------------------------------- */

static void write_csv_text(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', file);
        putc(*text, file);
    }
    putc('"', file);
}

static void write_csv(const report_t *report)
{
    fputs("verb,device,table,size,version,kernel,repetitions,median_s,q1_s,q3_s,rate,unit,ratio,"
          "error,error_kind\n",
          report->csv);
    for (size_t i = 0; i < report->count; i++) {
        const record_t *r = &report->records[i];
        fprintf(report->csv, "%s,", r->of.verb);
        write_csv_text(report->csv, report->tables[r->table].device);
        putc(',', report->csv);
        write_csv_text(report->csv, report->tables[r->table].title);
        fprintf(report->csv, ",%s,", r->of.size);
        write_csv_text(report->csv, r->name);
        fprintf(report->csv, ",%s,%d,%.9g,%.9g,%.9g,%.9g,%s,", r->got.kernel, r->got.reps,
                r->got.median, r->got.q1, r->got.q3, r->rate, r->of.unit);
        if (!isnan(r->ratio))
            fprintf(report->csv, "%.6g", r->ratio);
        putc(',', report->csv);
        if (!isnan(r->got.error))
            fprintf(report->csv, "%.9g", r->got.error);
        fprintf(report->csv, ",%s\n", isnan(r->got.error) ? "" : r->of.error_kind);
    }
}

static void write_json_text(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', file);
        if ((unsigned char)*text < ' ')
            fprintf(file, "\\u%04x", (unsigned)*text);
        else
            putc(*text, file);
    }
    putc('"', file);
}

/* JSON has neither NaN, which is null here, nor infinity, which is the largest double. */
static void write_json_number(FILE *file, const char *key, double value)
{
    if (isnan(value))
        fprintf(file, ", \"%s\": null", key);
    else
        fprintf(file, ", \"%s\": %.17g", key, isinf(value) ? copysign(DBL_MAX, value) : value);
}

static void write_json(const report_t *report)
{
    FILE *file = report->json;

    fprintf(file, "{\"tilemm\": \"%s\", \"results\": [", tilemm_version());
    for (size_t i = 0; i < report->count; i++) {
        const record_t *r = &report->records[i];
        const struct {
            const char *key, *text;
        } texts[] = {
            {"device", report->tables[r->table].device},
            {"table", report->tables[r->table].title},
            {"size", r->of.size},
            {"version", r->name},
            {"kernel", r->got.kernel},
            {"unit", r->of.unit},
            {"error_kind", r->of.error_kind},
        };
        fprintf(file, "%s\n  {\"verb\": \"%s\"", i ? "," : "", r->of.verb);
        for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
            fprintf(file, ", \"%s\": ", texts[t].key);
            write_json_text(file, texts[t].text);
        }
        fprintf(file, ", \"repetitions\": %d", r->got.reps);
        write_json_number(file, "median_s", r->got.median);
        write_json_number(file, "q1_s", r->got.q1);
        write_json_number(file, "q3_s", r->got.q3);
        write_json_number(file, "rate", r->rate);
        write_json_number(file, "ratio", r->ratio);
        write_json_number(file, "error", r->got.error);
        putc('}', file);
    }
    fputs("\n]}\n", file);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void clear_progress(report_t *report)
{
    if (report->progress_shown)
        fputs("\r\033[K", stderr);
    report->progress_shown = 0;
}

void report_progress(report_t *report, const char *format, ...)
{
    va_list arguments;

    if (!report->on_terminal)
        return;
    clear_progress(report);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
    report->progress_shown = 1;
}

void report_note(report_t *report, const char *format, ...)
{
    va_list arguments;

    if (!report->table_stream)
        return;
    clear_progress(report);
    va_start(arguments, format);
    vfprintf(report->table_stream, format, arguments);
    va_end(arguments);
    fputc('\n', report->table_stream);
    fflush(report->table_stream);
}

/* The rows that report_case prints line up with these heads. */
static void print_heads(report_t *report, const char *unit)
{
    fprintf(report->table_stream, "%-*s %-16s %10s %7s %9s %6s %8s  %s\n", report->size_width,
            "size", "version", "median", "spread", unit, "ratio", "error", "kernel");
}

void report_table(report_t *report, const machine_t *machine, const char *format, ...)
{
    va_list arguments;
    table_t *tables, *table;

    tables = realloc(report->tables, (size_t)(report->table_count + 1) * sizeof *tables);
    if (!tables) {
        report->failed = command_error("no memory for the report");
        return;
    }
    report->tables = tables;
    table = &tables[report->table_count++];
    snprintf(table->device, sizeof table->device, "%s", machine->device);
    va_start(arguments, format);
    vsnprintf(table->title, sizeof table->title, format, arguments);
    va_end(arguments);
    if (!report->table_stream)
        return;
    clear_progress(report);
    if (report->table_count > 1)
        fputc('\n', report->table_stream);
    fprintf(report->table_stream, "%s; %s\n", table->title, table->device);
    fflush(report->table_stream);
}

static void format_seconds(double seconds, char *text, size_t size)
{
    if (seconds < 1e-6)
        snprintf(text, size, "%.1f ns", seconds * 1e9);
    else if (seconds < 1e-3)
        snprintf(text, size, "%.2f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(text, size, "%.3f ms", seconds * 1e3);
    else
        snprintf(text, size, "%.3f s", seconds);
}

static void print_record(report_t *report, const record_t *record, int first)
{
    const contender_t *got = &record->got;
    char median[24], spread[16], rate[24], ratio[16] = "", error[24] = "";

    format_seconds(got->median, median, sizeof median);
    snprintf(spread, sizeof spread, "%.1f %%",
             got->median > 0 ? 100 * (got->q3 - got->q1) / got->median : 0);
    snprintf(rate, sizeof rate, record->rate < 100 ? "%.2f" : "%.1f", record->rate);
    if (!isnan(record->ratio))
        snprintf(ratio, sizeof ratio, "%.2f", record->ratio);
    if (!isnan(got->error)) {
        if (record->of.error_is_count)
            snprintf(error, sizeof error, got->error > 0 ? "%.0f bad" : "exact", got->error);
        else
            snprintf(error, sizeof error,
                     isinf(got->error) ? "wrong"
                     : got->error > 0  ? "%.1e"
                                       : "0",
                     got->error);
    }
    fprintf(report->table_stream, "%-*s %-16s %10s %7s %9s %6s %8s  %s\n", report->size_width,
            first ? record->of.size : "", record->name, median, spread, rate, ratio, error,
            got->kernel);
}

void report_case(report_t *report, const bench_case_t *which, const contender_t *contenders,
                 int count)
{
    const double our_work = contenders[0].work > 0 ? contenders[0].work : which->work;
    const double our_rate = contenders[0].median > 0 ? our_work / contenders[0].median : 0;

    clear_progress(report);
    if (report->count + (size_t)count > report->room) {
        size_t room = 2 * report->room + 16;
        record_t *records = realloc(report->records, room * sizeof *records);
        if (!records) {
            report->failed = command_error("no memory for the report");
            return;
        }
        report->records = records;
        report->room = room;
    }
    if (report->table_stream &&
        (!report->count || report->records[report->count - 1].table != report->table_count - 1))
        print_heads(report, which->unit);
    for (int i = 0; i < count; i++) {
        record_t *record = &report->records[report->count++];
        const double work = contenders[i].work > 0 ? contenders[i].work : which->work;
        record->table = report->table_count - 1;
        record->of = *which;
        record->got = contenders[i];
        snprintf(record->name, sizeof record->name, "%s", contenders[i].name);
        record->rate = contenders[i].median > 0 ? work / contenders[i].median / 1e9 : 0;
        record->ratio = i && record->rate > 0 ? our_rate / 1e9 / record->rate : (double)NAN;
        if (report->table_stream)
            print_record(report, record, i == 0);
    }
    if (report->table_stream)
        fflush(report->table_stream);
    if (isinf(contenders[0].error) || (which->error_is_count && contenders[0].error > 0))
        report->wrong++;
}

/* ---- open and close ---------------------------------------------------------------------------
 */

static int open_file(const char *name, FILE **file)
{
    *file = NULL;
    if (!name)
        return 0;
    *file = strcmp(name, "-") == 0 ? stdout : fopen(name, "w");
    if (*file)
        return 0;
    command_error("%s: cannot be written: %s", name, strerror(errno));
    return -1;
}

static int close_file(const char *name, FILE *file)
{
    const int is_stdout = file == stdout;
    int failed;

    if (!file)
        return EXIT_OK;
    failed = fflush(file) != 0 || ferror(file);
    if (!is_stdout && fclose(file) != 0)
        failed = 1;
    return failed ? command_error("%s: cannot be written", is_stdout ? "standard output" : name)
                  : EXIT_OK;
}

report_t *report_open(const bench_options_t *options)
{
    report_t *report;
    int on_stdout = (options->csv && strcmp(options->csv, "-") == 0) ||
                    (options->json && strcmp(options->json, "-") == 0);

    if (options->plot && !has_gnuplot()) {
        command_error("--plot needs gnuplot, which is not installed (on Debian or Ubuntu: "
                      "apt-get install gnuplot-nox)");
        return NULL;
    }
    report = calloc(1, sizeof *report);
    if (!report) {
        command_error("no memory for the report");
        return NULL;
    }
    report->size_width = options->suite ? 34 : 18;
    report->table_stream = on_stdout ? NULL : stdout;
    report->csv_name = options->csv;
    report->json_name = options->json;
    report->plot_name = options->plot;
    report->on_terminal = isatty(STDERR_FILENO);
    if (open_file(options->csv, &report->csv) == 0 && open_file(options->json, &report->json) == 0)
        return report;
    if (report->csv)
        close_file(options->csv, report->csv);
    free(report);
    return NULL;
}

int report_close(report_t *report)
{
    int status = report->failed;

    clear_progress(report);
    if (report->table_stream && report->count) {
        fputs("\nmedian and spread (interquartile range) of the repetitions' times; ratio: "
              "tilemm's rate over\nthat version's; error against FP64:",
              report->table_stream);
        for (size_t i = 0; i < report->count; i++) {
            size_t j = 0;
            while (j < i &&
                   strcmp(report->records[j].of.error_kind, report->records[i].of.error_kind) != 0)
                j++;
            if (j == i)
                fprintf(report->table_stream, "%s %s", i ? ";" : "",
                        report->records[i].of.error_kind);
        }
        fputc('\n', report->table_stream);
    }
    if (report->csv)
        write_csv(report);
    if (report->json)
        write_json(report);
    if (close_file(report->csv_name, report->csv) != EXIT_OK ||
        close_file(report->json_name, report->json) != EXIT_OK)
        status = EXIT_FAILED;
    if (report->plot_name && draw_plot(report) != EXIT_OK)
        status = EXIT_FAILED;
    if (report->wrong)
        status = command_error("%d result%s of the library %s wrong", report->wrong,
                               report->wrong == 1 ? "" : "s", report->wrong == 1 ? "is" : "are");
    free(report->tables);
    free(report->records);
    free(report);
    return status;
}
