/* entries.h - the names of the drop-in's routines: one table makes them all.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_BLAS_ENTRIES_H
#define TILEMM_BLAS_ENTRIES_H

#include "blas.h"

/* What holds an integer that is passed by value: with 32 bits it comes in the lower half of what
 * all ABIs with 64-bit pointers pass as 64 bits, so that one routine can take either. */
typedef intptr_t tilemm__blas_slot_t;

/* DEFINE(name, family, integers as passed by value), for each suffix in use: none; that of
 * OpenBLAS with 64-bit integers (Julia, Fedora, old wheels of NumPy); that of MKL and of the
 * reference from 3.11 on; those of the wheels of SciPy and of NumPy. */
#define TILEMM__BLAS_FORTRAN(DEFINE, stem)                                                         \
    DEFINE(stem##_, plain, tilemm__blas_slot_t)                                                    \
    DEFINE(stem##_64_, suffix_64, int64_t)                                                         \
    DEFINE(stem##_64, mkl_64, int64_t)                                                             \
    DEFINE(scipy_##stem##_, scipy, tilemm__blas_slot_t)                                            \
    DEFINE(scipy_##stem##_64_, scipy_64, int64_t)

#define TILEMM__BLAS_C(DEFINE, stem)                                                               \
    DEFINE(stem, plain, tilemm__blas_slot_t)                                                       \
    DEFINE(stem##64_, suffix_64, int64_t)                                                          \
    DEFINE(stem##_64, mkl_64, int64_t)                                                             \
    DEFINE(scipy_##stem, scipy, tilemm__blas_slot_t)                                               \
    DEFINE(scipy_##stem##64_, scipy_64, int64_t)

#endif
