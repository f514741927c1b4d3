/* bench_timeline.c - `tilemm bench gemm --timeline`: a product in a context that writes when its
 * steps ran, and the drawing of these.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "output.h"
#include "timeline.h"

/* In a context that writes to `path`: once to warm up, and once for the file. */
static int run_recorded(const machine_t *machine, bench_problem_t *p, const char *path, int fd)
{
    const bench_options_t *o = p->options;
    machine_t other = *machine;
    setenv("TILEMM_TIMELINE", path, 1);
    other.ctx = command_context(&o->context);
    unsetenv("TILEMM_TIMELINE");
    if (!other.ctx)
        return -1;
    int failed =
        check_ours(&other, tilemm_set_stream(other.ctx, machine->stream)) ||
        check_ours(&other, tilemm_set_math(other.ctx, (tilemm_math_t)o->math)) ||
        check_ours(&other, tilemm_set_device_memory(other.ctx, (size_t)o->device_memory)) ||
        p->contenders[0].run(&other, p);
    if (!failed && ftruncate(fd, 0) != 0)
        failed = command_error("the timeline's file cannot be emptied");
    failed = failed || p->contenders[0].run(&other, p);
    tilemm_destroy(other.ctx);
    return failed ? -1 : 0;
}

static int draw(const machine_t *machine, const bench_problem_t *p, FILE *trace)
{
    char title[320];
    output_t output;
    snprintf(title, sizeof title, "SGEMM %s", p->which.size);
    append_memory(p->options, title, sizeof title);
    append(title, sizeof title, "; %s", machine->device);
    if (output_open(&output, p->options->timeline) != 0)
        return EXIT_FAILED;
    return output_close(&output,
                        timeline_draw(trace, title, output.file) == 0 ? EXIT_OK : EXIT_FAILED);
}

int bench_timeline(const machine_t *machine, bench_problem_t *p)
{
    char path[32];
    const int fd = memfd_create("timeline", MFD_CLOEXEC);
    if (fd < 0)
        return -command_error("no file in memory for the timeline");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    FILE *trace = fdopen(fd, "r");
    int status = trace ? EXIT_OK : command_error("no memory for the timeline");
    if (status == EXIT_OK && run_recorded(machine, p, path, fd) != 0)
        status = EXIT_FAILED;
    if (status == EXIT_OK && lseek(fd, 0, SEEK_END) == 0)
        status = command_error("--timeline: a product so small goes up whole, in no steps; "
                               "--device-memory with less than its operands divides it");
    rewind(trace);
    if (status == EXIT_OK)
        status = draw(machine, p, trace);
    if (trace)
        fclose(trace);
    else
        close(fd);
    return status == EXIT_OK ? 0 : -1;
}
