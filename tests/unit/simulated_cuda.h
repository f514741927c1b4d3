/* simulated_cuda.h - a CUDA runtime of the tests' own: what is queued on a stream runs late, and
 * streams run in random order but for the events between them. A copy or kernel that is not ordered
 * after what it needs makes a wrong result. "Device" memory is the host's. And what of the library
 * is not under test.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_SIMULATED_CUDA_H
#define TILEMM_TESTS_UNIT_SIMULATED_CUDA_H

#include <stdio.h>

#include "lib/cuda/cuda.h"

enum { SIMULATED_DEVICES = 4, SIMULATED_ARGS = 256 };

typedef struct {
    int allocations;               /* streams, events and device memory that are there */
    int pinned_blocks;             /* likewise, but for what is freed by free() */
    int fail_pinned;               /* there is no pinned memory */
    int fail_copies_after;         /* copies that succeed before; -1: never fail */
    int slow_device;               /* takes twice the time; -1: none */
    int sgemm_device;              /* where a product has run last; -1: none has */
    size_t device_bytes;           /* that one allocation may have */
    size_t most_allocated, moved;  /* bytes: of an allocation; of all copies */
    size_t direct;                 /* and of those from or to pageable memory */
    int kept;                      /* lines that a product did not have to prepare */
    int ran_on[SIMULATED_DEVICES]; /* how often simulated_note() was called */
    int faults;                    /* found here: for the test to check */
} simulated_t;

extern simulated_t simulated;

/* For the files that simulate: the test counts what is wrong there at its end, since check.h counts
 * for one file. */
#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition) && simulated.faults++ < 20) {                                             \
            fprintf(stderr, "failed: %s: ", #condition);                                           \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
        }                                                                                          \
    } while (0)

void *need(void *memory); /* exits if it is NULL */
tilemm__cuda_traits_t simulated_traits(void);

/* Memory that is not plain host memory: a device's ordinal, or one of these. */
enum { PINNED = -1, MANAGED = -2, PAGEABLE = -3 };
void set_place(const void *memory, size_t bytes, int place);
int place_at(const void *pointer);
void forget_places(void);

/* Queue a kernel, which gets a copy of args, or a copy. */
void simulated_call(cudaStream_t stream, void (*run)(const void *args), const void *args,
                    size_t bytes);
void simulated_copy(cudaStream_t stream, void *to, const void *from, size_t bytes);
void simulated_note(tilemm_t ctx);

/* Forget what has run. */
void forget(void);
/* Nothing is left of a call. Forgets what has run, and all places. */
void check_left(tilemm_t ctx, const char *what, int number);

/* What the file of a call's timeline says was done on the streams up, up C, compute and down, in
 * bytes or operations; then the file is removed. Each stream's steps follow each other. */
void read_timeline(const char *path, double work[4]);

/* One product, at once. */
void multiply(const tilemm__sgemm_args_t *args);

#endif
