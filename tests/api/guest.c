/* guest.c - the library's threads never harm the process that they are in: limits, fork, small
 * stacks, the floating-point environment, signals, and how many there are.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dirent.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/support.h"

/* Enough for several threads, in every operation. */
enum { SIDE = 300, LENGTH = 400000, ROWS = 5000, COLS = 64, THREADS = 6 };

static tilemm_math_t math = TILEMM_MATH_FP32_STRICT;

static float *a, *b, *x, *y;

static void make_operands(void)
{
    rng_t rng = {20};
    const int64_t all = (int64_t)ROWS * COLS > LENGTH ? (int64_t)ROWS * COLS : LENGTH;
    a = test_need(malloc(sizeof(float) * SIDE * SIDE));
    b = test_need(malloc(sizeof(float) * SIDE * SIDE));
    x = test_need(malloc(sizeof(float) * (size_t)all));
    y = test_need(malloc(sizeof(float) * (size_t)all));
    matrix_fill(a, TILEMM_ROW_MAJOR, SIDE, SIDE, SIDE, FAMILY_NORMAL, &rng);
    matrix_fill(b, TILEMM_ROW_MAJOR, SIDE, SIDE, SIDE, FAMILY_NORMAL, &rng);
    matrix_fill(x, TILEMM_ROW_MAJOR, 1, all, all, FAMILY_NORMAL, &rng);
}

static uint64_t fold(uint64_t digest, const void *bytes, size_t count)
{
    const unsigned char *from = bytes;
    while (count--)
        digest = (digest ^ *from++) * UINT64_C(0x100000001b3);
    return digest;
}

/* The results of every kind of operation; 0 if one fails. `to` has room for the largest. */
static uint64_t results(tilemm_t ctx, float *to)
{
    static const tilemm_op_t no = TILEMM_NO_TRANS;
    uint64_t digest = 1;
    float value = 0, sums[COLS] = {0};
    int64_t place = -1;
    int failed = 0;
    memset(to, 0, sizeof(float) * LENGTH);
    failed |= tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, no, TILEMM_TRANS, SIDE, SIDE, SIDE, 1, a, SIDE, b,
                           SIDE, 0, to, SIDE) != TILEMM_SUCCESS;
    digest = fold(digest, to, sizeof(float) * SIDE * SIDE);
    failed |= tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, no, no, 40, SIDE, SIDE, 1, a, SIDE, b, SIDE, 0,
                           to, SIDE) != TILEMM_SUCCESS;
    failed |= tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, no, no, 1, SIDE, SIDE, 1, a, SIDE, b, SIDE, 0, to,
                           SIDE) != TILEMM_SUCCESS;
    digest = fold(digest, to, sizeof(float) * SIDE * SIDE);
    failed |=
        tilemm_sgemm_strided_batched(ctx, TILEMM_ROW_MAJOR, no, no, 10, 10, 10, 1, a, 10, 100, b,
                                     10, 100, 0, to, 10, 100, SIDE * SIDE / 100) != TILEMM_SUCCESS;
    digest = fold(digest, to, sizeof(float) * SIDE * SIDE);
    failed |= tilemm_transpose(ctx, 700, 500, 4, x, 500, to, 700) != TILEMM_SUCCESS;
    digest = fold(digest, to, sizeof(float) * 700 * 500);
    failed |= tilemm_transpose_inplace(ctx, 500, 700, 4, to, 700, 500) != TILEMM_SUCCESS;
    digest = fold(digest, to, sizeof(float) * 700 * 500);
    failed |= tilemm_transpose_inplace(ctx, 600, 600, 4, to, 600, 600) != TILEMM_SUCCESS;
    digest = fold(digest, to, sizeof(float) * 600 * 600);
    failed |= tilemm_ssum(ctx, LENGTH, x, 1, &value) != TILEMM_SUCCESS;
    digest = fold(digest, &value, sizeof value);
    failed |= tilemm_snrm2(ctx, LENGTH, x, 1, &value) != TILEMM_SUCCESS;
    digest = fold(digest, &value, sizeof value);
    failed |= tilemm_isamax(ctx, LENGTH, x, 1, &place) != TILEMM_SUCCESS;
    digest = fold(digest, &place, sizeof place);
    for (int axis = 0; axis < 2; axis++) {
        float *const out = axis ? to : sums;
        failed |= tilemm_sreduce(ctx, TILEMM_SUM, axis ? TILEMM_AXIS_COLS : TILEMM_AXIS_ROWS,
                                 TILEMM_ROW_MAJOR, ROWS, COLS, x, COLS, out, 1) != TILEMM_SUCCESS;
        digest = fold(digest, out, sizeof(float) * (size_t)(axis ? ROWS : COLS));
    }
    return failed ? 0 : digest;
}

