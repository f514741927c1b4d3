/* program.h - how a test program begins and ends: contexts, kernels that it may see.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_PROGRAM_H
#define TILEMM_TESTS_SUPPORT_PROGRAM_H

#include "tilemm.h"

/* A test of an operation is built twice: for the CPU and, with TEST_CUDA defined, for a GPU. */
#ifdef TEST_CUDA
#define TEST_BACKEND TILEMM_BACKEND_CUDA
#else
#define TEST_BACKEND TILEMM_BACKEND_CPU
#endif

/* 1 if AddressSanitizer or ThreadSanitizer watches this build. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif

/* Forget the user's TILEMM_* settings. For the CUDA backend, exit with 77 where there is no GPU
 * or the library was built without CUDA. */
void test_begin(tilemm_backend_t backend);

/* End the program with status 1: something that is not under test has failed. */
void test_give_up(const char *what);

/* `memory`; gives up if it is NULL. */
void *test_need(void *memory);

/* test_begin for a program that needs the whole of a GPU: it fills the memory, or compares how much
 * is free before and after. No other test of this build uses a GPU until it ends. */
void test_begin_alone(tilemm_backend_t backend);

/* A context with TILEMM_ARCH = arch ("" for none); gives up if there is none. */
tilemm_t test_context(tilemm_backend_t backend, const char *arch);

/* The same, but one that takes the GPU's kernels whose names begin with `variant` wherever they can
 * be taken. */
tilemm_t test_context_of(tilemm_backend_t backend, const char *arch, const char *variant);

/* The values of TILEMM_ARCH to try: "" first; the list ends with NULL. */
const char *const *test_archs(tilemm_backend_t backend);

/* Whether TILEMM_ARCH = arch allows the kernel. A GPU kernel's name holds the lowest architecture
 * that runs it, as in "sgemm_ffma_sm80_64x64x16_nt+splitk4". */
int test_kernel_allowed(const char *kernel, const char *arch);

/* Seconds on a monotonic clock. */
double test_seconds(void);

#endif
