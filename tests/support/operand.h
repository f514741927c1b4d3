/* operand.h - operands in every kind of memory, between guard bytes and guard pages.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_OPERAND_H
#define TILEMM_TESTS_SUPPORT_OPERAND_H

#include "random.h"
#include "tilemm.h"

typedef enum { PLACE_HOST = 0, PLACE_DEVICE, PLACE_MANAGED, PLACE_PINNED, PLACE_COUNT } place_t;

const char *place_name(place_t place);

/* Host for a CPU context, mostly the device for a CUDA context. */
place_t rng_place(rng_t *rng, tilemm_backend_t backend);

enum { GUARD_BYTES = 256 };

/* Memory in one place. */
typedef struct {
    unsigned char *memory;
    size_t capacity;
} region_t;

/* Memory for one argument of a call. Starts as zeros, and can be prepared again and again. Host
 * memory lies between two pages that cannot be accessed; guard bytes are on both sides where they
 * fit. The test works on `image`, the library on the memory at `pointer`. */
typedef struct {
    unsigned char *image;
    float *numbers;    /* the image as floats */
    const float *sent; /* the image as it was sent */
    void *pointer;
    size_t bytes;
    place_t place;
    size_t guard_before, guard_after, capacity;
    unsigned char *store, *saved, *owned, *memory;
    region_t region[PLACE_COUNT];
} operand_t;

/* Make room for `bytes` bytes, `offset` bytes behind an address that is a multiple of 256. With a
 * negative offset the last byte of host memory is the one before the guard page. The image is
 * filled with 0xff: NaN. */
void operand_prepare(operand_t *operand, place_t place, size_t bytes, int64_t offset);

/* A random offset for operand_prepare: negative, or a multiple of `alignment`. */
int64_t rng_offset(rng_t *rng, size_t alignment);

/* Copy the image to the memory, of which the library may write nothing then; */
void operand_send(operand_t *operand);
/* and let it write these bytes. */
void operand_own(operand_t *operand, size_t first_byte, size_t bytes);
/* Make image and memory again what was sent. The library may write the same bytes as before. */
void operand_resend(operand_t *operand);

/* Copy the memory to the image; waits for the GPU. */
void operand_fetch(operand_t *operand);

/* Whether all bytes that the library may not write, guards included, are as they were sent. */
int operand_intact(const operand_t *operand);

void operand_free(operand_t *operand);

#endif