static tilemm_t context(int threads)
{
    tilemm_t ctx = test_context(TILEMM_BACKEND_CPU, "");
    CHECK_OK(ctx, tilemm_set_math(ctx, math));
    CHECK_OK(ctx, tilemm_set_threads(ctx, threads));
    return ctx;
}

/* The results of one thread, here and now. */
static uint64_t alone(void)
{
    tilemm_t ctx = context(1);
    const uint64_t digest = results(ctx, y);
    CHECK(digest != 0, "%s", tilemm_last_error(ctx));
    tilemm_destroy(ctx);
    return digest;
}

/* Run a test in a child, which must end well in a minute, or in ten where a program or a sanitizer
 * watches it. */
static void in_child(const char *what, void (*test)(void))
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(test_is_run_by_another() || TEST_SANITIZED ? 600 : 60);
        check_count = check_failures = 0;
        test();
        fflush(NULL);
        _exit(check_exit());
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "%s: status 0x%x", what,
          (unsigned)status);
}

/* Of this process; 0 where that cannot be told, as ThreadSanitizer has some of its own. */
static int count_threads(void)
{
    int count = 0;
#ifdef __SANITIZE_THREAD__
    return 0;
#endif
    DIR *const folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

/* ---- limits ----------------------------------------------------------------------------- */

static void limit(int resource, rlim_t value)
{
    CHECK(setrlimit((__rlimit_resource_t)resource, &(struct rlimit){value, value}) == 0,
          "setrlimit(%d)", resource);
}

static void check_results(tilemm_t ctx, uint64_t right, const char *when)
{
    const uint64_t digest = results(ctx, y);
    CHECK(digest != 0, "%s: %s", when, tilemm_last_error(ctx));
    CHECK(digest == 0 || digest == right, "%s: other results", when);
}

static void *do_nothing(void *unused)
{
    return unused;
}

/* The limit counts all of the user's: none is left. Root has none, so this is another user; where
 * that cannot be, a thread can be had. */
static void few_processes(void)
{
    const uint64_t right = alone();
    pthread_t thread;
    if (geteuid() == 0 && setuid(65534) != 0)
        return;
    limit(RLIMIT_NPROC, 1);
    if (pthread_create(&thread, NULL, do_nothing, NULL) == 0) {
        pthread_join(thread, NULL);
        return;
    }
    tilemm_t ctx = context(THREADS);
    check_results(ctx, right, "RLIMIT_NPROC");
    CHECK(count_threads() <= 1, "%d threads", count_threads());
    tilemm_destroy(ctx);
}

static void little_memory(void)
{
    const uint64_t right = alone();
    long pages = 0;
    tilemm_t ctx = context(THREADS);
    FILE *const file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1)
        return;
    fclose(file);
    for (rlim_t more = 0; more < 2000000; more += 150000) {
        limit(RLIMIT_AS, (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + 2000000 - more);
        check_results(ctx, right, "RLIMIT_AS");
    }
    tilemm_destroy(ctx);
}

/* ---- fork ------------------------------------------------------------------------------- */

static tilemm_t old;
static uint64_t expected;

static void go_on(void)
{
    check_results(old, expected, "a child");
    tilemm_t fresh = context(THREADS);
    check_results(fresh, expected, "a child's own context");
    tilemm_destroy(fresh);
}

static void fork_again(void)
{
    go_on();
    in_child("a grandchild", go_on);
    tilemm_destroy(old);
}

/* What threads of the test share with it. */
static atomic_int stop, wrong;

static void *call_until_stop(void *unused)
{
    tilemm_t ctx = NULL;
    float *const to = test_need(malloc(sizeof(float) * LENGTH));
    (void)unused;
    if (tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) != TILEMM_SUCCESS ||
        tilemm_set_math(ctx, math) != TILEMM_SUCCESS ||
        tilemm_set_threads(ctx, THREADS / 2) != TILEMM_SUCCESS)
        test_give_up("tilemm_create failed on a thread");
    while (!atomic_load(&stop))
        atomic_fetch_add(&wrong, results(ctx, to) != expected);
    free(to);
    tilemm_destroy(ctx);
    return NULL;
}

