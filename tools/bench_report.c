/* bench_report.c - what `tilemm bench` has measured, as tables: plain, or Markdown.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_report.h"

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
    if (report->cases)
        fprintf(stderr, "case %d of %d, ", report->reported + 1, report->cases);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
    report->progress_shown = 1;
}

void report_note(report_t *report, const char *text)
{
    if (!report->table_stream)
        return;
    clear_progress(report);
    fprintf(report->table_stream, "%s%s\n", report->options->markdown ? "\n" : "", text);
    fflush(report->table_stream);
}

void report_begin(report_t *report, const machine_t *machine, int cases)
{
    if (!report->cases)
        report->cases = cases;
    report_describe(report->facts, machine, report->options->context.device);
}

void report_table(report_t *report, const machine_t *machine, const char *title)
{
    char head[640];
    table_t *tables = realloc(report->tables, (size_t)(report->table_count + 1) * sizeof *tables);
    if (!tables) {
        report->failed = command_error("no memory for the report");
        return;
    }
    report->tables = tables;
    table_t *table = &tables[report->table_count++];
    *table = (table_t){0};
    report_where(report->facts, machine, table->where, sizeof table->where);
    snprintf(table->device, sizeof table->device, "%s", machine->device);
    snprintf(table->title, sizeof table->title, "%s", title);
    if (!report->table_stream)
        return;
    clear_progress(report);
    if (report->table_count > 1)
        fputc('\n', report->table_stream);
    if (report->options->markdown) {
        snprintf(head, sizeof head, "%s", table->where);
        report_peers(machine, ", ", head, sizeof head);
        fprintf(report->table_stream, "### %s\n\n%s, %.10s\n", table->title, head,
                report->facts[FACT_DATE]);
    } else {
        fprintf(report->table_stream, "%s; %s\n", table->title, table->device);
    }
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

/* A record's figures as text. */
typedef struct {
    char median[24], spread[16], rate[24], ratio[16], error[24], norm[24];
} figures_t;

static figures_t format_figures(const record_t *record)
{
    const contender_t *got = &record->got;
    const double error = got->error;
    figures_t f = {"", "", "", "", "", ""};
    format_seconds(got->median, f.median, sizeof f.median);
    snprintf(f.spread, sizeof f.spread, "%.1f %%",
             got->median > 0 ? 100 * (got->q3 - got->q1) / got->median : 0);
    snprintf(f.rate, sizeof f.rate, record->rate < 100 ? "%.2f" : "%.1f", record->rate);
    if (!isnan(record->ratio))
        snprintf(f.ratio, sizeof f.ratio, "%.2f", record->ratio);
    if (!isnan(error) && record->of.error_is_count)
        snprintf(f.error, sizeof f.error, error > 0 ? "%.0f bad" : "exact", error);
    else if (!isnan(error))
        snprintf(f.error, sizeof f.error, isinf(error) ? "wrong" : error > 0 ? "%.1e" : "0", error);
    if (!isnan(got->norm_error))
        snprintf(f.norm, sizeof f.norm, "%.1e", got->norm_error);
    return f;
}

/* `has_norm`: with the column of errors by the norm. */
static void print_line(report_t *report, const char *size, const char *version, figures_t f,
                       int has_norm, const char *kernel)
{
    fprintf(report->table_stream, "%-*s %-16s %10s %7s %9s %6s %8s", report->size_width, size,
            version, f.median, f.spread, f.rate, f.ratio, f.error);
    if (has_norm)
        fprintf(report->table_stream, " %8s", f.norm);
    fprintf(report->table_stream, "  %s\n", kernel);
}

static void print_heads(report_t *report, const bench_case_t *of)
{
    figures_t f = {"median", "spread", "", "ratio", "error", "norm"};
    const char *norm = of->has_norm_error ? " norm |" : "", *line = *norm ? "---:|" : "";
    snprintf(f.rate, sizeof f.rate, "%s", of->unit);
    if (report->options->markdown)
        fprintf(report->table_stream,
                "\n| work | tilemm | %s | error |%s peer | time | %s | error |%s ratio | goal | "
                "kernel |\n|---|---:|---:|---:|%s---|---:|---:|---:|%s---:|---|---|\n",
                of->unit, norm, of->unit, norm, line, line);
    else
        print_line(report, "size", "version", f, of->has_norm_error, "kernel");
}

/* Whether a peer's goal is met by ours. */
static const char *verdict(const contender_t *ours, const contender_t *peer)
{
    return peer->median >= peer->goal * ours->median ? "met" : "missed";
}

