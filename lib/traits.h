/* traits.h - what a plan may know of a device. Read off the machine by the backends, written by
 * hand in the plans' tests.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TRAITS_H
#define TILEMM_LIB_TRAITS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    char name[128];
    int cc;       /* compute capability, major * 10 + minor, capped by TILEMM_ARCH */
    int sm_count; /* streaming multiprocessors */
    int max_threads_per_sm;
    size_t shared_per_block; /* bytes a block can opt in to */
    size_t shared_per_sm;    /* bytes */
    size_t l2_bytes;
    size_t memory_bytes; /* of the whole device */
} tilemm__cuda_traits_t;

/* Instruction sets that kernels are written for, least first. */
typedef enum {
    TILEMM__ISA_GENERIC = 0,
    TILEMM__ISA_NEON,
    TILEMM__ISA_AVX2,   /* with FMA */
    TILEMM__ISA_AVX512, /* F, BW, DQ, VL */
    TILEMM__ISA_AMX,    /* TILE, BF16; and AVX-512, whose kernels do all but SGEMM */
    TILEMM__ISA_COUNT
} tilemm__isa_t;

typedef struct {
    char name[128];
    tilemm__isa_t isa; /* the best one that is compiled in, usable, and allowed by TILEMM_ARCH */
    int threads;       /* that a context uses unless told otherwise */
    size_t l1d_bytes;  /* of one core; each never 0 */
    size_t l2_bytes;   /* of one core */
    size_t l3_bytes;   /* shared; l2_bytes if there is none */
} tilemm__cpu_traits_t;

/* Constants of the CPU's plans that the traits cannot tell, but for a guess: lib/tuning.h has what
 * they are, their bounds, the guesses, and the text in which `tilemm tune` writes them. */
typedef struct {
    int64_t sgemm_thread_work, sgemm_vector_work, sgemm_a_bytes, sgemm_parts, sgemm_shared_work;
    int64_t amx_percent, amx_team_percent, amx_thread_cycles;
    int64_t transpose_thread_bytes, transpose_far_bytes, transpose_block_bytes;
    int64_t reduce_thread_elements, segments_thread_elements;
} tilemm__cpu_tuning_t;

#endif
