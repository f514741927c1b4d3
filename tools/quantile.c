/* quantile.c - see quantile.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "quantile.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_samples(double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, compare);
}

double quantile(const double *sorted, int count, double fraction)
{
    const double at = fraction * (count - 1);
    const int low = (int)at, high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}
