/* cmd_banks.c - `tilemm banks`: what a warp's access to shared memory does to the banks.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "access.h"
#include "command.h"

enum { MOST_SEARCHED = 16384 }; /* elements of a tile: the search takes a second at most */

static const char help[] =
    "Usage: tilemm banks [OPTION]... [FILE]\n"
    "Draw a warp's access to shared memory: banks across, wavefronts down, lanes in their cells.\n"
    "\n" ACCESS_HELP ACCESS_OUTPUT_HELP "\n"
    "Examples:\n"
    "  tilemm banks --tile 32x33 --access column\n"
    "  tilemm banks --expr 'row*32 + (col ^ row)' --access column --at 0,3 --svg swizzle.svg\n";

static void draw(const tilemm_bank_use_t *uses, int count, const tilemm_shared_cost_t *cost,
                 picture_t *picture)
{
    int first = 0; /* wavefront of a group */
    picture->count = cost->wavefronts;
    for (int w = 0; w < cost->wavefronts; w++)
        snprintf(picture->rows[w].label, sizeof picture->rows[w].label, "%d", w);
    for (int i = 0; i < count; i++) {
        picture_row_t *row = &picture->rows[uses[i].wavefront];
        picture_cell_t *cell = &row->cells[uses[i].bank];
        if (i == 0 || uses[i].group != uses[i - 1].group) {
            first = uses[i].wavefront;
            row->starts_group = 1;
        } else if (uses[i].wavefront > first) {
            snprintf(row->label, sizeof row->label, "%d (conflict)", uses[i].wavefront);
        }
        cell->kind = uses[i].wavefront > first ? CELL_CONFLICT
                     : cell->lanes             ? CELL_SHARED
                                               : CELL_USED;
        cell->lanes |= 1u << uses[i].lane;
    }
}

/* The pad and the swizzle that free the tile of conflicts for this access and for rows (for
 * columns, if this access is along rows). */
static void advise(const access_request_t *request, char *text, size_t size)
{
    tilemm_tile_access_t accesses[2] = {request->walk, {1, 32, 1}};
    tilemm_tile_layout_t best;
    if (request->walk.high == 1)
        accesses[1] = (tilemm_tile_access_t){32, 1, 1};
    for (int swizzle = 0; swizzle < 2; swizzle++) {
        if (tilemm_model_best_padding(request->cc, request->rows, request->cols,
                                      request->elem_bytes, accesses, 2, swizzle,
                                      &best) != TILEMM_SUCCESS ||
            best.conflicts || (swizzle && !best.mask))
            continue;
        append(text, size,
               "\nfree of conflicts, as are %s: ", accesses[1].high == 1 ? "rows" : "columns");
        if (best.mask)
            append(text, size, "row*%d + (col ^ (row >> %d & %d) * %d)", best.pitch, best.shift,
                   best.mask, best.group);
        else
            append(text, size, "rows of %d elements", best.pitch);
    }
}

static void summarise(const access_request_t *request, const tilemm_shared_cost_t *cost,
                      picture_t *picture)
{
    char *text = picture->summary;
    const size_t size = sizeof picture->summary;
    if (!cost->wavefronts)
        snprintf(text, size, "no lane is active");
    else if (!cost->conflicts)
        snprintf(text, size, "free of conflicts: %d wavefront%s", cost->wavefronts,
                 cost->wavefronts == 1 ? "" : "s");
    else
        snprintf(text, size, "%d wavefronts where %d would do: %d conflict%s, %d-way at worst",
                 cost->wavefronts, cost->ideal, cost->conflicts, cost->conflicts == 1 ? "" : "s",
                 cost->degree);
    if (cost->conflicts && request->rows && request->rows <= MOST_SEARCHED / request->cols)
        advise(request, text, size);
}

static void print_json(const access_request_t *request, const tilemm_shared_cost_t *cost,
                       const tilemm_bank_use_t *uses, int count)
{
    puts("{");
    access_print_json(request);
    printf("  \"wavefronts\": %d,\n  \"ideal\": %d,\n  \"conflicts\": %d,\n  \"degree\": %d,\n"
           "  \"uses\": [",
           cost->wavefronts, cost->ideal, cost->conflicts, cost->degree);
    for (int i = 0; i < count; i++)
        printf("%s\n    {\"lane\": %d, \"part\": %d, \"bank\": %d, \"group\": %d, "
               "\"wavefront\": %d}",
               i ? "," : "", uses[i].lane, uses[i].part, uses[i].bank, uses[i].group,
               uses[i].wavefront);
    puts(count ? "\n  ]\n}" : "]\n}");
}

int command_banks(int argc, char **argv)
{
    static picture_t picture;
    access_request_t request;
    tilemm_bank_use_t uses[TILEMM_MODEL_MOST_USES];
    tilemm_shared_cost_t cost;
    int count, status = access_parse(argc, argv, help, &request);
    if (status)
        return -1 - status;
    if ((request.is_store
             ? tilemm_model_shared(request.cc, &request.access, &cost)
             : tilemm_model_shared_load(request.cc, &request.access, &cost)) != TILEMM_SUCCESS ||
        tilemm_model_banks(request.cc, request.is_store, &request.access, uses, &count) !=
            TILEMM_SUCCESS)
        return command_error("the model refuses the access");
    snprintf(picture.title, sizeof picture.title, "Shared memory, compute capability %d.%d: %s",
             request.cc / 10, request.cc % 10, request.what);
    picture.heading = "wavefront";
    picture.columns_heading = "bank";
    picture.cell = "A cell is a bank in a wavefront, with its lane";
    picture.meanings[CELL_SHARED] = "several lanes share a word";
    picture.meanings[CELL_CONFLICT] = "a lane had to wait";
    picture.columns = request.cc < 20 ? 16 : 32;
    picture.step = 1;
    draw(uses, count, &cost, &picture);
    summarise(&request, &cost, &picture);
    if (request.json)
        print_json(&request, &cost, uses, count);
    return picture_show(&picture, &request);
}