/* A row for each peer, ours beside it in the first. */
static void print_markdown(report_t *report, const record_t *ours, int count)
{
    const figures_t none = {"", "", "", "", "", ""};
    const char *between = ours->of.has_norm_error ? " | " : "";
    for (int i = 1; i == 1 || i < count; i++) {
        const contender_t *peer = i < count ? &ours[i].got : NULL;
        const figures_t f = i == 1 ? format_figures(ours) : none;
        const figures_t g = peer ? format_figures(&ours[i]) : none;
        char goal[24] = "";
        if (peer && peer->goal > 0)
            snprintf(goal, sizeof goal, "%.2f %s", peer->goal, verdict(&ours->got, peer));
        fprintf(report->table_stream,
                "| %s | %s | %s | %s%s%s | %s | %s | %s | %s%s%s | %s | %s | %s |\n",
                i == 1 ? ours->of.size : "", f.median, f.rate, f.error, between, f.norm,
                peer ? peer->name : "", g.median, g.rate, g.error, between, g.norm, g.ratio, goal,
                i == 1 ? ours->got.kernel : "");
    }
}

void report_case(report_t *report, const bench_case_t *which, const contender_t *contenders,
                 int count)
{
    const size_t room = (report->count + (size_t)count) * sizeof(record_t);
    record_t *records = realloc(report->records, room);
    clear_progress(report);
    if (!records) {
        report->failed = command_error("no memory for the report");
        return;
    }
    report->records = records;
    record_t *ours = records + report->count;
    if (report->table_stream && (!report->count || ours[-1].table != report->table_count - 1))
        print_heads(report, which);
    for (int i = 0; i < count; i++) {
        const contender_t *got = &contenders[i];
        const double work = got->work > 0 ? got->work : which->work;
        record_t *record = &ours[i];
        *record = (record_t){.table = report->table_count - 1, .of = *which, .got = *got};
        if (got->goal > 0)
            append(record->got.kernel, sizeof record->got.kernel, "%sgoal %.2f: %s",
                   *got->kernel ? ", " : "", got->goal, verdict(contenders, got));
        record->rate = got->median > 0 ? work / got->median / 1e9 : 0;
        record->ratio = i && record->rate > 0 ? ours->rate / record->rate : (double)NAN;
        if (report->table_stream && !report->options->markdown)
            print_line(report, i ? "" : which->size, got->name, format_figures(record),
                       which->has_norm_error, record->got.kernel);
    }
    report->count += (size_t)count;
    report->reported++;
    if (report->table_stream && report->options->markdown)
        print_markdown(report, ours, count);
    if (report->table_stream)
        fflush(report->table_stream);
    if (isinf(contenders[0].error) || (which->error_is_count && contenders[0].error > 0))
        report->wrong++;
}

static int is_stdout(const char *name)
{
    return name && strcmp(name, "-") == 0;
}

/* 0 with *file NULL where there is no name. */
static int open_file(const char *name, output_t *output, FILE **file)
{
    *file = is_stdout(name) ? stdout : NULL;
    if (!name || *file)
        return 0;
    if (output_open(output, name) != 0)
        return -1;
    *file = output->file;
    return 0;
}

static int close_file(output_t *output, FILE *file, int status)
{
    if (file && file != stdout)
        return output_close(output, status);
    if (!file || (fflush(file) == 0 && !ferror(file)))
        return status;
    return command_error("standard output: cannot be written");
}

report_t *report_open(const bench_options_t *options)
{
    if (options->plot && report_check_plot(options->plot) != 0)
        return NULL;
    report_t *report = calloc(1, sizeof *report);
    if (!report) {
        command_error("no memory for the report");
        return NULL;
    }
    report->options = options;
    report->size_width = options->suite ? 40 : 18;
    report->table_stream = is_stdout(options->csv) || is_stdout(options->json) ? NULL : stdout;
    report->on_terminal = isatty(STDERR_FILENO);
    if ((!options->plot || output_check(options->plot) == 0) &&
        open_file(options->csv, &report->csv_output, &report->csv) == 0 &&
        open_file(options->json, &report->json_output, &report->json) == 0)
        return report;
    close_file(&report->csv_output, report->csv, EXIT_FAILED);
    free(report);
    return NULL;
}

