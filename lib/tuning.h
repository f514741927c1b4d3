/* tuning.h - the constants that `tilemm tune` measures: their names, bounds and defaults, and the
 * text that holds them.
 *
 * A text begins with "tilemm tuning 1", then says what it is for, a line each: the library's
 * version and the processor. A constant is a line "NAME NUMBER"; one that is not there has its
 * default. Lines that are empty or begin with # mean nothing.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TUNING_H
#define TILEMM_LIB_TUNING_H

#include "lib/traits.h"

/* CONSTANT(name, least, most). No constant changes a sum, and amx_percent and amx_team_percent
 * alone can change the last bits of a product, in the modes FP32 and TF32: they choose between two
 * engines.
 *
 * sgemm_thread_work         multiply-adds that pay for one more thread
 * sgemm_vector_work         the same of a vector times a matrix, which waits for memory
 * sgemm_a_bytes             of the part of A, packed, that stays in L2 while B passes
 * sgemm_parts               parts of a product for each thread: the last to finish is less late
 * sgemm_shared_work         multiply-adds for each thread from which threads pack for all of them
 * amx_percent               how long AMX takes, of what is estimated
 * amx_team_percent          the same, of that, with three threads and more
 * amx_thread_cycles         cycles of AMX that pay for one more thread
 * transpose_thread_bytes    read and written, that pay for one more thread
 * transpose_far_bytes       read and written, from which results are written around the caches
 * transpose_block_bytes     of a block that is gathered in L2 and written as whole lines
 * reduce_thread_elements    that pay for one more thread
 * segments_thread_elements  from which segments are shared out among threads */
#define TILEMM__TUNING_CONSTANTS(CONSTANT)                                                         \
    CONSTANT(sgemm_thread_work, 1 << 10, (int64_t)1 << 50)                                         \
    CONSTANT(sgemm_vector_work, 1 << 10, (int64_t)1 << 50)                                         \
    CONSTANT(sgemm_a_bytes, 1 << 12, 1 << 28)                                                      \
    CONSTANT(sgemm_parts, 1, 64)                                                                   \
    CONSTANT(sgemm_shared_work, 1 << 10, (int64_t)1 << 50)                                         \
    CONSTANT(amx_percent, 1, 10000)                                                                \
    CONSTANT(amx_team_percent, 1, 10000)                                                           \
    CONSTANT(amx_thread_cycles, 1 << 10, (int64_t)1 << 50)                                         \
    CONSTANT(transpose_thread_bytes, 1 << 12, (int64_t)1 << 50)                                    \
    CONSTANT(transpose_far_bytes, 1 << 12, (int64_t)1 << 50)                                       \
    CONSTANT(transpose_block_bytes, 1 << 12, 1 << 24)                                              \
    CONSTANT(reduce_thread_elements, 1 << 10, (int64_t)1 << 50)                                    \
    CONSTANT(segments_thread_elements, 1 << 10, (int64_t)1 << 50)

enum {
    TILEMM__TUNING_BYTES = 8192,  /* of a text, at most */
    TILEMM__TUNING_WRITTEN = 2048 /* room for what tilemm__write_tuning() writes */
};

/* What is known of a machine that has not been measured. */
tilemm__cpu_tuning_t tilemm__default_tuning(const tilemm__cpu_traits_t *traits);

/* The lines that say what a tuning is for: isa is the kernels' instruction set, `processors` how
 * many are online. */
void tilemm__tuning_head(const tilemm__cpu_traits_t *traits, const char *isa, int processors,
                         char *text, size_t size);

typedef enum {
    TILEMM__TUNING_READ,
    TILEMM__TUNING_OTHER, /* made for another processor or version: why says what differs */
    TILEMM__TUNING_BROKEN /* why says what must be, and in which line */
} tilemm__tuning_status_t;

/* Read a text of `size` bytes, which need not be text at all. *tuning has the defaults, and changes
 * only if the text is read. */
tilemm__tuning_status_t tilemm__read_tuning(const char *text, size_t size, const char *head,
                                            tilemm__cpu_tuning_t *tuning, char *why,
                                            size_t why_size);

/* The text that is read as *tuning, with a remark, cut off where it is too long. */
void tilemm__write_tuning(const char *head, const char *remark, const tilemm__cpu_tuning_t *tuning,
                          char text[TILEMM__TUNING_WRITTEN]);

#endif
