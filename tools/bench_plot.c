/* bench_plot.c - `tilemm bench --plot`: rate against size, drawn by gnuplot.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#include "bench_report.h"
#include "output.h"

/* A panel, which shows a table. */
enum { WIDTH = 600, HEIGHT = 440, COLUMNS = 3, TITLE_COLUMNS = 76 };

/* By the end of a file's name: the terminal, what a size is divided by, its unit then, options. */
typedef struct {
    const char *end, *terminal;
    double divisor;
    const char *unit, *options;
} format_t;

static const format_t *format_of(const char *path)
{
    static const format_t formats[] = {
        {".svg", "svg", 1, "", "dynamic font 'sans-serif,13' background rgb 'white'"},
        {".png", "pngcairo", 0.5, "", "font 'sans,10' fontscale 2 linewidth 2 pointscale 2"},
        {".pdf", "pdfcairo", 120, "in", "font 'sans,8'"},
        {".eps", "epscairo", 120, "in", "font 'sans,8' linewidth 2"},
    };
    const char *end = strrchr(path, '.');
    for (int i = 0; end && i < COUNT_OF(formats); i++)
        if (strcasecmp(end, formats[i].end) == 0)
            return &formats[i];
    return NULL;
}

int report_can_plot(const char *path)
{
    return format_of(path) != NULL;
}

int report_check_plot(const char *path)
{
    char command[96];
    snprintf(command, sizeof command, "gnuplot -d -e 'set terminal %s' </dev/null >/dev/null 2>&1",
             format_of(path)->terminal);
    const int status = system(command);
    if (status == -1 || WEXITSTATUS(status) == 127)
        return -command_error("--plot needs gnuplot, which is not installed (on Debian or Ubuntu: "
                              "apt-get install gnuplot-nox)");
    if (status)
        return -command_error("%s: the gnuplot that is installed has no terminal %s", path,
                              format_of(path)->terminal);
    return 0;
}

/* Ours is solid, heavy and with filled circles; peers are dashed, and most with open marks. */
static const struct {
    const char *color, *dashes;
    int point;
} styles[] = {
    {"#0060a8", "1", 7},          {"#c04000", "(8,5)", 4},  {"#007050", "(12,4,2,4)", 8},
    {"#555555", "(2,4)", 12},     {"#8030a0", "(16,6)", 1}, {"#906000", "(4,4)", 2},
    {"#a02050", "(8,3,2,3)", 10}, {"#404080", "(3,6)", 14},
};

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

/* The rate if a run took so long; the median's where that is not known. */
static double rate_at(const record_t *record, double seconds)
{
    return seconds > 0 ? record->rate * record->got.median / seconds : record->rate;
}

/* The smallest extent of a record's series that is larger than `last`; or infinity. */
static double next_extent(const report_t *report, size_t r, double last)
{
    double next = HUGE_VAL;
    for (size_t i = r; i < report->count; i++)
        if (is_same_series(&report->records[i], &report->records[r]) &&
            report->records[i].of.extent > last)
            next = fmin(next, report->records[i].of.extent);
    return next;
}

/* The points of a line, by size: extent, rate, and the rates of the quartiles. */
static void write_series(const report_t *report, size_t r, FILE *script)
{
    fprintf(script, "$d%zu << END\n", r);
    for (double at = next_extent(report, r, -1); at < HUGE_VAL; at = next_extent(report, r, at))
        for (size_t i = r; i < report->count; i++) {
            const record_t *record = &report->records[i];
            if (is_same_series(record, &report->records[r]) && record->of.extent == at)
                fprintf(script, "%.9g %.9g %.9g %.9g\n", at, record->rate,
                        rate_at(record, record->got.q3), rate_at(record, record->got.q1));
        }
    fputs("END\n", script);
}

/* A title in single quotes, on a new line after a comma where it becomes too long. */
static void write_title(FILE *script, const char *text)
{
    char line[TITLE_COLUMNS + 1];
    for (int length; *text; text += length) {
        length = (int)strlen(text);
        if (length > TITLE_COLUMNS) {
            length = TITLE_COLUMNS;
            while (length > 1 && strncmp(text + length - 2, ", ", 2) != 0)
                length--;
            length = length > 1 ? length : TITLE_COLUMNS;
        }
        snprintf(line, sizeof line, "%.*s", length, text);
        fputs(" . ", script);
        report_write_quoted(script, line, '\'');
        fputs(" . \"\\n\"", script);
    }
}

