/* plan_multi.h - how several GPUs divide a problem: who has which lines, and what travels. Pure
 * functions, tested without a GPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_PLAN_MULTI_H
#define TILEMM_LIB_PLAN_MULTI_H

#include "kernels/args.h"

enum { TILEMM__MOST_DEVICES = 64 };

/* Where an operand lies, if not on a device, which is its ordinal. */
enum { TILEMM__ON_HOST = -1, TILEMM__ANYWHERE = -2 /* managed memory */ };

/* The members of a context. A device may be several of them. */
typedef struct {
    int count;
    int ordinal[TILEMM__MOST_DEVICES];
    double rate[TILEMM__MOST_DEVICES]; /* of work, beside the others' */
    int peers;                         /* each reads the others' memory, without the host */
    double start;                      /* seconds by which a divided problem begins later */
} tilemm__multi_devices_t;

/* How many times as fast as the host, by PCIe 5, a member reaches another's memory. */
double tilemm__multi_peer_link(const tilemm__multi_devices_t *devices);

/* Member i has [begin[i], begin[i + 1]) of `total` things: its rate's share, rounded so that each
 * share begins at a multiple of `unit`. */
void tilemm__multi_shares(const tilemm__multi_devices_t *devices, int64_t total, int64_t unit,
                          int64_t begin[TILEMM__MOST_DEVICES + 1]);

/* The same of things that lie on the host, of `bytes` in all that go up or come down: all of them
 * are one member's where that takes less time. Returns how many members have any. */
int tilemm__plan_multi_host(const tilemm__multi_devices_t *devices, int64_t total, int64_t unit,
                            double bytes, int64_t begin[TILEMM__MOST_DEVICES + 1]);

/* A product. Each member has some rows of C, or columns (`side` is 0 or 1), and the rows of op(A),
 * or columns of op(B), that belong to them; and all of the other operand. */
typedef struct {
    int used; /* members that have any; 1: `begin` gives all to the one that has most of it */
    int side;
    int64_t begin[TILEMM__MOST_DEVICES + 1];
    /* The other operand goes up once in all: each member sends a share of it up, and has the
     * others' shares from them. */
    int relay;
    size_t up, down, between; /* bytes from the host, to the host, from GPU to GPU */
    double seconds;           /* the estimate */
} tilemm__multi_sgemm_plan_t;

/* args is one product; places are A's, B's and C's. */
void tilemm__plan_multi_sgemm(const tilemm__sgemm_args_t *args,
                              const tilemm__multi_devices_t *devices, const int places[3],
                              tilemm__multi_sgemm_plan_t *plan);

/* What member i computes of the product. */
static inline tilemm__sgemm_args_t tilemm__multi_sgemm_part(const tilemm__sgemm_args_t *args,
                                                            const tilemm__multi_sgemm_plan_t *plan,
                                                            int i)
{
    tilemm__sgemm_args_t part = *args;
    const int64_t begin = plan->begin[i], lines = plan->begin[i + 1] - begin;
    if (plan->side == 0) {
        part.m = lines;
        part.c += begin * args->ldc;
        if (args->k > 0)
            part.a += begin * (args->trans_a ? 1 : args->lda);
    } else {
        part.n = lines;
        part.c += begin;
        if (args->k > 0)
            part.b += begin * (args->trans_b ? args->ldb : 1);
    }
    return part;
}

#endif
