/* process.c - the BLAS drop-in in a process's life: loaded late and closed, called by many threads
 * that end, from parallel regions, and in children.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "names.h"

enum { THREADS = 8, ROUNDS = 40, SIZE = 96, LENGTH = 30000, BEGINS = 300 };
static float a[SIZE * SIZE], x[LENGTH];
static const names_t *const plain = &all_names[0];
static atomic_long wrong;

/* Some calls whose results are known. */
static void *compute(void *rounds)
{
    const sizes_t s = {SIZE, SIZE, SIZE, SIZE, SIZE, SIZE};
    float *c = malloc(sizeof a);
    for (int round = 0; c && round < (int)(intptr_t)rounds; round++) {
        call_sgemm(plain, "N", "T", &s, 1, a, a, 0, c);
        for (int i = 0; i < SIZE * SIZE; i += 97)
            wrong += c[i] != SIZE;
        wrong += call_sdot(plain, 1, LENGTH, x, 1, x, 1) != LENGTH;
        wrong += call_isamax(plain, 0, LENGTH, x, 1) != 1;
    }
    wrong += c == NULL;
    free(c);
    return NULL;
}

static void run_threads(int count, int rounds)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, compute, (void *)(intptr_t)rounds) == 0, "thread");
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    CHECK(wrong == 0, "%ld wrong results", (long)wrong);
}

/* Bytes that are allocated; 0 where the C library does not tell. */
static size_t allocated(void)
{
#if defined __GLIBC__ && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

/* Contexts end with their threads. */
static void contexts_end(void)
{
    size_t used = 0;
    for (int i = 0; i < BEGINS; i++) {
        run_threads(1, 1);
        if (i == BEGINS / 3)
            used = allocated();
    }
    CHECK(allocated() < used + 100000 || used == 0, "%zu bytes have become %zu", used, allocated());
}

static void *fork_and_compute(void *unused)
{
    int status = -1;
    compute((void *)1);
    const pid_t child = fork();
    if (child == 0) {
        compute((void *)2);
        run_threads(2, 1);
        _exit(wrong || check_failures);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0,
          "the child ended with %d", status);
    compute((void *)1);
    return unused;
}

static void children(void)
{
    pthread_t thread;
    fork_and_compute(NULL);
    CHECK(pthread_create(&thread, NULL, fork_and_compute, NULL) == 0, "thread");
    pthread_join(thread, NULL);
    CHECK(wrong == 0, "%ld wrong results", (long)wrong);
}

static void parallel_region(void)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(4)
    compute((void *)5);
#endif
    CHECK(wrong == 0, "%ld wrong results", (long)wrong);
}

/* A thread that has called, and ends after the library was closed. */
static pthread_barrier_t closed;

static void *compute_and_wait(void *unused)
{
    compute((void *)1);
    pthread_barrier_wait(&closed);
    pthread_barrier_wait(&closed);
    return unused;
}

static void open_and_close(const char *path)
{
    pthread_barrier_init(&closed, NULL, 2);
    for (int round = 0; round < 10; round++) {
        pthread_t thread;
        names_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        CHECK(names_library != NULL, "%s", dlerror());
        if (!names_library)
            return;
        compute((void *)1);
        CHECK(pthread_create(&thread, NULL, compute_and_wait, NULL) == 0, "thread");
        pthread_barrier_wait(&closed);
        CHECK(dlclose(names_library) == 0, "%s", dlerror());
        pthread_barrier_wait(&closed);
        pthread_join(thread, NULL);
    }
    CHECK(wrong == 0, "%ld wrong results", (long)wrong);
    names_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* What a forwarder such as libblastrampoline asks a library that it has opened: how wide are its
 * integers? n is 3 as 32 bits, and negative as 64. */
static void widths(void)
{
    const float three[] = {1, 2, 1};
    const int64_t n = (int64_t)0xffffffff00000003, one = 1;
    int64_t (*wide)(const int64_t *, const float *, const int64_t *);
    int32_t (*narrow)(const int64_t *, const float *, const int64_t *);
    *(void **)&wide = dlsym(names_library, "isamax_64_");
    *(void **)&narrow = dlsym(names_library, "isamax_");
    CHECK(wide && wide(&n, three, &one) == 0, "isamax_64_");
    CHECK(narrow && narrow(&n, three, &one) == 2, "isamax_");
}

int main(void)
{
    const char *path = getenv("TILEMM_BLAS_LIB");
    if (!path || !*path) {
        printf("skipped: no TILEMM_BLAS_LIB\n");
        return CHECK_SKIPPED;
    }
    for (int i = 0; i < SIZE * SIZE; i++)
        a[i] = 1;
    for (int i = 0; i < LENGTH; i++)
        x[i] = 1;
    open_and_close(path);
    widths();
    run_threads(THREADS, ROUNDS);
    contexts_end();
    parallel_region();
    children();
    return check_exit();
}
