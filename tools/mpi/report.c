/* report.c - the figures as CSV, and a scaling table as SVG.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "tools/svg.h"

int report_add(report_t *report, const problem_t *p, const contender_t *got, int threads)
{
    if (report->count == report->room) {
        const int room = report->room ? 2 * report->room : 32;
        record_t *records = realloc(report->records, (size_t)room * sizeof *records);
        if (!records)
            return -command_error("no memory for the report");
        report->records = records;
        report->room = room;
    }
    record_t *r = &report->records[report->count++];
    const double flops = 2.0 * (double)p->size.m * (double)p->size.n * (double)p->size.k;
    const int is_ours = got->run == run_tilemm;
    *r = (record_t){.processes = p->place->size,
                    .rows = p->place->rows,
                    .cols = p->place->cols,
                    .block = {p->block[0], p->block[1]},
                    .threads = threads,
                    .size = p->size,
                    .reps = got->reps,
                    .median = got->median,
                    .q1 = got->q1,
                    .q3 = got->q3,
                    .gflops = flops / got->median * 1e-9,
                    .error = got->error,
                    .bytes = is_ours ? p->plan.bytes : NAN,
                    .bound = is_ours ? p->plan.bound : NAN,
                    .efficiency = NAN};
    snprintf(r->name, sizeof r->name, "%s", got->name);
    r->trans[0] = p->transa == TILEMM_NO_TRANS ? 'n' : 't';
    r->trans[1] = p->transb == TILEMM_NO_TRANS ? 'n' : 't';
    return 0;
}

static void put_number(FILE *file, double x, int digits, char end)
{
    if (!isnan(x))
        fprintf(file, "%.*g", digits, x);
    putc(end, file);
}

void report_csv(const report_t *report, FILE *file)
{
    fputs("version,processes,rows,cols,block_rows,block_cols,threads,trans,m,n,k,repetitions,"
          "median_s,q1_s,q3_s,gflops,error,bytes,bound,efficiency\n",
          file);
    for (int i = 0; i < report->count; i++) {
        const record_t *r = &report->records[i];
        fprintf(file, "\"%s\",%d,%d,%d,%d,%d,%d,%s,%lld,%lld,%lld,%d,", r->name, r->processes,
                r->rows, r->cols, r->block[0], r->block[1], r->threads, r->trans,
                (long long)r->size.m, (long long)r->size.n, (long long)r->size.k, r->reps);
        put_number(file, r->median, 9, ',');
        put_number(file, r->q1, 9, ',');
        put_number(file, r->q3, 9, ',');
        put_number(file, r->gflops, 9, ',');
        put_number(file, r->error, 6, ',');
        put_number(file, r->bytes, 15, ',');
        put_number(file, r->bound, 15, ',');
        put_number(file, r->efficiency, 6, '\n');
    }
}

enum { WIDTH = 720, HEIGHT = 420, LEFT = 70, RIGHT = 210, TOP = 60, BOTTOM = 50 };

/* Processes are on a logarithmic axis. */
static double x_of(double processes, double most)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (most > 1 ? log(processes) / log(most) : 0);
}

static double y_of(double efficiency, double top)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * efficiency / top;
}

static int is_first(const report_t *report, int of)
{
    for (int i = 0; i < of; i++)
        if (strcmp(report->records[i].name, report->records[of].name) == 0)
            return 0;
    return !isnan(report->records[of].efficiency);
}

static void put_axes(const report_t *report, double most, double top, FILE *file)
{
    char text[32];
    for (int i = 0; i <= 10; i++) {
        const double value = top * i / 10, y = y_of(value, top);
        fprintf(file, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", LEFT,
                y, WIDTH - RIGHT, y);
        snprintf(text, sizeof text, "%.2f", value);
        svg_text(file, LEFT - 8, (int)y + 4, " text-anchor=\"end\" fill=\"#666\"", text, INT_MAX);
    }
    for (int i = 0; i < report->count; i++) {
        const record_t *r = &report->records[i];
        snprintf(text, sizeof text, "%d", r->processes);
        if (strcmp(r->name, report->records[0].name) == 0)
            svg_text(file, (int)x_of(r->processes, most), HEIGHT - BOTTOM + 18,
                     " text-anchor=\"middle\" fill=\"#666\"", text, INT_MAX);
    }
    svg_text(file, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, " text-anchor=\"middle\" fill=\"#666\"",
             "processes", INT_MAX);
}

static void put_line(const report_t *report, const char *name, const char *color, double most,
                     double top, FILE *file)
{
    fprintf(file, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", color);
    for (int i = 0; i < report->count; i++) {
        const record_t *r = &report->records[i];
        if (strcmp(r->name, name) == 0 && !isnan(r->efficiency))
            fprintf(file, "%.1f,%.1f ", x_of(r->processes, most), y_of(r->efficiency, top));
    }
    fputs("\"/>\n", file);
    for (int i = 0; i < report->count; i++) {
        const record_t *r = &report->records[i];
        if (strcmp(r->name, name) == 0 && !isnan(r->efficiency))
            fprintf(file,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>%s, %d processes, "
                    "%lldx%lldx%lld: %.4g s, %.1f GFLOP/s, efficiency %.3f</title></circle>\n",
                    x_of(r->processes, most), y_of(r->efficiency, top), color, r->name,
                    r->processes, (long long)r->size.m, (long long)r->size.n, (long long)r->size.k,
                    r->median, r->gflops, r->efficiency);
    }
}

void report_svg(const report_t *report, const char *title, FILE *file)
{
    static const char *const colors[] = {"#0060a8", "#c04000", "#007050", "#555555"};
    double most = 1, top = 1;
    int series = 0;
    for (int i = 0; i < report->count; i++) {
        most = fmax(most, report->records[i].processes);
        if (!isnan(report->records[i].efficiency))
            top = fmax(top, report->records[i].efficiency);
    }
    top = ceil(top * 5 - 1e-9) / 5;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    svg_text(file, 12, 22, " font-size=\"14\" font-weight=\"bold\"", title, INT_MAX);
    svg_text(file, 12, 42, " fill=\"#666\"",
             "Efficiency: the rate of a process over that of libtilemm's first row.", INT_MAX);
    put_axes(report, most, top, file);
    for (int i = 0; i < report->count; i++)
        if (is_first(report, i)) {
            const char *color = colors[series % COUNT_OF(colors)];
            const int y = TOP + 10 + 20 * series++;
            put_line(report, report->records[i].name, color, most, top, file);
            fprintf(file, "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/>\n", WIDTH - RIGHT + 20,
                    y, color);
            svg_text(file, WIDTH - RIGHT + 30, y + 4, "", report->records[i].name, 30);
        }
    fputs("</svg>\n", file);
}
