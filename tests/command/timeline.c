/* timeline.c - the drawing of a timeline: a bar for each step, where and as long as it ran, in a
 * row for each stream; files that are none.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fmemopen */
#endif
#include "tools/timeline.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

static const char heading[] = "device,stream,begin_s,end_s,work\n";

/* What is drawn of a trace, to be freed; NULL if it is refused. */
static char *draw(const char *trace)
{
    char *svg = NULL;
    size_t size;
    FILE *in = fmemopen((void *)(uintptr_t)trace, strlen(trace), "r");
    FILE *out = open_memstream(&svg, &size);
    CHECK(in && out, "no memory");
    const int result = in && out ? timeline_draw(in, "a <title>", out) : -1;
    if (in)
        fclose(in);
    if (out)
        fclose(out);
    CHECK(result == 0 || result == -1, "result %d", result);
    if (result == 0)
        return svg;
    free(svg);
    return NULL;
}

static int count(const char *text, const char *what)
{
    int found = 0;
    for (; (text = strstr(text, what)) != NULL; text += strlen(what))
        found++;
    return found;
}

static void refused(const char *lines)
{
    char trace[512];
    snprintf(trace, sizeof trace, "%s%s", heading, lines);
    char *svg = draw(trace);
    CHECK(!svg, "not refused: %s", lines);
    free(svg);
}

/* The bar whose text begins so: its left end and width. */
static void bar(const char *svg, const char *text, double *x, double *y, double *width)
{
    const char *at = strstr(svg, text);
    *x = *y = *width = -1;
    CHECK(at, "no bar '%s'", text);
    while (at && at > svg && strncmp(at, "<rect ", 6) != 0)
        at--;
    CHECK(at && sscanf(at, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\"", x, y, width) == 3, "%.60s",
          at ? at : "");
}

/* Up 0 to 4 ms and 4 to 8; compute 4 to 8 and 8 to 12; down 12 to 20: the axis has 20 ms. */
static void steps(void)
{
    char *svg = draw("device,stream,begin_s,end_s,work\n"
                     "0,up,1000.000,1000.004,4e6\n0,up,1000.004,1000.008,8000000\n"
                     "0,compute,1000.004,1000.008,4e9\n0,compute,1000.008,1000.012,4e9\n"
                     "0,down,1000.012,1000.020,1.6e7\n");
    CHECK(svg, "refused");
    if (!svg)
        return;
    double x[4], y[4], width[4];
    bar(svg, "up, 4.000 ms from 0.000 ms on, 4.0 MB", &x[0], &y[0], &width[0]);
    bar(svg, "up, 4.000 ms from 4.000 ms on, 8.0 MB", &x[1], &y[1], &width[1]);
    bar(svg, "compute, 4.000 ms from 8.000 ms on, 4.0 GFLOP", &x[2], &y[2], &width[2]);
    bar(svg, "down, 8.000 ms from 12.000 ms on, 16.0 MB", &x[3], &y[3], &width[3]);
    CHECK(count(svg, "<title>") == 5, "%d bars", count(svg, "<title>"));
    CHECK(y[0] == y[1] && y[1] < y[2] && y[2] < y[3], "rows at %g %g %g %g", y[0], y[1], y[2],
          y[3]);
    CHECK(x[1] - x[0] - width[0] < 0.1 && x[0] + width[0] - x[1] < 0.1, "bars do not follow");
    CHECK(width[3] > 1.99 * width[0] && width[3] < 2.01 * width[0], "widths %g and %g", width[0],
          width[3]);
    CHECK(x[2] > x[1] && x[3] > x[2], "the order of steps");
    CHECK(count(svg, ">up</text>") == 1 && count(svg, ">compute</text>") == 1, "rows' names");
    CHECK(strstr(svg, "busy 40 %, 1.5 GB/s") && strstr(svg, "busy 40 %, 1.0 TFLOP/s") &&
              strstr(svg, "busy 40 %, 2.0 GB/s"),
          "shares and rates");
    CHECK(strstr(svg, "a &lt;title&gt;") && strstr(svg, "milliseconds"), "title and axis");
    CHECK(!strncmp(svg, "<svg ", 5) && !strcmp(svg + strlen(svg) - 7, "</svg>\n"), "ends");
    free(svg);
}

/* Two devices, one of which is named twice: its streams overlap, and have two rows each. */
static void devices(void)
{
    char *svg = draw("device,stream,begin_s,end_s,work\n"
                     "1,compute,1,2,1\n1,compute,2,3,1\n"
                     "0,compute,1,2,1\n0,compute,1.5,3,1\n0,compute,2,3,1\n0,up C,1,1,0\n");
    CHECK(svg && count(svg, ">GPU 0 compute</text>") == 2, "rows of a device that is named twice");
    CHECK(svg && count(svg, ">GPU 1 compute</text>") == 1, "rows of another device");
    CHECK(svg && count(svg, ">GPU 0 up C</text>") == 1, "a step without length");
    free(svg);
}

int main(void)
{
    steps();
    devices();
    refused("");
    refused("0,up,1,2\n");
    refused("0,up,2,1,3\n");
    refused("0,up,nan,1,3\n");
    refused("0,up,1,inf,3\n");
    refused("0,up,1,2,3");
    refused("0,up,1,2,3 4\n");
    refused("x,up,1,2,3\n");
    refused("0,a name that is too long,1,2,3\n");
    char *svg = draw("begin,end\n1,2\n");
    CHECK(!svg, "another heading");
    free(svg);
    return check_exit();
}
