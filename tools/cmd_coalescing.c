/* cmd_coalescing.c - `tilemm coalescing`: what a warp's access to global memory moves.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "access.h"
#include "command.h"

enum { LANES = 32, LINE = 128, SECTOR = 32, WORD = 4 };

static const char help[] =
    "Usage: tilemm coalescing [OPTION]... [FILE]\n"
    "Draw a warp's access to global memory: a row for each line of 128 bytes, lanes in its words.\n"
    "\n" ACCESS_HELP "      --no-l1                not cached in L1, which matters on 2.x and 3.x "
    "(cached)\n" ACCESS_OUTPUT_HELP "\n"
    "Examples:\n"
    "  tilemm coalescing --stride 2\n"
    "  tilemm coalescing --tile 1024x1024 --access column --svg column.svg\n";

/* The numbers of the blocks of `bytes` bytes that the active lanes touch, in increasing order; no
 * element straddles two. */
static int blocks_touched(const tilemm_warp_access_t *access, unsigned bytes, uint64_t *blocks)
{
    int count = 0;
    for (int lane = 0; lane < LANES; lane++) {
        const uint64_t block = access->addr[lane] / bytes;
        int at = count;
        if (!(access->active >> lane & 1))
            continue;
        while (at > 0 && blocks[at - 1] >= block)
            at--;
        if (at < count && blocks[at] == block)
            continue;
        memmove(blocks + at + 1, blocks + at, (size_t)(count - at) * sizeof *blocks);
        blocks[at] = block;
        count++;
    }
    return count;
}

static void draw(const access_request_t *request, const tilemm_transaction_t *moved, int count,
                 picture_t *picture)
{
    const tilemm_warp_access_t *access = &request->access;
    uint64_t lines[LANES];
    picture->count = blocks_touched(access, LINE, lines);
    for (int i = 0; i < picture->count; i++) {
        picture_row_t *row = &picture->rows[i];
        const uint64_t line = lines[i] * LINE;
        snprintf(row->label, sizeof row->label, "%" PRIu64, line);
        row->starts_group = i && lines[i] != lines[i - 1] + 1;
        for (int word = 0; word < LINE / WORD; word++) {
            const uint64_t from = line + (unsigned)(word * WORD);
            picture_cell_t *cell = &row->cells[word];
            for (int t = 0; t < count; t++)
                if (from >= moved[t].addr && from < moved[t].addr + (unsigned)moved[t].bytes)
                    cell->kind = CELL_MOVED;
            for (int lane = 0; lane < LANES; lane++)
                if (access->active >> lane & 1 && access->addr[lane] < from + WORD &&
                    access->addr[lane] + (unsigned)access->elem_bytes > from) {
                    cell->kind = cell->lanes ? CELL_SHARED : CELL_USED;
                    cell->lanes |= 1u << lane;
                }
        }
    }
}

static void print_json(const access_request_t *request, const tilemm_global_cost_t *cost,
                       const tilemm_transaction_t *moved, int sectors, int lines)
{
    puts("{");
    access_print_json(request);
    printf("  \"store\": %s,\n  \"cached_in_l1\": %s,\n  \"sectors\": %d,\n  \"lines\": %d,\n"
           "  \"bytes_requested\": %d,\n  \"bytes_moved\": %d,\n  \"efficiency\": %.6g,\n"
           "  \"transactions\": [",
           request->is_store ? "true" : "false", request->cached_in_l1 ? "true" : "false", sectors,
           lines, cost->bytes_requested, cost->transaction_bytes_total, cost->efficiency);
    for (int i = 0; i < cost->transactions; i++)
        printf("%s\n    {\"addr\": %" PRIu64 ", \"bytes\": %d}", i ? "," : "", moved[i].addr,
               moved[i].bytes);
    puts(cost->transactions ? "\n  ]\n}" : "]\n}");
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

int command_coalescing(int argc, char **argv)
{
    static picture_t picture;
    access_request_t request;
    tilemm_transaction_t moved[LANES];
    tilemm_global_cost_t cost;
    uint64_t blocks[LANES];
    int count, status = access_parse(argc, argv, help, &request);
    if (status)
        return -1 - status;
    if (tilemm_model_global(request.cc, request.cached_in_l1, request.is_store, &request.access,
                            &cost) != TILEMM_SUCCESS ||
        tilemm_model_transactions(request.cc, request.cached_in_l1, request.is_store,
                                  &request.access, moved, &count) != TILEMM_SUCCESS)
        return command_error("the model refuses the access");
    const int sectors = blocks_touched(&request.access, SECTOR, blocks);
    const int lines = blocks_touched(&request.access, LINE, blocks);
    snprintf(picture.title, sizeof picture.title, "Global memory, compute capability %d.%d, %s: %s",
             request.cc / 10, request.cc % 10, request.is_store ? "store" : "load", request.what);
    picture.heading = "address";
    picture.columns_heading = "word";
    picture.cell = "A cell is a word of 4 bytes, with its lane";
    picture.meanings[CELL_SHARED] = "several lanes want it";
    picture.meanings[CELL_MOVED] = "moved, and not wanted";
    picture.columns = LINE / WORD;
    picture.step = SECTOR / WORD;
    draw(&request, moved, count, &picture);
    if (count)
        snprintf(picture.summary, sizeof picture.summary,
                 "%d sector%s of 32 bytes in %d line%s of 128; %d bytes wanted, %d moved in %d "
                 "transaction%s: efficiency %.4g %%",
                 sectors, plural(sectors), lines, plural(lines), cost.bytes_requested,
                 cost.transaction_bytes_total, count, plural(count), 100 * cost.efficiency);
    else
        snprintf(picture.summary, sizeof picture.summary, "no lane is active");
    if (request.json)
        print_json(&request, &cost, moved, sectors, lines);
    return picture_show(&picture, &request);
}
