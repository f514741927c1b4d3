/* faults.c - large operands on the host where something goes wrong: a capture, memory that was
 * freed, a card that another process has filled, no memory to pin; a thousand calls leave nothing
 * behind, and two threads share the card. On a GPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

enum { SIDE = 2400, ELEMENTS = SIDE * SIDE, MINUTES = 5 };

extern char **environ;

/* Small integers: every order of additions has the same sum. C is A B, and `left` what it was. */
static float *a, *b, *c, *want, *left;

static void *bytes_of(int64_t elements)
{
    return test_need(malloc((size_t)elements * sizeof(float)));
}

static void fill(float *x, int64_t elements, rng_t *rng)
{
    for (int64_t i = 0; i < elements; i++)
        x[i] = (float)rng_range(rng, -4, 4);
}

static tilemm_status_t multiply(tilemm_t ctx, int64_t side, const float *x, const float *y,
                                float *to)
{
    return tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, side, side, side,
                        1, x, side, y, side, 0, to, side);
}

static void clear_c(void)
{
    memcpy(c, left, ELEMENTS * sizeof(*c));
}

/* The product is right; or the status is OUT_OF_MEMORY, in words, and C is whole or undefined. */
static int right_or_words(tilemm_t ctx, const char *when)
{
    clear_c();
    const tilemm_status_t status = multiply(ctx, SIDE, a, b, c);
    const char *const words = tilemm_last_error(ctx);
    const int is_whole = memcmp(c, left, ELEMENTS * sizeof(*c)) == 0;
    CHECK(status == TILEMM_SUCCESS ? memcmp(c, want, ELEMENTS * sizeof(*c)) == 0
                                   : status == TILEMM_OUT_OF_MEMORY && *words &&
                                         (is_whole || strstr(words, "undefined")),
          "%s: %s, C %s", when, status == TILEMM_SUCCESS ? "wrong" : words,
          is_whole ? "whole" : "written");
    return status == TILEMM_SUCCESS;
}

static void refused(tilemm_t ctx, tilemm_status_t got, tilemm_status_t must, const char *word,
                    const char *what)
{
    CHECK(got == must && strstr(tilemm_last_error(ctx), word), "%s: %s: %s", what,
          tilemm_status_string(got), tilemm_last_error(ctx));
}

/* Host operands cannot be captured: a status, nothing written, and the capture goes on. */
static void captured(void)
{
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    void *stream = gpu_stream_create();
    float sum = 7;
    clear_c();
    CHECK_OK(ctx, tilemm_set_stream(ctx, stream));
    CHECK(gpu_capture_begin(stream) == 0, "gpu_capture_begin");
    refused(ctx, multiply(ctx, SIDE, a, b, c), TILEMM_NOT_SUPPORTED, "captured", "product");
    refused(ctx, tilemm_transpose(ctx, SIDE, SIDE, 4, a, SIDE, c, SIDE), TILEMM_NOT_SUPPORTED,
            "captured", "transpose");
    refused(ctx, tilemm_ssum(ctx, ELEMENTS, a, 1, &sum), TILEMM_NOT_SUPPORTED, "captured", "sum");
    void *graph = gpu_capture_end(stream);
    CHECK(graph, "the capture was broken");
    CHECK(sum == 7 && memcmp(c, left, ELEMENTS * sizeof(*c)) == 0, "written");
    if (graph)
        gpu_graph_destroy(graph);
    CHECK(right_or_words(ctx, "after a capture"), "%s", tilemm_last_error(ctx));
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    gpu_stream_destroy(stream);
}

/* Memory that is no more, of a GPU or of the host, large and small. */
static void freed(void)
{
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    const size_t bytes = ELEMENTS * sizeof(float);
    for (int large = 0; large < 2; large++)
        for (int of_gpu = 0; of_gpu < 2; of_gpu++) {
            const int64_t side = large ? SIDE : 40;
            float sum, *gone = of_gpu ? gpu_malloc(bytes)
                                      : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (gone == MAP_FAILED || !gone)
                test_give_up("memory");
            if (of_gpu ? gpu_free(gone) : munmap(gone, bytes))
                test_give_up("free");
            const tilemm_status_t bad = TILEMM_INVALID_ARGUMENT;
            refused(ctx, multiply(ctx, side, gone, b, c), bad, "read", "A");
            refused(ctx, multiply(ctx, side, a, gone, c), bad, "read", "B");
            refused(ctx, multiply(ctx, side, a, b, gone), bad, "read", "C");
            refused(ctx, tilemm_transpose(ctx, side, side, 4, gone, side, c, side), bad, "read",
                    "src");
            refused(ctx, tilemm_transpose(ctx, side, side, 4, a, side, gone, side), bad, "read",
                    "dst");
            refused(ctx, tilemm_transpose_inplace(ctx, side, side, 4, gone, side, side), bad,
                    "read", "in place");
            refused(ctx, tilemm_ssum(ctx, side * side, gone, 1, &sum), bad, "read", "x");
            refused(ctx, tilemm_copy_matrix(ctx, side, side, 4, gone, side, c, side), bad, "read",
                    "copy");
        }
    CHECK(right_or_words(ctx, "after refusals"), "%s", tilemm_last_error(ctx));
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
}

