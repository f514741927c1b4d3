/* timeline.c - see timeline.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "timeline.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "svg.h"

enum { UP, COMPUTE, DOWN, ROW_PANELS, COLUMN_PANELS, REDUCE, REDISTRIBUTE, KINDS };
enum { MAX_ROWS = 256 };
enum { WIDTH = 1000, LEFT = 130, RIGHT = 190, TOP = 60, ROW = 26, BAR = 18, GAP = 10, MARGIN = 12 };

/* The colours differ in brightness too. */
static const struct {
    const char *name, *color;
} kinds[KINDS] = {[UP] = {"up", "#4a86c8"},
                  [COMPUTE] = {"compute", "#2e7d4f"},
                  [DOWN] = {"down", "#e39a35"},
                  [ROW_PANELS] = {"row", "#4a86c8"},
                  [COLUMN_PANELS] = {"column", "#e39a35"},
                  [REDUCE] = {"reduce", "#a04080"},
                  [REDISTRIBUTE] = {"redistribute", "#777777"}};

typedef struct {
    int device, row;
    char stream[16];
    double begin, end, work; /* seconds; bytes or operations */
} step_t;

/* Steps of one stream, which follow each other. A device that is named twice has two of each. */
typedef struct {
    int device, kind;
    char stream[16];
    double end, busy, work;
} row_t;

typedef struct {
    step_t *steps;
    size_t count, room;
    row_t rows[MAX_ROWS];
    int row_count;
    double begin, end;
} timeline_t;

static int kind_of(const char *stream)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (strncmp(stream, kinds[kind].name, strlen(kinds[kind].name)) == 0)
            return kind;
    return COMPUTE;
}

static int add_step(timeline_t *t, const step_t *step)
{
    const size_t room = t->room ? 2 * t->room : 256;
    if (t->count == t->room) {
        step_t *steps = realloc(t->steps, room * sizeof *steps);
        if (!steps)
            return command_error("no memory for the timeline");
        t->steps = steps;
        t->room = room;
    }
    t->begin = t->count ? fmin(t->begin, step->begin) : step->begin;
    t->end = t->count ? fmax(t->end, step->end) : step->end;
    t->steps[t->count++] = *step;
    return 0;
}

static int read_steps(timeline_t *t, FILE *trace)
{
    static const char heading[] = "device,stream,begin_s,end_s,work\n";
    char line[256], rest;
    if (!fgets(line, sizeof line, trace) || strcmp(line, heading) != 0)
        return command_error("the timeline has another heading than %.*s", (int)sizeof heading - 2,
                             heading);
    while (fgets(line, sizeof line, trace)) {
        step_t step;
        if (sscanf(line, "%d,%15[^,],%lf,%lf,%lf%c", &step.device, step.stream, &step.begin,
                   &step.end, &step.work, &rest) != 6 ||
            rest != '\n' || !isfinite(step.begin) || !isfinite(step.end) || !isfinite(step.work) ||
            step.end < step.begin)
            return command_error("the timeline has a malformed line: %.*s",
                                 (int)strcspn(line, "\n"), line);
        if (add_step(t, &step) != 0)
            return -1;
    }
    return t->count ? 0 : command_error("the timeline has no step");
}

