/* model.h - the time that a product takes on a machine that is described by a few rates: pure
 * functions of the plan.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_MPI_MODEL_H
#define TILEMM_TOOLS_MPI_MODEL_H

#include "tool.h"

/* A machine. Ranks go by rows of the grid, and node by node. */
typedef struct {
    double rate;     /* floating-point operations a second of a process in products */
    double overhead; /* seconds that a product of panels takes beyond that */
    double latency;  /* seconds of a message */
    /* More seconds of a message, and of a byte, for each process without a processor of its own. */
    double message_turn, byte_turn;
    double link, within; /* bytes a second that a process receives: from other nodes, in its own */
    int per_node;        /* processes of a node */
    int processors;      /* of the machine for all of them; 0: a process has its own */
    int overlaps;        /* messages travel while processes multiply */
} machine_t;

typedef struct {
    double seconds, compute, travel; /* compute and travel may overlap */
    double efficiency;               /* of processes times rate */
} estimate_t;

void model_estimate(const machine_t *machine, const size3_t *size, int rows, int cols,
                    const tilemm_psgemm_plan_t *plan, estimate_t *estimate);

/* The verb's options. */
typedef struct {
    counts_t nodes;
    int per_node, block[2], check_block[2], no_check, markdown;
    sizes_t sizes, check_sizes;
    float link, nvlink, rate, latency, overhead;
    const char *csv;
} model_options_t;

/* A product of these sizes and blocks. */
problem_t model_problem(const size3_t *size, const int block[2]);

/* Measure products on 2, 4, 8 ... of the processes, and print the estimates beside them. The
 * largest error is *worst. Collective. 0, or -1. */
int model_check(const model_options_t *options, double *worst);

#endif
