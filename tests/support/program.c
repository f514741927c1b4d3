/* program.c - how a test program begins and ends.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "tools/gpu.h"

void test_give_up(const char *what)
{
    fprintf(stderr, "tests: %s\n", what);
    exit(1);
}

void *test_need(void *memory)
{
    if (!memory)
        test_give_up("out of memory");
    return memory;
}

/* Tests share the GPUs, or have them alone: LOCK_SH or LOCK_EX, until the program ends. */
static void take_gpus(int how)
{
    const int fd = open("gpu.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    while (fd >= 0 && flock(fd, how) != 0 && errno == EINTR)
        continue;
}

static void begin(tilemm_backend_t backend, int how)
{
    tilemm_t ctx;
    unsetenv("TILEMM_BACKEND");
    unsetenv("TILEMM_ARCH");
    unsetenv("TILEMM_NUM_THREADS");
    unsetenv("TILEMM_MATH");
    unsetenv("TILEMM_LOG");
    setenv("TILEMM_TUNING", "none", 1); /* not the user's file */
    unsetenv("TILEMM_VARIANT");
    unsetenv("TILEMM_DEVICES");
    unsetenv("TILEMM_TIMELINE");
    if (backend != TILEMM_BACKEND_CUDA)
        return;
    take_gpus(how);
    if (gpu_open(0)) {
        printf("skipped: %s\n", gpu_error());
        exit(77);
    }
    const tilemm_status_t status = tilemm_create(&ctx, backend, 0);
#ifndef TILEMM_HAVE_CUDA
    if (status == TILEMM_NO_DEVICE) {
        printf("skipped: the library was built without CUDA\n");
        exit(77);
    }
#endif
    if (status != TILEMM_SUCCESS) {
        fprintf(stderr, "a GPU is there, but tilemm_create says: %s\n",
                tilemm_status_string(status));
        exit(1);
    }
    tilemm_destroy(ctx);
}

void test_begin(tilemm_backend_t backend)
{
    begin(backend, LOCK_SH);
}

void test_begin_alone(tilemm_backend_t backend)
{
    begin(backend, LOCK_EX);
}

tilemm_t test_context(tilemm_backend_t backend, const char *arch)
{
    tilemm_t ctx = NULL;
    setenv("TILEMM_ARCH", arch, 1);
    const tilemm_status_t status = tilemm_create(&ctx, backend, 0);
    unsetenv("TILEMM_ARCH");
    if (status != TILEMM_SUCCESS || !ctx) {
        fprintf(stderr, "tilemm_create with TILEMM_ARCH=%s: %s\n", arch,
                tilemm_status_string(status));
        exit(1);
    }
    return ctx;
}

tilemm_t test_context_of(tilemm_backend_t backend, const char *arch, const char *variant)
{
    setenv("TILEMM_VARIANT", variant, 1);
    tilemm_t ctx = test_context(backend, arch);
    unsetenv("TILEMM_VARIANT");
    return ctx;
}

const char *const *test_archs(tilemm_backend_t backend)
{
    static const char *const cuda[] = {"", "sm80", "sm90", NULL};
#if defined(__x86_64__) || defined(__i386__)
    static const char *const cpu[] = {"", "generic", "avx2", "avx512", "amx", NULL};
#elif defined(__aarch64__)
    static const char *const cpu[] = {"", "generic", "neon", NULL};
#else
    static const char *const cpu[] = {"", "generic", NULL};
#endif
    return backend == TILEMM_BACKEND_CUDA ? cuda : cpu;
}

int test_kernel_allowed(const char *kernel, const char *arch)
{
    const char *sm = strstr(kernel, "_sm");
    if (strcmp(arch, "generic") == 0)
        return !strstr(kernel, "avx") && !strstr(kernel, "neon") && !strstr(kernel, "amx");
    if (strcmp(arch, "avx2") == 0)
        return !strstr(kernel, "avx512") && !strstr(kernel, "amx");
    if (strcmp(arch, "avx512") == 0)
        return !strstr(kernel, "amx");
    if (strncmp(arch, "sm", 2) == 0)
        return !sm || atoi(sm + 3) <= atoi(arch + 2);
    return 1;
}

double test_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
