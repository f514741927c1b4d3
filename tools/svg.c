/* svg.c - see svg.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "svg.h"

void svg_text(FILE *file, int x, int y, const char *attributes, const char *text, int length)
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
