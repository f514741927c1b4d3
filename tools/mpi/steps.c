/* steps.c - `tilemm-mpi bench --timeline`: the steps of a product on all processes, drawn.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "tools/output.h"
#include "tools/timeline.h"

/* A step, as processes send it. */
typedef struct {
    char name[16];
    double begin, end, work;
} step_t;

typedef struct {
    step_t *steps;
    int count, room, failed;
    double start;
} steps_t;

static void take_step(const char *name, double begin, double end, double work, void *user)
{
    steps_t *s = user;
    if (s->count == s->room) {
        const int room = s->room ? 2 * s->room : 256;
        step_t *steps = realloc(s->steps, (size_t)room * sizeof *steps);
        if (!steps) {
            s->failed = 1;
            return;
        }
        s->steps = steps;
        s->room = room;
    }
    step_t *step = &s->steps[s->count++];
    *step = (step_t){.begin = begin - s->start, .end = end - s->start, .work = work};
    snprintf(step->name, sizeof step->name, "%s", name);
}

static void write_steps(FILE *trace, int process, const steps_t *s)
{
    for (int i = 0; i < s->count; i++)
        fprintf(trace, "%d,%s,%.9f,%.9f,%.0f\n", process, s->steps[i].name, s->steps[i].begin,
                s->steps[i].end, s->steps[i].work);
}

/* The first process writes the steps of all, in the form that timeline_draw_of reads. */
static int gather(const place_t *place, steps_t *s, FILE *trace)
{
    const int step_tag = 1;
    int failed = 0;
    if (place->rank != 0) {
        MPI_Send(&s->count, 1, MPI_INT, 0, step_tag, place->comm);
        MPI_Send(s->steps, s->count * (int)sizeof(step_t), MPI_BYTE, 0, step_tag, place->comm);
        return 0;
    }
    fputs("device,stream,begin_s,end_s,work\n", trace);
    write_steps(trace, 0, s);
    for (int process = 1; process < place->size; process++) {
        steps_t other = {0};
        MPI_Recv(&other.count, 1, MPI_INT, process, step_tag, place->comm, MPI_STATUS_IGNORE);
        other.steps = malloc(((size_t)other.count + 1) * sizeof(step_t));
        if (!other.steps) {
            failed = -command_error("no memory for the timeline");
            MPI_Abort(place->comm, EXIT_FAILED);
        }
        MPI_Recv(other.steps, other.count * (int)sizeof(step_t), MPI_BYTE, process, step_tag,
                 place->comm, MPI_STATUS_IGNORE);
        write_steps(trace, process, &other);
        free(other.steps);
    }
    return failed;
}

static int draw(FILE *trace, const char *title, const char *path)
{
    output_t output;
    if (output_open(&output, path) != 0)
        return -1;
    rewind(trace);
    const int drawn = timeline_draw_of(
        trace, title,
        "A bar is a step: panels on their way along rows and columns of the grid, products, parts "
        "of C added up.",
        "process", output.file);
    return output_close(&output, drawn == 0 ? EXIT_OK : EXIT_FAILED) == EXIT_OK ? 0 : -1;
}

int draw_timeline(problem_t *p, const char *title, const char *path)
{
    const place_t *place = p->place;
    steps_t steps = {0};
    FILE *trace = place->rank == 0 ? tmpfile() : NULL;
    int failed = place->rank == 0 && !trace ? command_error("no file for the timeline") : 0;
    failed = failed || run_tilemm(p, NULL) != 0;
    if (!any_failed(place, failed)) {
        tilemm_grid_set_step(place->grid, take_step, &steps);
        MPI_Barrier(place->comm);
        steps.start = MPI_Wtime();
        failed = run_tilemm(p, NULL) != 0;
        tilemm_grid_set_step(place->grid, NULL, NULL);
        if (steps.failed)
            failed = command_error("no memory for the timeline");
        failed = any_failed(place, failed) || gather(place, &steps, trace) != 0;
        if (!failed && place->rank == 0)
            failed = draw(trace, title, path) != 0;
    } else {
        failed = 1;
    }
    if (trace)
        fclose(trace);
    free(steps.steps);
    return any_failed(place, failed) ? -1 : 0;
}
