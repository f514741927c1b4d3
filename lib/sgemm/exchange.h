/* exchange.h - a product with A and B exchanged.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_EXCHANGE_H
#define TILEMM_LIB_SGEMM_EXCHANGE_H

#include "kernels/args.h"

/* If `exchange`, the product C' = op(B)' op(A)', else *p. The members of C stay as they are. Member
 * by member, which lets the compiler keep *p in registers. */
static inline __attribute__((always_inline)) tilemm__sgemm_args_t
tilemm__sgemm_exchange(const tilemm__sgemm_args_t *p, const int exchange)
{
    tilemm__sgemm_args_t args = *p;
    args.m = exchange ? p->n : p->m;
    args.n = exchange ? p->m : p->n;
    args.trans_a = exchange ? !p->trans_b : p->trans_a;
    args.trans_b = exchange ? !p->trans_a : p->trans_b;
    args.a = exchange ? p->b : p->a;
    args.b = exchange ? p->a : p->b;
    args.a_array = exchange ? p->b_array : p->a_array;
    args.b_array = exchange ? p->a_array : p->b_array;
    args.lda = exchange ? p->ldb : p->lda;
    args.ldb = exchange ? p->lda : p->ldb;
    args.stride_a = exchange ? p->stride_b : p->stride_a;
    args.stride_b = exchange ? p->stride_a : p->stride_b;
    args.exchanged = exchange ? !p->exchanged : p->exchanged;
    return args;
}

#endif
