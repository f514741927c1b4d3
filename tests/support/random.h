/* random.h - pseudo-random numbers, the same in every run.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_RANDOM_H
#define TILEMM_TESTS_SUPPORT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t state;
} rng_t;

uint64_t rng_bits(rng_t *rng);
int64_t rng_range(rng_t *rng, int64_t low, int64_t high); /* low <= result <= high */
double rng_unit(rng_t *rng);                              /* in [0, 1) */
void rng_bytes(rng_t *rng, void *bytes, size_t count);

/* A size from 0 to most: often 0, 1, or near a multiple of a tile. */
int64_t rng_size(rng_t *rng, int64_t most);

/* Of the program's own sequence: a number from 0 to below - 1, and a size below 2^bits of any order
 * of magnitude. */
int64_t pick(int64_t below);
int64_t pick_size(int bits);

/* Bytes of workspace: mostly all that is asked for. */
size_t pick_workspace(void);

typedef enum {
    FAMILY_SIGNED = 0, /* uniform in [-1, 1] */
    FAMILY_POSITIVE,   /* uniform in [0, 1] */
    FAMILY_NORMAL,
    FAMILY_WIDE,   /* magnitudes from 2^-30 to 2^30 */
    FAMILY_CANCEL, /* large values that nearly cancel among small ones */
    FAMILY_SUBNORMAL,
    FAMILY_INTEGER, /* -8 to 8: sums are exact */
    FAMILY_COUNT
} family_t;

float rng_float(rng_t *rng, family_t family);

#endif