/* ---- another process ------------------------------------------------------------------------ */

/* That process: take what there is, say so, and keep it until the input ends. */
static int hold_memory(void)
{
    char byte;
    if (gpu_open(0) != 0)
        return 1;
    for (size_t part = (size_t)1 << 36; part >= 1 << 20; part /= 2)
        while (gpu_malloc(part))
            ;
    if (write(STDOUT_FILENO, "!", 1) != 1)
        return 1;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}

static void full_card(void)
{
    int in[2], out[2], status;
    char byte = 0, *const arguments[] = {(char *)(uintptr_t) "faults", (char *)(uintptr_t) "hold",
                                         NULL};
    posix_spawn_file_actions_t actions;
    pid_t holder;
    size_t free_bytes = 0, total;
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, ""), another = NULL;
    if (pipe(in) || pipe(out))
        test_give_up("pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, in[1]);
    posix_spawn_file_actions_addclose(&actions, out[0]);
    if (posix_spawn(&holder, "/proc/self/exe", &actions, NULL, arguments, environ))
        test_give_up("posix_spawn");
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    const int holds = read(out[0], &byte, 1) == 1;
    if (holds) {
        CHECK(gpu_memory(&free_bytes, &total) == 0, "gpu_memory");
        const int done = right_or_words(ctx, "another process has the card");
        printf("another process left %zu MiB: %s\n", free_bytes >> 20,
               done ? "done" : tilemm_last_error(ctx));
        const tilemm_status_t created = tilemm_create(&another, TILEMM_BACKEND_CUDA, 0);
        CHECK(created == TILEMM_SUCCESS || *tilemm_create_error(), "no words");
        if (another)
            (void)right_or_words(another, "created when the card is full");
        tilemm_destroy(another);
    } else {
        printf("another process cannot have the card: left out\n");
    }
    close(in[1]);
    close(out[0]);
    CHECK(waitpid(holder, &status, 0) == holder && (!holds || status == 0), "status %d", status);
    CHECK(right_or_words(ctx, "the card is free again"), "%s", tilemm_last_error(ctx));
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
}

/* ---- no memory to pin ----------------------------------------------------------------------- */

/* Nothing may be locked; then the address space is used up, so that nothing can be pinned. */
static void nothing_pinned(void)
{
    const struct {
        int which;
        const char *name;
    } limits[] = {{RLIMIT_MEMLOCK, "no memory may be locked"}, {RLIMIT_AS, "no address space"}};
    for (int i = 0; i < 2; i++) {
        struct rlimit before, tight;
        unsigned long pages = 0;
        tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
        FILE *statm = fopen("/proc/self/statm", "r");
        float sum = 0;
        CHECK_OK(ctx, tilemm_ssum(ctx, 1000, a, 1, &sum)); /* loads what it needs */
        const int is_known = statm && fscanf(statm, "%lu", &pages) == 1;
        if (statm)
            fclose(statm);
        if (is_known && getrlimit(limits[i].which, &before) == 0) {
            tight = before;
            tight.rlim_cur =
                limits[i].which == RLIMIT_AS
                    ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)24 << 20)
                    : 0;
            CHECK(setrlimit(limits[i].which, &tight) == 0, "setrlimit");
            printf("%s: %s\n", limits[i].name,
                   right_or_words(ctx, limits[i].name) ? "done" : tilemm_last_error(ctx));
            CHECK(setrlimit(limits[i].which, &before) == 0, "setrlimit");
        }
        CHECK(right_or_words(ctx, "no limit"), "%s", tilemm_last_error(ctx));
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    }
}

/* ---- a thousand calls ----------------------------------------------------------------------- */