static void forks(void)
{
    pthread_t thread;
    expected = alone();
    old = context(THREADS);
    check_results(old, expected, "the parent");
    in_child("fork", fork_again);
    check_results(old, expected, "the parent, after fork");
    if (pthread_create(&thread, NULL, call_until_stop, NULL) != 0)
        test_give_up("pthread_create failed");
    for (int i = 0; i < (test_quick() ? 3 : 20); i++)
        in_child("fork beside another thread's calls", go_on);
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    CHECK(atomic_load(&wrong) == 0, "%d other results beside forks", atomic_load(&wrong));
    tilemm_destroy(old);
}

/* ---- stacks ----------------------------------------------------------------------------- */

static void *call_all(void *threads)
{
    tilemm_t ctx = context(*(int *)threads);
    check_results(ctx, expected, "a small stack");
    tilemm_destroy(ctx);
    return NULL;
}

static void small_stacks(void)
{
    const long least = sysconf(_SC_THREAD_STACK_MIN);
    const size_t stack = least > 65536 ? (size_t)least : 65536;
    expected = alone();
    for (int threads = 1; threads <= THREADS; threads += THREADS - 1) {
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        CHECK(pthread_attr_setstacksize(&attributes, stack) == 0, "a stack of %zu", stack);
        if (pthread_create(&thread, &attributes, call_all, &threads) != 0)
            test_give_up("pthread_create failed");
        pthread_join(thread, NULL);
        pthread_attr_destroy(&attributes);
    }
}

/* ---- the floating-point environment ------------------------------------------------------- */

#if defined __x86_64__
static void flush_to_zero(void)
{
    enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x40 };
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
}
#endif

static void environments(void)
{
    enum { MODES = 4 };
    static const int modes[MODES] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    uint64_t right[MODES];
    tilemm_t ctx = context(THREADS);
    check_results(ctx, alone(), "at first");
    for (int i = 0; i < MODES; i++) {
        CHECK(fesetround(modes[i]) == 0, "fesetround");
        right[i] = alone();
        CHECK(i == 0 || right[i] != right[0], "rounding makes no difference");
        for (int threads = 2; threads <= THREADS; threads++) {
            CHECK_OK(ctx, tilemm_set_threads(ctx, threads));
            check_results(ctx, right[i], "another rounding");
        }
        CHECK(fegetround() == modes[i], "the caller's rounding is another now");
    }
    fesetround(FE_TONEAREST);
    check_results(ctx, right[0], "as at first");
#if defined __x86_64__
    for (int64_t i = 0; i < (int64_t)SIDE * SIDE; i += 3)
        a[i] *= 0x1p-140f;
    for (int64_t i = 0; i < LENGTH; i++)
        x[i] *= 0x1p-130f;
    const uint64_t kept = alone();
    check_results(ctx, kept, "subnormal numbers");
    flush_to_zero();
    const uint64_t flushed = alone();
    CHECK(flushed != kept || test_is_run_by_another(),
          "flushing makes no difference"); /* but under valgrind */
    check_results(ctx, flushed, "flushed to zero");
#endif
    tilemm_destroy(ctx);
}

/* ---- signals, and idle workers ------------------------------------------------------------ */

