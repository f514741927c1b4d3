/* cuda_model.h - a CUDA runtime of the tests' own: what is queued on a stream runs late, and
 * streams run in random order but for the events between them. A copy or kernel that is not ordered
 * after what it needs makes a wrong result. "Device" memory is the host's.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_CUDA_MODEL_H
#define TILEMM_TESTS_UNIT_CUDA_MODEL_H

#include "lib/cuda/cuda.h"

enum { MODEL_OPERANDS = 4, MODEL_ARGS = 256 };

typedef struct {
    const char *at;
    size_t bytes;
} model_operand_t;

typedef struct {
    tilemm__cuda_state_t state;
    int allocations;              /* streams, events and device memory that are there */
    int pinned_blocks;            /* likewise */
    int fail_pinned;              /* there is no pinned memory */
    int fail_copies_after;        /* so many copies; -1: never */
    size_t device_bytes;          /* that one allocation may have */
    size_t most_allocated, moved; /* bytes; of copies */
    int faults;                   /* found here: for the test to check */
    model_operand_t on_device[MODEL_OPERANDS]; /* what counts as the device's */
    const void *pinned[MODEL_OPERANDS];
} model_t;

extern model_t model;

void *model_need(void *memory); /* exits if it is NULL */
void model_start(void);
/* Queue a kernel on the context's stream: run() gets a copy of args. */
void model_call(void (*run)(const void *args), const void *args, size_t bytes);
/* Nothing is left of a call. */
void model_check_left(const char *what, int number);
void model_end(void);

#endif
