/* quantile.h - medians and quartiles of samples.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_QUANTILE_H
#define TILEMM_TOOLS_QUANTILE_H

void sort_samples(double *samples, int count);

/* The value below which this fraction of the samples lies, interpolated between two samples. */
double quantile(const double *sorted, int count, double fraction);

#endif
