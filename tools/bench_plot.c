/* bench_plot.c - `tilemm bench --plot`: rate against size, drawn by gnuplot.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2 */
#endif

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_report.h"

extern char **environ;

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

int report_has_gnuplot(void)
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

int report_draw_plot(const report_t *report)
{
    output_t output;

    if (!report->count)
        return EXIT_OK;
    if (output_open(&output, report->plot_name) != 0)
        return EXIT_FAILED;
    return output_close(&output, run_gnuplot(report, output.fd));
}
