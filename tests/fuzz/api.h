/* api.h - fuzz target of the API: bytes become a call, of which one argument may be spoiled; a
 * judge that knows the header's rules, and nothing of the library, says what must come of it.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_FUZZ_API_H
#define TILEMM_TESTS_FUZZ_API_H

#include <string.h>

#include "fuzz.h"
#include "tests/support/support.h"

typedef struct {
    const uint8_t *at, *end;
    rng_t rng; /* for what operands hold */
} bytes_t;

enum { MOST_ARGUMENTS = 16 };

/* The integers of a call, enumerators among them, and for each pointer whether it is NULL. */
typedef struct {
    const char *name;
    int64_t v[MOST_ARGUMENTS];
    int count;
    int64_t spoilt; /* which argument, or -1 */
} call_t;

typedef enum {
    REFUSED,
    DONE,
    BEYOND /* right, but the operands here are too small for it */
} verdict_t;

/* What a call does with an operand: `lines` lines of `width` elements, ld apart, `batch` times,
 * stride apart; from element `first` on. */
typedef struct {
    int is_used, is_null;
    int64_t lines, width, ld, batch, stride;
    size_t size;
    int64_t first;
} use_t;

/* The next byte, 0 at the end; modulo `below`. */
static inline int next(bytes_t *in, int below)
{
    return in->at < in->end ? *in->at++ % below : 0;
}

static inline tilemm_layout_t next_layout(bytes_t *in)
{
    return next(in, 2) ? TILEMM_COL_MAJOR : TILEMM_ROW_MAJOR;
}

static inline tilemm_op_t next_op(bytes_t *in)
{
    return next(in, 2) ? TILEMM_TRANS : TILEMM_NO_TRANS;
}

/* A size: mostly small. */
int64_t next_size(bytes_t *in, int most);

/* Make one argument of three calls in four another value, which is often wrong. */
void spoil(bytes_t *in, call_t *call);

/* Room for `count` elements in an operand, and numbers in it. */
void place(bytes_t *in, operand_t *operand, int64_t count, size_t size);
void fill(bytes_t *in, operand_t *operand);

/* What the operands of a call allow, if all else is right; `room` elements are there. */
verdict_t judge_use(const use_t *use, const operand_t *operand);
static inline verdict_t worst(verdict_t a, verdict_t b)
{
    return a == REFUSED || b == REFUSED ? REFUSED : a == BEYOND ? a : b;
}

/* Compare a call's status with the verdict. Where it is refused, no operand may have changed. */
void check_status(tilemm_t ctx, const call_t *call, tilemm_status_t status, verdict_t verdict);

/* Fetch all operands: only what the library owns may have changed. */
void check_operands(const call_t *call);

/* "sgemm(101, 111, ...): kernel" */
const char *text_of(tilemm_t ctx, const call_t *call);

enum { OPERANDS = 3 };
extern operand_t operands[OPERANDS];

void fuzz_sgemm(tilemm_t ctx, bytes_t *in);
void fuzz_transpose(tilemm_t ctx, bytes_t *in);
void fuzz_vector(tilemm_t ctx, bytes_t *in, int nan_ignore);
void fuzz_axis(tilemm_t ctx, bytes_t *in, int nan_ignore);
void fuzz_segments(tilemm_t ctx, bytes_t *in, int nan_ignore);
void fuzz_model(bytes_t *in);

#endif
