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
#include "svg.h"

enum { LANES = 32, LABEL = 14 /* characters */, FULL_CELL = 3, NARROW_CELL = 2 };

/* How a kind of cell is marked, and its colour's name and code in the terminal and SVG. */
static const struct {
    char mark;
    const char *name, *code, *svg_name, *svg_code;
} styles[] = {[CELL_EMPTY] = {' ', "grey", "2", "grey", ""},
              [CELL_MOVED] = {'-', "yellow", "33", "yellow", "#fbe3a4\" stroke=\"none"},
              [CELL_USED] = {' ', "green", "32", "green", "#bfe3bf\" stroke=\"none"},
              [CELL_SHARED] = {'+', "cyan", "36", "blue", "#bcd9f2\" stroke=\"none"},
              [CELL_CONFLICT] = {'!', "red", "31", "red", "#f3b0a8\" stroke=\"#c0392b"}};

/* A lane's mark: ! where it had to wait, which counts more than that others share its word. */
static char mark_of(const picture_cell_t *cell)
{
    return cell->kind != CELL_CONFLICT && __builtin_popcount(cell->lanes) > 1
               ? styles[CELL_SHARED].mark
               : styles[cell->kind].mark;
}

/* "A cell is ...; ! (red) a lane had to wait.": the marks and the colours that are drawn. */
static const char *make_legend(const picture_t *p, int marks, int color, int svg)
{
    static char text[256];
    snprintf(text, sizeof text, "%s", p->cell);
    for (int kind = 0; kind < COUNT_OF(styles); kind++) {
        const char *name = svg ? styles[kind].svg_name : styles[kind].name;
        const int marked = marks || kind == CELL_MOVED; /* the mark of a cell without a lane */
        if (!p->meanings[kind] || !(marked || color))
            continue;
        append(text, sizeof text, "; ");
        if (marked)
            append(text, sizeof text, color ? "%c (%s)" : "%c", styles[kind].mark, name);
        append(text, sizeof text, "%s %s", marked ? "" : name, p->meanings[kind]);
    }
    append(text, sizeof text, ".");
    return text;
}

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

/* The lowest lane, and its mark. */
static void print_cell(const picture_cell_t *cell, int width, int color, int column)
{
    /* Narrow neighbours touch: every other one is bold. */
    const char *bold = width == NARROW_CELL && column % 2 && cell->lanes ? "1;" : "";
    char text[16];
    if (cell->lanes)
        snprintf(text, sizeof text, "%2d%c", __builtin_ctz(cell->lanes), mark_of(cell));
    else
        snprintf(text, sizeof text, " %c ", cell->kind == CELL_MOVED ? '-' : '.');
    text[width] = '\0';
    if (color)
        printf("\033[%s%sm%s\033[0m", bold, styles[cell->kind].code, text);
    else
        fputs(text, stdout);
}

static void print_picture(const picture_t *p, int color)
{
    const int width = cell_width(p->columns);
    /* In narrow cells the numbers of all columns would touch. */
    const int step = width == NARROW_CELL && p->step == 1 ? 2 : p->step;
    printf("%s\n\n%*s%s\n%-*s", p->title, LABEL + 1, "", p->columns_heading, LABEL, p->heading);
    for (int column = 0; column < p->columns; column += step)
        printf("%2d%*s", column, column + step < p->columns ? step * width - 2 : 0, "");
    putchar('\n');
    for (int i = 0; i < p->count; i++) {
        const picture_row_t *row = &p->rows[i];
        if (i && row->starts_group)
            putchar('\n');
        printf("%-*s", LABEL, row->label);
        for (int column = 0; column < p->columns; column++)
            print_cell(&row->cells[column], width, color, column);
        putchar('\n');
    }
    printf("\n%s\n%s\n", make_legend(p, width == FULL_CELL, color, 0), p->summary);
}

enum { CELL_X = 25, CELL_Y = 19, LEFT = 106, TOP = 30 /* below the title */, MARGIN = 12 };
enum { LINE = 17, GAP = 7 /* above a row that starts a group */ };
/* The widest letters on average of a common sans-serif font, in points. */
enum { LETTER = 7, TITLE_LETTER = 9 };

static void put_cell(FILE *file, const picture_cell_t *cell, int x, int y)
{
    const char mark[2] = {mark_of(cell), '\0'};
    if (cell->kind == CELL_EMPTY)
        return;
    fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>", x, y,
            CELL_X - 1, CELL_Y - 1, styles[cell->kind].svg_code);
    fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", x + CELL_X / 2, y + 13);
    if (__builtin_popcount(cell->lanes) > 1) {
        fputs("<title>lanes", file);
        for (int lane = 0; lane < LANES; lane++)
            if (cell->lanes >> lane & 1)
                fprintf(file, " %d", lane);
        fputs("</title>", file);
    }
    if (cell->lanes)
        fprintf(file, "%d", __builtin_ctz(cell->lanes));
    fprintf(file, "%s</text>\n", *mark == ' ' ? "" : mark);
}

/* A row's empty cells: one strip, and white lines between them. */
static void put_row(FILE *file, const picture_row_t *row, int columns, int y)
{
    svg_text(file, MARGIN, y + 13, "", row->label, INT_MAX);
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

/* The lines of a text, one below the other, broken at blanks where they are wider than `most`
 * letters; without a file they are counted only. Returns where the next one would be. */
static int put_lines(FILE *file, int y, const char *attributes, const char *text, int most)
{
    for (int length; *text; text += length + (text[length] == '\n' || text[length] == ' ')) {
        length = (int)strcspn(text, "\n");
        if (length > most) {
            length = most;
            while (length > most / 2 && text[length] != ' ')
                length--;
            length = text[length] == ' ' ? length : most;
        }
        if (file)
            svg_text(file, MARGIN, y, attributes, text, length);
        y += LINE;
    }
    return y;
}

static void write_svg(FILE *file, const picture_t *p)
{
    static const char bold[] = " font-size=\"13\" font-weight=\"bold\"";
    const int width = LEFT + p->columns * CELL_X + MARGIN;
    const int letters = (width - 2 * MARGIN) / LETTER;
    const int title_letters = (width - 2 * MARGIN) / TITLE_LETTER;
    const char *legend = make_legend(p, 1, 1, 1);
    const int top = put_lines(NULL, 20, bold, p->title, title_letters) + TOP;
    int y = top, bottom = top + 8 + LINE / 2;
    for (int i = 0; i < p->count; i++)
        bottom += CELL_Y + (i && p->rows[i].starts_group ? GAP : 0);
    const int height =
        put_lines(NULL, put_lines(NULL, bottom, "", legend, letters), "", p->summary, letters);
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            width, height, width, height, width, height);
    put_lines(file, 20, bold, p->title, title_letters);
    svg_text(file, LEFT, top - 8 - LINE, " fill=\"#666\"", p->columns_heading, INT_MAX);
    svg_text(file, MARGIN, top - 8, " fill=\"#666\"", p->heading, INT_MAX);
    for (int column = 0; column < p->columns; column += p->step)
        fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#666\">%d</text>\n",
                LEFT + column * CELL_X + CELL_X / 2, top - 8, column);
    for (int i = 0; i < p->count; i++, y += CELL_Y) {
        if (i && p->rows[i].starts_group)
            y += GAP;
        put_row(file, &p->rows[i], p->columns, y);
    }
    put_lines(file, put_lines(file, bottom, "", legend, letters), "", p->summary, letters);
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
