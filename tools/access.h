/* access.h - what `tilemm banks` and `tilemm coalescing` share: a warp's access as the command line
 * gives it, and its picture.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_ACCESS_H
#define TILEMM_TOOLS_ACCESS_H

#include <stdint.h>
#include <stdio.h>

#include "tilemm.h"

typedef struct {
    int cc;
    int is_store, cached_in_l1; /* coalescing */
    int color, json;            /* color: -1 where it depends on the terminal */
    const char *svg;            /* a file's name, - for standard output, or NULL */
    tilemm_warp_access_t access;
    char what[384]; /* the access in words */
    /* The tile, where there is one (rows > 0), and how the warp walks it. */
    int rows, cols, elem_bytes;
    tilemm_tile_access_t walk;
} access_request_t;

/* Takes the command line. Returns 0, or -1 - the status to exit with. */
int access_parse(int argc, char **argv, const char *help, access_request_t *request);

/* The lines of help for the options that access_parse() takes. */
#define ACCESS_HELP                                                                                \
    "Which addresses (one of these):\n"                                                            \
    "      --tile RxC             those of a tile of R rows of C elements, row by row\n"           \
    "      --stride N             lane i accesses element i * N\n"                                 \
    "      --expr E               the element that an expression gives, of lane, row, col and "    \
    "i:\n"                                                                                         \
    "                             + - * / % << >> & ^ | ~ ( ) as in C; with --tile, lanes "        \
    "beyond\n"                                                                                     \
    "                             the tile are not active\n"                                       \
    "  FILE                       up to 32 byte addresses, one for each lane, a dot for one "      \
    "that\n"                                                                                       \
    "                             is not active; - is standard input\n"                            \
    "\n"                                                                                           \
    "      --access row|column|HxW  the warp's lanes lie along a row, down a column, or in H "     \
    "rows\n"                                                                                       \
    "                             of W columns (row)\n"                                            \
    "      --at R,C               the row and column where they begin (0,0)\n"                     \
    "      --i N                  the value of i (0)\n"                                            \
    "      --elem 1|2|4|8|16      bytes of an element (4)\n"                                       \
    "      --vector N             neighbouring elements that a lane takes at once (1)\n"           \
    "      --base N               added to each byte address (0)\n"                                \
    "      --active MASK          the active lanes as a hexadecimal number (ffffffff)\n"           \
    "      --cc N                 compute capability, as 90 or 9.0 (90)\n"                         \
    "      --store                a store (a load)\n"
#define ACCESS_OUTPUT_HELP                                                                         \
    "      --color auto|always|never  in the picture (auto: on a terminal)\n"                      \
    "      --svg FILE             the picture as SVG; - is standard output\n"                      \
    "      --json                 the figures as JSON in place of the picture\n"                   \
    "  -h, --help                 this help\n"

typedef enum { CELL_EMPTY, CELL_MOVED, CELL_USED, CELL_SHARED, CELL_CONFLICT } cell_kind_t;

typedef struct {
    uint32_t lanes;
    cell_kind_t kind;
} picture_cell_t;

typedef struct {
    char label[24];
    int starts_group; /* a line goes above it */
    picture_cell_t cells[32];
} picture_row_t;

enum { PICTURE_MOST_ROWS = 129 };

typedef struct {
    char title[512];
    const char *heading; /* what the rows are */
    const char *columns_heading;
    const char *cell;                        /* what a cell is, in words */
    const char *meanings[CELL_CONFLICT + 1]; /* of the kinds that are marked, or NULL */
    char summary[512]; /* the figures in words; lines end with \n, but the last */
    int columns, step; /* every step-th column has its number above it */
    int count;
    picture_row_t rows[PICTURE_MOST_ROWS];
} picture_t;

/* Prints the picture, or writes it as SVG, as the request says. Returns the status to exit with. */
int picture_show(const picture_t *picture, const access_request_t *request);

/* "cc": ..., "elem_bytes": ..., "active": ..., "addr": [...], as a JSON object begins. */
void access_print_json(const access_request_t *request);

#endif
