/* picture.c - the picture of a warp's access: a grid of words, drawn in the terminal or as SVG.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "access.h"
#include "command.h"
#include "output.h"

enum { LANES = 32, LABEL = 12 /* characters */, FULL_CELL = 3, NARROW_CELL = 2 };

static int wants_color(int color)
{
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
    if (color >= 0)
        return color;
    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 && !(none && *none);
}

/* Narrow cells, without the mark after the lane, where the terminal is not wide enough. */
static int cell_width(int columns)
{
    struct winsize window;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 &&
        window.ws_col > 0 && window.ws_col < LABEL + columns * FULL_CELL)
        return NARROW_CELL;
    return FULL_CELL;
}

/* The lowest lane; + where there are several, ! where it had to wait. */
static void print_cell(const picture_cell_t *cell, int width, int color)
{
    static const char *const colors[] = {"2", "33", "32", "36", "31"}; /* of each cell_kind_t */
    char text[16];
    if (cell->lanes)
        snprintf(text, sizeof text, "%2d%c", __builtin_ctz(cell->lanes),
                 __builtin_popcount(cell->lanes) > 1 ? '+'
                 : cell->kind == CELL_CONFLICT       ? '!'
                                                     : ' ');
    else
        strcpy(text, cell->kind == CELL_MOVED ? " - " : " . ");
    text[width] = '\0';
    if (color)
        printf("\033[%sm%s\033[0m", colors[cell->kind], text);
    else
        fputs(text, stdout);
}

static void print_picture(const picture_t *p, int color)
{
    const int width = cell_width(p->columns);
    printf("%s\n\n%-*s", p->title, LABEL, p->heading);
    for (int column = 0; column < p->columns; column += p->step)
        printf("%2d%*s", column, column + p->step < p->columns ? p->step * width - 2 : 0, "");
    putchar('\n');
    for (int i = 0; i < p->count; i++) {
        const picture_row_t *row = &p->rows[i];
        if (i && row->starts_group)
            putchar('\n');
        printf("%-*s", LABEL, row->label);
        for (int column = 0; column < p->columns; column++)
            print_cell(&row->cells[column], width, color);
        putchar('\n');
    }
    printf("\n%s\n%s\n", p->legend, p->summary);
}

enum { CELL_X = 25, CELL_Y = 19, LEFT = 88, TOP = 52, MARGIN = 12, LINE = 17 };
enum { GAP = 7 }; /* above a row that starts a group */

static void put_text(FILE *file, int x, int y, const char *attributes, const char *text, int length)
{
    fprintf(file, "<text x=\"%d\" y=\"%d\"%s>", x, y, attributes);
    for (int i = 0; i < length && text[i]; i++)
        switch (text[i]) {
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        case '&': fputs("&amp;", file); break;
        default: putc(text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?', file);
        }
    fputs("</text>\n", file);
}

static void put_cell(FILE *file, const picture_cell_t *cell, int x, int y)
{
    static const char *const colors[] = {[CELL_MOVED] = "#fbe3a4\" stroke=\"none",
                                         [CELL_USED] = "#bfe3bf\" stroke=\"none",
                                         [CELL_SHARED] = "#bcd9f2\" stroke=\"none",
                                         [CELL_CONFLICT] = "#f3b0a8\" stroke=\"#c0392b"};
    if (cell->kind == CELL_EMPTY)
        return;
    fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>", x, y,
            CELL_X - 1, CELL_Y - 1, colors[cell->kind]);
    if (cell->lanes) {
        fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", x + CELL_X / 2, y + 13);
        if (__builtin_popcount(cell->lanes) > 1) {
            fputs("<title>lanes", file);
            for (int lane = 0; lane < LANES; lane++)
                if (cell->lanes >> lane & 1)
                    fprintf(file, " %d", lane);
            fputs("</title>", file);
        }
        fprintf(file, "%d%s</text>", __builtin_ctz(cell->lanes),
                __builtin_popcount(cell->lanes) > 1 ? "+" : "");
    }
    putc('\n', file);
}

/* A row's empty cells: one strip, and white lines between them. */
static void put_row(FILE *file, const picture_row_t *row, int columns, int y)
{
    put_text(file, MARGIN, y + 13, "", row->label, INT_MAX);
    fprintf(file,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#f2f2f2\" stroke=\"none\"/>"
            "<path stroke=\"#fff\" d=\"",
            LEFT, y, columns * CELL_X - 1, CELL_Y - 1);
    for (int column = 1; column < columns; column++)
        fprintf(file, "M%d.5 %dv%d", LEFT + column * CELL_X - 1, y, CELL_Y - 1);
    fputs("\"/>\n", file);
    for (int column = 0; column < columns; column++)
        put_cell(file, &row->cells[column], LEFT + column * CELL_X, y);
}

/* The lines of a text, one below the other. Returns where the next one would be. */
static int put_lines(FILE *file, int y, const char *text)
{
    for (int length; *text; text += length + (text[length] == '\n'), y += LINE) {
        length = (int)strcspn(text, "\n");
        put_text(file, MARGIN, y, "", text, length);
    }
    return y;
}

static int count_lines(const char *text)
{
    int lines = 1;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void write_svg(FILE *file, const picture_t *p)
{
    int y = TOP, bottom = TOP;
    for (int i = 0; i < p->count; i++)
        bottom += CELL_Y + (i && p->rows[i].starts_group ? GAP : 0);
    const int width = LEFT + p->columns * CELL_X + MARGIN;
    const int height = bottom + 8 + LINE * (1 + count_lines(p->summary)) + MARGIN / 2;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            width, height, width, height, width, height);
    put_text(file, MARGIN, 20, " font-size=\"13\" font-weight=\"bold\"", p->title, INT_MAX);
    put_text(file, MARGIN, TOP - 8, "", p->heading, INT_MAX);
    for (int column = 0; column < p->columns; column += p->step)
        fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#666\">%d</text>\n",
                LEFT + column * CELL_X + CELL_X / 2, TOP - 8, column);
    for (int i = 0; i < p->count; i++, y += CELL_Y) {
        if (i && p->rows[i].starts_group)
            y += GAP;
        put_row(file, &p->rows[i], p->columns, y);
    }
    y = put_lines(file, y + 8 + LINE / 2, p->legend);
    put_lines(file, y, p->summary);
    fputs("</svg>\n", file);
}

int picture_show(const picture_t *picture, const access_request_t *request)
{
    output_t output;
    if (request->svg && strcmp(request->svg, "-") == 0) {
        write_svg(stdout, picture);
        return EXIT_OK;
    }
    if (!request->json)
        print_picture(picture, wants_color(request->color));
    if (!request->svg)
        return EXIT_OK;
    if (output_open(&output, request->svg) != 0)
        return EXIT_FAILED;
    write_svg(output.file, picture);
    return output_close(&output, EXIT_OK);
}
