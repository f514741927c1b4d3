/* distribution.c - see distribution.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "distribution.h"

int64_t tilemm__dist_before(const tilemm__dist_t *d, int proc, int64_t line)
{
    if (line <= 0)
        return 0;
    if (d->procs == 1)
        return line;
    const int64_t last = tilemm__dist_block(d, line - 1); /* the block of the line before */
    const int64_t number = (proc - d->source + d->procs) % d->procs; /* its first block's */
    if (number > last)
        return 0;
    /* Blocks number, number + procs and so on up to `last`, of which the last may be cut. */
    const int64_t blocks = (last - number) / d->procs + 1;
    int64_t count = blocks * d->block;
    if (number == 0)
        count += d->first - d->block;
    if (number + (blocks - 1) * d->procs == last) {
        const int64_t end = d->first + last * d->block;
        count -= tilemm__max(end - line, 0);
    }
    return count;
}

int64_t tilemm__dist_count(const tilemm__dist_t *d, int proc)
{
    return tilemm__dist_before(d, proc, d->n);
}

int64_t tilemm__dist_most(const tilemm__dist_t *d)
{
    int64_t most = 0;
    for (int p = 0; p < d->procs; p++)
        most = tilemm__max(most, tilemm__dist_count(d, p));
    return most;
}

tilemm__dist_t tilemm__dist_part(const tilemm__dist_t *d, int64_t begin, int64_t n)
{
    tilemm__dist_t part = *d;
    const int64_t block = tilemm__dist_block(d, begin);
    part.n = n;
    part.first = d->first + block * d->block - begin;
    part.source = (int)((block + d->source) % d->procs);
    return part;
}

int tilemm__dist_same(const tilemm__dist_t *x, const tilemm__dist_t *y)
{
    if (x->n != y->n || x->procs != y->procs)
        return 0;
    if (x->procs == 1 || x->n == 0)
        return 1;
    if (x->source != y->source)
        return 0;
    if (x->first >= x->n && y->first >= y->n)
        return 1;
    if (x->first != y->first)
        return 0;
    return x->block == y->block || (x->n - x->first <= x->block && y->n - y->first <= y->block);
}

tilemm__run_t tilemm__dist_run(const tilemm__dist_t *d, int64_t line, int64_t end)
{
    const int64_t block = tilemm__dist_block(d, line);
    const int owner = (int)((block + d->source) % d->procs);
    const int64_t cut = d->procs == 1 ? end : tilemm__min(end, d->first + block * d->block);
    return (tilemm__run_t){line, cut, tilemm__dist_before(d, owner, line), owner};
}
