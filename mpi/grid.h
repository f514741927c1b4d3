/* grid.h - the grid, its processes' messages, and how they agree on a status.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_GRID_H
#define TILEMM_MPI_GRID_H

#include "tilemm_mpi.h"

#define TILEMM__PRINTF(string, first) __attribute__((format(printf, string, first)))

enum { TILEMM__MESSAGE_BYTES = 256 };

typedef struct tilemm__nccl tilemm__nccl_t;
typedef struct tilemm__ipc tilemm__ipc_t;
typedef struct tilemm__copies tilemm__copies_t;

/* Memory that stays from one product to the next (kept.h). */
enum { TILEMM__MOST_KEPT = 16 };
typedef struct {
    float *memory; /* NULL: this entry is free */
    tilemm_memory_t where;
    int64_t count; /* floats */
    int in_use;
} tilemm__kept_t;

struct tilemm_grid {
    tilemm_t ctx;
    int rows, cols;
    int row, col;       /* -1: this process is left over */
    int rank;           /* row * cols + col */
    MPI_Comm all;       /* the processes of the grid; MPI_COMM_NULL if left over */
    MPI_Comm across[2]; /* [0]: along this process's column, ranks are rows; [1]: along its row */
    int cuda;           /* the context is CUDA's */
    int check;          /* TILEMM_MPI_CHECK=1 */
    int log;            /* TILEMM_MPI_LOG=1, on the first process */
    int panel;          /* TILEMM_MPI_PANEL of the first process; 0: what the plan takes */
    int device_mpi;     /* MPI takes device memory */
    /* How panels go on GPUs: one of these, or none and by MPI. */
    tilemm__ipc_t *ipc;       /* the processes share a GPU, and read each other's operands */
    tilemm__copies_t *copies; /* by copy engines */
    tilemm__nccl_t *nccl;     /* by NCCL */
    tilemm__kept_t kept[TILEMM__MOST_KEPT];
    tilemm_grid_step_t step;
    void *user;
    char message[TILEMM__MESSAGE_BYTES]; /* what this process found wrong in this call */
};

/* libtilemm.so's own, under the version TILEMM_PRIVATE: store tilemm_last_error's text. */
tilemm_status_t tilemm__fail(tilemm_t ctx, tilemm_status_t status, const char *format, ...)
    TILEMM__PRINTF(3, 4);

/* Store the message of this process for tilemm__agree, and return status. */
tilemm_status_t tilemm__found(tilemm_grid_t grid, tilemm_status_t status, const char *format, ...)
    TILEMM__PRINTF(3, 4);

/* The same for what a call of libtilemm returned, with its message; TILEMM_SUCCESS stays. */
tilemm_status_t tilemm__passed(tilemm_grid_t grid, tilemm_status_t status);

/* An argument that all processes must have alike. */
typedef struct {
    const char *name;
    int64_t value; /* of a float its bits */
    int is_float;
    int entry; /* of a descriptor; -1 if it is none */
} tilemm__argument_t;

/* Arguments of a call: room for psgemm's, which has most. */
enum { TILEMM__MOST_ARGUMENTS = 48 };
typedef struct {
    tilemm__argument_t list[TILEMM__MOST_ARGUMENTS];
    int count;
} tilemm__arguments_t;
void tilemm__add_argument(tilemm__arguments_t *arguments, const char *name, int64_t value);
void tilemm__add_float(tilemm__arguments_t *arguments, const char *name, float value);
/* All of a descriptor but the leading dimension, if it can be read. */
void tilemm__add_descriptor(tilemm__arguments_t *arguments, const char *name, const int *desc);

/* Collective: the status of the process with the lowest number that has one other than
 * TILEMM_SUCCESS, and its message, on all. Arguments, which may be NULL, must
 * be the same on all, and so must `where`, the function. */
tilemm_status_t tilemm__agree(tilemm_grid_t grid, const char *where, tilemm_status_t status,
                              const tilemm__arguments_t *arguments);

/* Tell the grid's step function, if there is one. */
void tilemm__step(tilemm_grid_t grid, const char *name, double begin, double work);

#endif