/* Under the tables: what the columns mean, and each kind of error once. */
static void print_legend(const report_t *report)
{
    fputs(report->options->markdown
              ? "\nTimes are medians; ratio: tilemm's rate over the peer's; error against FP64:"
              : "\nmedian and spread (interquartile range) of the repetitions' times; ratio: "
                "tilemm's rate over\nthat version's; error against FP64:",
          report->table_stream);
    for (size_t i = 0; i < report->count; i++) {
        const char *kind = report->records[i].of.error_kind;
        size_t j = 0;
        while (strcmp(report->records[j].of.error_kind, kind) != 0)
            j++;
        if (j == i)
            fprintf(report->table_stream, "%s %s", i ? ";" : "", kind);
    }
    fputc('\n', report->table_stream);
}

/* The last record of the case that begins at `at`. */
static size_t case_end(const report_t *report, size_t at)
{
    while (at + 1 < report->count && !isnan(report->records[at + 1].ratio))
        at++;
    return at;
}

/* The largest ratio of our error to the first peer's, by the norm or element by element, where an
 * error that one rounding may make counts as `least`. */
static void print_error_ratio(const report_t *report, int table, int by_norm, double least)
{
    const record_t *worst = NULL;
    double largest = 0;
    for (size_t i = 0; i + 1 < report->count; i++) {
        const contender_t *ours = &report->records[i].got, *peer = &report->records[i + 1].got;
        const double error = by_norm ? ours->norm_error : ours->error;
        const double ratio = error / fmax(by_norm ? peer->norm_error : peer->error, least);
        if (report->records[i].table == table && isnan(report->records[i].ratio) &&
            !isnan(report->records[i + 1].ratio) && !isnan(ours->norm_error) &&
            !isnan(peer->norm_error) && ratio >= largest) {
            largest = ratio;
            worst = &report->records[i];
        }
    }
    if (worst)
        fprintf(report->table_stream, "; %s %.2f of the peer's, %s",
                by_norm ? "error by the norm at most" : "largest error at most", largest,
                worst->of.size);
}

/* Of a suite's table: the geometric mean of the ratios, one for each case that has a peer with a
 * goal (the last of these), and the worst ones. */
static void print_summary(const report_t *report, int table)
{
    double logs = 0, worst_ratio = HUGE_VAL, worst_part = HUGE_VAL;
    const record_t *worst = NULL, *furthest = NULL;
    int cases = 0, missed = 0;
    for (size_t i = 0, end; i < report->count; i = end + 1) {
        end = case_end(report, i);
        size_t peer = end;
        while (peer > i && report->records[peer].got.goal <= 0)
            peer--;
        if (report->records[i].table != table || peer == i)
            continue;
        const double ratio = report->records[peer].ratio, goal = report->records[peer].got.goal;
        cases++;
        logs += log(ratio);
        missed += ratio < goal;
        if (ratio < worst_ratio) {
            worst_ratio = ratio;
            worst = &report->records[i];
        }
        if (ratio / goal < worst_part) {
            worst_part = ratio / goal;
            furthest = &report->records[i];
        }
    }
    if (!cases)
        return;
    fprintf(report->table_stream, "%s%s: %d case%s, %d below the goal",
            report->options->markdown ? "\n" : "", report->tables[table].title, cases,
            cases == 1 ? "" : "s", missed);
    if (missed)
        fprintf(report->table_stream, " (at least %.2f of it, %s)", worst_part, furthest->of.size);
    print_error_ratio(report, table, 1, 0x1p-25); /* the norm of one rounding's errors */
    print_error_ratio(report, table, 0, 0x1p-24);
    fprintf(report->table_stream, ";%sgeometric mean %.2f, worst case %.2f, %s\n",
            report->options->markdown ? " " : "\n", exp(logs / cases), worst_ratio, worst->of.size);
}

int report_close(report_t *report)
{
    const bench_options_t *options = report->options;
    int status = report->failed;
    clear_progress(report);
    if (report->table_stream && report->count)
        print_legend(report);
    for (int t = 0; report->table_stream && options->suite && t < report->table_count; t++)
        print_summary(report, t);
    if (report->csv)
        report_write_csv(report);
    if (report->json)
        report_write_json(report);
    /* Without a result older files stay. */
    const int done = report->count ? EXIT_OK : EXIT_FAILED;
    if (close_file(&report->csv_output, report->csv, done) != done)
        status = EXIT_FAILED;
    if (close_file(&report->json_output, report->json, done) != done)
        status = EXIT_FAILED;
    if (options->plot && report_draw_plot(report) != EXIT_OK)
        status = EXIT_FAILED;
    if (report->wrong)
        status = command_error("%d result%s of the library %s wrong", report->wrong,
                               report->wrong == 1 ? "" : "s", report->wrong == 1 ? "is" : "are");
    free(report->tables);
    free(report->records);
    free(report);
    return status;
}