static atomic_int handled;

static void handle(int number)
{
    (void)number;
    atomic_store(&handled, 1);
}

/* Blocked by all of the program's threads, it waits: the library's do not take it. */
static void signals(void)
{
    sigset_t set;
    tilemm_t ctx = context(THREADS);
    CHECK(results(ctx, y) != 0, "%s", tilemm_last_error(ctx));
    CHECK(count_threads() == THREADS || count_threads() == 0, "%d threads, not %d", count_threads(),
          THREADS);
    signal(SIGUSR1, handle);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    CHECK(results(ctx, y) != 0, "%s", tilemm_last_error(ctx));
    CHECK(!atomic_load(&handled), "a worker ran the program's signal handler");
    tilemm_destroy(ctx);
}

static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void idle_workers(void)
{
    tilemm_t ctx = context(THREADS);
    double least = 1e9;
    for (int i = 0; i < 5; i++) { /* the system may charge for other things once */
        CHECK(results(ctx, y) != 0, "%s", tilemm_last_error(ctx));
        const double start = processor_ms();
        usleep(50000);
        const double took = processor_ms() - start;
        least = took < least ? took : least;
    }
    CHECK(least < 1.0 * THREADS, "idle threads took %.2f ms of 50", least);
    tilemm_destroy(ctx);
}

/* ---- how many ----------------------------------------------------------------------------- */

enum { CALLERS = 5 };
static pthread_barrier_t start;

static void *call_beside_others(void *unused)
{
    tilemm_t ctx = NULL;
    float *const to = test_need(malloc(sizeof(float) * LENGTH));
    (void)unused;
    if (tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) != TILEMM_SUCCESS ||
        tilemm_set_math(ctx, math) != TILEMM_SUCCESS)
        test_give_up("tilemm_create failed on a thread");
    pthread_barrier_wait(&start);
    for (int i = 0; i < 20; i++)
        atomic_fetch_add(&wrong, results(ctx, to) != expected);
    free(to);
    tilemm_destroy(ctx);
    return NULL;
}

/* All calls together have no more workers than one alone. */
static void many_callers(void)
{
    pthread_t thread[CALLERS];
    int share = 0;
    setenv("TILEMM_NUM_THREADS", "4", 1);
    tilemm_t ctx = context(0);
    CHECK_OK(ctx, tilemm_get_threads(ctx, &share));
    CHECK(share == 4, "%d threads, not 4", share);
    expected = alone();
    pthread_barrier_init(&start, NULL, CALLERS);
    for (int i = 0; i < CALLERS; i++)
        if (pthread_create(&thread[i], NULL, call_beside_others, NULL) != 0)
            test_give_up("pthread_create failed");
    for (int i = 0; i < CALLERS; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&start);
    CHECK(atomic_load(&wrong) == 0, "%d other results beside calls", atomic_load(&wrong));
    CHECK(count_threads() <= share, "%d threads for calls that share %d", count_threads(), share);
    check_results(ctx, expected, "after other calls");
    tilemm_destroy(ctx);
    unsetenv("TILEMM_NUM_THREADS");
}

static void all(void)
{
    if (!TEST_SANITIZED) /* whose stack frames are larger */
        in_child("small stacks", small_stacks);
    in_child("floating-point environment", environments);
    if (!test_is_run_by_another()) { /* which has threads of its own, and may not fork with them */
        in_child("RLIMIT_NPROC", few_processes);
        if (!TEST_SANITIZED) /* which takes address space for itself */
            in_child("RLIMIT_AS", little_memory);
        in_child("fork", forks);
        in_child("signals", signals);
        in_child("idle workers", idle_workers);
        in_child("many callers", many_callers);
    }
}

int main(void)
{
    test_begin(TILEMM_BACKEND_CPU);
    make_operands();
    all();
    if (!test_is_run_by_another()) { /* which has no AMX */
        math = TILEMM_MATH_FP32;
        all();
    }
    free(a);
    free(b);
    free(x);
    free(y);
    return check_exit();
}