static size_t resident_bytes(void)
{
    unsigned long all, resident = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm && fscanf(statm, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (statm)
        fclose(statm);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Each goes through in strips or pieces, from pinned and pageable memory. */
static void thousand_calls(void)
{
    enum { CALLS = 1000, FIRST = 50, LITTLE = 500, MOST_GROWTH = 8 << 20 };
    const size_t bytes = LITTLE * LITTLE * sizeof(float);
    size_t before = 0, after = 0, total, host = 0;
    float *pinned = test_need(gpu_malloc_host(bytes)), sum;
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    memcpy(pinned, a, bytes);
    CHECK_OK(ctx, tilemm_set_device_memory(ctx, 3 * bytes / 4));
    for (int i = 0; i < CALLS; i++) {
        const float *const from = i % 2 ? pinned : a;
        CHECK_OK(ctx, multiply(ctx, LITTLE, from, b, c));
        if (i % 5 == 0) {
            CHECK_OK(ctx, tilemm_transpose(ctx, LITTLE, LITTLE, 4, from, LITTLE, c, LITTLE));
            CHECK_OK(ctx, tilemm_transpose_inplace(ctx, LITTLE, LITTLE, 4, c, LITTLE, LITTLE));
            CHECK_OK(ctx, tilemm_set_device_memory(ctx, bytes / 2));
            CHECK_OK(ctx, tilemm_ssum(ctx, LITTLE * LITTLE, from, 1, &sum));
            CHECK_OK(ctx, tilemm_set_device_memory(ctx, 3 * bytes / 4));
        }
        if (i == FIRST) {
            CHECK(gpu_memory(&before, &total) == 0, "gpu_memory");
            host = resident_bytes();
        }
    }
    CHECK(gpu_memory(&after, &total) == 0, "gpu_memory");
    CHECK(before == after, "%zu bytes free, then %zu", before, after);
    CHECK(resident_bytes() <= host + MOST_GROWTH, "%zu bytes resident, then %zu", host,
          resident_bytes());
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    gpu_free_host(pinned);
}

/* ---- two threads ---------------------------------------------------------------------------- */

typedef struct {
    int number, wrong;
    tilemm_status_t status;
    char words[256];
} thread_t;

/* One has a context over the card named twice. Products under a limit, and their right results. */
static void *share_card(void *argument)
{
    enum { MOST = 900, PRODUCTS = 40 };
    static const int twice[] = {0, 0};
    thread_t *const thread = argument;
    rng_t rng = {77 + (uint64_t)thread->number};
    tilemm_t ctx = NULL, cpu = NULL;
    float *const got = bytes_of(MOST * MOST), *const right = bytes_of(MOST * MOST);
    thread->status = thread->number ? tilemm_create_multi(&ctx, 2, twice)
                                    : tilemm_create(&ctx, TILEMM_BACKEND_CUDA, 0);
    if (!ctx || tilemm_create(&cpu, TILEMM_BACKEND_CPU, 0) != TILEMM_SUCCESS)
        return NULL;
    (void)tilemm_set_threads(cpu, 1);
    for (int i = 0; i < PRODUCTS && thread->status == TILEMM_SUCCESS; i++) {
        const int64_t side = rng_range(&rng, 300, MOST);
        const size_t bytes = (size_t)(side * side) * sizeof(float);
        (void)tilemm_set_device_memory(ctx, bytes + ((size_t)1 << 20));
        thread->status = multiply(ctx, side, a, b, got);
        if (multiply(cpu, side, a, b, right) != TILEMM_SUCCESS || memcmp(got, right, bytes) != 0)
            thread->wrong++;
    }
    snprintf(thread->words, sizeof(thread->words), "%s", tilemm_last_error(ctx));
    tilemm_destroy(ctx);
    tilemm_destroy(cpu);
    free(got);
    free(right);
    return NULL;
}

static void two_threads(void)
{
    thread_t thread[2] = {{.number = 0}, {.number = 1}};
    pthread_t handle[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&handle[i], NULL, share_card, &thread[i]))
            test_give_up("pthread_create");
    for (int i = 0; i < 2; i++) {
        pthread_join(handle[i], NULL);
        CHECK(thread[i].status == TILEMM_SUCCESS && thread[i].wrong == 0, "thread %d: %d wrong: %s",
              i, thread[i].wrong, thread[i].words);
    }
}

int main(int argc, char **argv)
{
    rng_t rng = {190};
    tilemm_t ctx;
    if (argc > 1 && strcmp(argv[1], "hold") == 0)
        return hold_memory();
    test_begin_alone(TILEMM_BACKEND_CUDA);
    alarm(60 * MINUTES); /* a deadlock is a failure */
    a = bytes_of(ELEMENTS);
    b = bytes_of(ELEMENTS);
    c = bytes_of(ELEMENTS);
    want = bytes_of(ELEMENTS);
    left = bytes_of(ELEMENTS);
    fill(a, ELEMENTS, &rng);
    fill(b, ELEMENTS, &rng);
    fill(left, ELEMENTS, &rng);
    ctx = test_context(TILEMM_BACKEND_CPU, "");
    CHECK_OK(ctx, multiply(ctx, SIDE, a, b, want));
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    captured();
    freed();
    thousand_calls();
    two_threads();
    nothing_pinned();
    full_card();
    free(a);
    free(b);
    free(c);
    free(want);
    free(left);
    return check_exit();
}