/* The axis of sizes: from power of two to power of two, with at most eight steps between them. */
static void write_axis(FILE *script, double low, double high)
{
    const int first = (int)floor(log2(fmax(low, 1)));
    const int last = (int)fmax(first + 1, ceil(log2(fmax(high, 1))));
    const int step = (last - first + 7) / 8;
    const char *separator = "set xtics (";
    for (int power = (first + step - 1) / step * step; power <= last; power += step) {
        fprintf(script, last <= 16 ? "%s'%.0f' " : "%s'2^{%.0f}' ", separator,
                last <= 16 ? ldexp(1, power) : power);
        fprintf(script, "%.0f", ldexp(1, power));
        separator = ", ";
    }
    fprintf(script, ")\nset logscale x 2\nset xrange [%.9g:%.9g]\n", ldexp(1 / 1.15, first),
            ldexp(1.15, last));
}

/* The parts of a plot command that draw each series of a table in its style. */
static void write_lines(const report_t *report, int t, const char *how, int titled, FILE *script)
{
    int style = 0;
    for (size_t r = 0; r < report->count; r++) {
        if (report->records[r].table != t || !is_new_series(report, r))
            continue;
        fprintf(script, "%s$d%zu using %s linestyle %d title ", style ? ", " : "", r, how,
                style % COUNT_OF(styles) + 1);
        report_write_quoted(script, titled ? report->records[r].got.name : "", '\'');
        style++;
    }
}

static void write_panel(const report_t *report, int t, FILE *script)
{
    const table_t *table = &report->tables[t];
    const bench_case_t *of = NULL;
    double low = HUGE_VAL, high = 0, top = 0;
    for (size_t r = 0; r < report->count; r++) {
        const record_t *record = &report->records[r];
        if (record->table != t)
            continue;
        of = &record->of;
        low = fmin(low, of->extent);
        high = fmax(high, of->extent);
        top = fmax(top, rate_at(record, record->got.q1));
    }
    if (!of)
        return;
    fputs("set title ''", script);
    write_title(script, table->title);
    write_title(script, table->where);
    fprintf(script, " . 'measured %s' noenhanced\n", report->facts[FACT_DATE]);
    fprintf(script,
            "set xlabel 'size: %s' . \"\\n\" noenhanced\n"
            "set ylabel '%s, median and quartiles' noenhanced\n",
            of->extent_name, of->unit);
    fprintf(script, "set yrange [0:%.9g]\n", top > 0 ? top * 1.05 : 1);
    write_axis(script, low, high);
    fputs("plot ", script);
    /* A suite's rows of one size are different work, which no line connects. */
    if (!report->options->suite && low < high) {
        write_lines(report, t, "1:3:4 with filledcurves", 0, script);
        fputs(", ", script);
        write_lines(report, t, "1:2 with linespoints", 1, script);
    } else {
        write_lines(report, t, "1:2:3:4 with yerrorbars", 1, script);
    }
    fputc('\n', script);
}

static void write_script(const report_t *report, FILE *script)
{
    const int columns = report->table_count < COLUMNS ? report->table_count : COLUMNS;
    const int rows = (report->table_count + COLUMNS - 1) / COLUMNS;
    const format_t *format = format_of(report->options->plot);
    fprintf(script, "set terminal %s size %.9g%s,%.9g%s enhanced %s\nset encoding utf8\n",
            format->terminal, columns * WIDTH / format->divisor, format->unit,
            rows * HEIGHT / format->divisor, format->unit, format->options);
    for (int i = 0; i < COUNT_OF(styles); i++)
        fprintf(script,
                "set style line %d linecolor rgb '%s' linewidth %s dashtype %s pointtype %d\n",
                i + 1, styles[i].color, i ? "1.4" : "2.5", styles[i].dashes, styles[i].point);
    fputs("set style fill transparent solid 0.2 noborder\n"
          "set key below noenhanced samplen 6\n"
          "set grid linecolor rgb '#c8c8c8' linewidth 0.5 dashtype 1\n",
          script);
    for (size_t r = 0; r < report->count; r++)
        if (is_new_series(report, r))
            write_series(report, r, script);
    fprintf(script, "set multiplot layout %d,%d\n", rows, columns);
    for (int t = 0; t < report->table_count; t++)
        write_panel(report, t, script);
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
    snprintf(command, sizeof command, "exec gnuplot -d >/dev/fd/%d", fileno(output.file));
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