static int by_begin(const void *a, const void *b)
{
    const step_t *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* A stream's row for each step: the first of its device and name that has nothing then. */
static int find_rows(timeline_t *t)
{
    const double tolerance = 2e-6; /* seconds: what the clocks of events differ by */
    qsort(t->steps, t->count, sizeof *t->steps, by_begin);
    for (size_t i = 0; i < t->count; i++) {
        step_t *step = &t->steps[i];
        int r = 0;
        while (r < t->row_count &&
               (t->rows[r].device != step->device || strcmp(t->rows[r].stream, step->stream) ||
                t->rows[r].end > step->begin + tolerance))
            r++;
        if (r == MAX_ROWS)
            return command_error("the timeline has more than %d streams", MAX_ROWS);
        row_t *row = &t->rows[r];
        if (r == t->row_count) {
            *row = (row_t){.device = step->device, .kind = kind_of(step->stream)};
            memcpy(row->stream, step->stream, sizeof row->stream);
            t->row_count++;
        }
        row->end = step->end;
        row->busy += step->end - step->begin;
        row->work += step->work;
        step->row = r;
    }
    return 0;
}

/* Where each row is drawn: by device, then in the order up, compute, down. */
static int place_rows(const timeline_t *t, int *y, int *bottom)
{
    int order[MAX_ROWS], devices = 0, at = TOP, last = INT_MIN;
    for (int i = 0; i < t->row_count; i++) {
        int j = i;
        for (; j > 0; j--) {
            const row_t *before = &t->rows[order[j - 1]], *row = &t->rows[i];
            if (before->device < row->device ||
                (before->device == row->device && before->kind <= row->kind))
                break;
            order[j] = order[j - 1];
        }
        order[j] = i;
    }
    for (int i = 0; i < t->row_count; i++) {
        const int device = t->rows[order[i]].device;
        devices += device != last;
        at += i && device != last ? GAP : 0;
        y[order[i]] = at;
        at += ROW;
        last = device;
    }
    *bottom = at;
    return devices;
}

/* 1, 2 or 5 times a power of ten, so that at most ten steps make `span`. */
static double tick_of(double span)
{
    const double power = pow(10, floor(log10(span / 10)));
    const double times = span / 10 / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static double x_of(const timeline_t *t, double seconds)
{
    const double span = t->end - t->begin;
    return LEFT + (WIDTH - LEFT - RIGHT) * (span > 0 ? (seconds - t->begin) / span : 0);
}

static void put_axis(FILE *svg, const timeline_t *t, int bottom)
{
    const double span = t->end - t->begin;
    const int is_short = span < 0.01;
    const double scale = is_short ? 1e6 : 1e3, tick = span > 0 ? tick_of(span * scale) : 1;
    char text[64];
    for (double at = 0; at <= span * scale * (1 + 1e-9); at += tick) {
        const int x = (int)x_of(t, t->begin + at / scale);
        fprintf(svg, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#ddd\"/>\n", x,
                TOP - 4, x, bottom);
        snprintf(text, sizeof text, "%g", at);
        svg_text(svg, x, bottom + 15, " text-anchor=\"middle\" fill=\"#666\"", text, INT_MAX);
        if (span <= 0)
            break;
    }
    svg_text(svg, WIDTH - RIGHT + 10, bottom + 15, " fill=\"#666\"",
             is_short ? "microseconds" : "milliseconds", INT_MAX);
}

static void put_row(FILE *svg, const timeline_t *t, const row_t *row, int y, const char *device)
{
    const double span = t->end - t->begin;
    char text[96] = "";
    if (*device)
        append(text, sizeof text, "%s %d ", device, row->device);
    append(text, sizeof text, "%s", row->stream);
    svg_text(svg, MARGIN, y + 13, "", text, INT_MAX);
    snprintf(text, sizeof text, "busy %.0f %%, %.1f %s", span > 0 ? 100 * row->busy / span : 0,
             row->busy > 0 ? row->work / row->busy / (row->kind == COMPUTE ? 1e12 : 1e9) : 0,
             row->kind == COMPUTE ? "TFLOP/s" : "GB/s");
    svg_text(svg, WIDTH - RIGHT + 10, y + 13, " fill=\"#666\"", text, INT_MAX);
    fprintf(svg, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#f4f4f4\"/>\n", LEFT, y,
            WIDTH - LEFT - RIGHT, BAR);
}

static void put_step(FILE *svg, const timeline_t *t, const step_t *step, int y)
{
    const row_t *row = &t->rows[step->row];
    const double x = x_of(t, step->begin), width = x_of(t, step->end) - x;
    /* A white edge parts steps that follow at once, where they are wide enough for it. */
    fprintf(
        svg,
        "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"%s><title>%s, %.3f ms "
        "from %.3f ms on, %.1f %s</title></rect>\n",
        x, y, fmax(width, 0.2), BAR, kinds[row->kind].color,
        width > 3 ? " stroke=\"#fff\" stroke-width=\"0.6\"" : "", kinds[row->kind].name,
        1e3 * (step->end - step->begin), 1e3 * (step->begin - t->begin),
        step->work / (row->kind == COMPUTE ? 1e9 : 1e6), row->kind == COMPUTE ? "GFLOP" : "MB");
}

int timeline_draw(FILE *trace, const char *title, FILE *svg)
{
    return timeline_draw_of(
        trace, title,
        "A bar is a step on its stream: operands on their way up to the device, products, "
        "results on their way down.",
        "GPU", svg);
}

int timeline_draw_of(FILE *trace, const char *title, const char *explanation, const char *device,
                     FILE *svg)
{
    timeline_t t = {0};
    int y[MAX_ROWS], bottom, failed = read_steps(&t, trace) != 0 || find_rows(&t) != 0;
    if (!failed) {
        const int devices = place_rows(&t, y, &bottom), height = bottom + 30;
        fprintf(svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
                "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                WIDTH, height, WIDTH, height, WIDTH, height);
        svg_text(svg, MARGIN, 20, " font-size=\"14\" font-weight=\"bold\"", title, INT_MAX);
        svg_text(svg, MARGIN, 40, " fill=\"#666\"", explanation, INT_MAX);
        put_axis(svg, &t, bottom);
        for (int r = 0; r < t.row_count; r++)
            put_row(svg, &t, &t.rows[r], y[r], devices > 1 ? device : "");
        for (size_t i = 0; i < t.count; i++)
            put_step(svg, &t, &t.steps[i], y[t.steps[i].row]);
        fputs("</svg>\n", svg);
    }
    free(t.steps);
    return failed ? -1 : 0;
}
