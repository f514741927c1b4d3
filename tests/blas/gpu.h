/* gpu.h - the drop-in's calls of libtilemm go through gpu.c, which stands in for a machine with a
 * GPU. Each source of the drop-in is compiled with this header first.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_BLAS_GPU_H
#define TILEMM_TESTS_BLAS_GPU_H

#define clock_gettime gpu_clock_gettime
#define tilemm_create gpu_create
#define tilemm_destroy gpu_destroy
#define tilemm_get_backend gpu_get_backend
#define tilemm_synchronize gpu_synchronize
#define tilemm_alloc_matrix gpu_alloc_matrix
#define tilemm_copy_matrix gpu_copy_matrix
#define tilemm_sgemm gpu_sgemm
#define tilemm_sdot gpu_sdot
#define tilemm_isamax gpu_isamax
#define tilemm_simatcopy gpu_simatcopy

#endif
