/* team.c - teams of threads, and the pool of POSIX threads that they are taken from.
 *
 * A call takes idle workers from the pool, which makes what it lacks, and gives them back. An idle
 * worker looks for work for IDLE_NS, then sleeps. A team is a binary tree: each member starts its
 * two children, does its part, and waits for them; so to wake sixteen sleepers takes as long as to
 * wake four, one after the other.
 *
 * A forked child has no workers, and makes its own. When the library is unloaded, its idle workers
 * end first.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity, sched_getcpu */
#endif
#include "team.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE = 64,               /* bytes of the caches' lines */
    IDLE_NS = 200000,        /* that a worker waits awake for work, */
    TEAM_NS = 1000000,       /* and a thread at work for the others of its team */
    SPINS = 32,              /* looks at the flag between two at the clock: a round */
    QUIET = 4,               /* rounds before the processor is offered to other threads */
    STACK_BYTES = 128 * 1024 /* of a worker; kernels need half of it */
};

/* ---- flags: numbers that threads wait for ------------------------------------------------- */

typedef struct {
    atomic_int value;
    atomic_int sleepers;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} flag_t;

#define FLAG_INITIALIZER                                                                           \
    {                                                                                              \
        0, 0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER                                  \
    }

/* A thread that goes to sleep is counted before it looks at the value for the last time, and the
 * value is set before the sleepers are counted: one of the two sees the other. */
static void flag_set(flag_t *flag, int value)
{
    atomic_store(&flag->value, value);
    if (atomic_load(&flag->sleepers) == 0)
        return;
    pthread_mutex_lock(&flag->lock);
    pthread_cond_broadcast(&flag->changed);
    pthread_mutex_unlock(&flag->lock);
}

static inline void pause_processor(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Wait awake, for a while, until the flag has another value. Returns whether it has. */
static int flag_spin(flag_t *flag, int value, int64_t ns)
{
    const int64_t start = now_ns();
    int rounds = 0;
    do {
        for (int i = 0; i < SPINS; i++) {
            if (atomic_load_explicit(&flag->value, memory_order_acquire) != value)
                return 1;
            pause_processor();
        }
        if (++rounds > QUIET)
            sched_yield(); /* to the thread that is waited for, if it is queued here */
    } while (now_ns() - start < ns);
    return 0;
}

/* Wait until the flag has another value than this one. Returns it. */
static int flag_wait(flag_t *flag, int value, int64_t spin_ns)
{
    if (atomic_load(&flag->value) == value && !(spin_ns && flag_spin(flag, value, spin_ns))) {
        pthread_mutex_lock(&flag->lock);
        atomic_fetch_add(&flag->sleepers, 1);
        while (atomic_load(&flag->value) == value)
            pthread_cond_wait(&flag->changed, &flag->lock);
        atomic_fetch_sub(&flag->sleepers, 1);
        pthread_mutex_unlock(&flag->lock);
    }
    return atomic_load(&flag->value);
}

/* ---- the pool ----------------------------------------------------------------------------- */

enum { IDLE, AT_WORK, ENDING };

typedef struct worker {
    _Alignas(LINE) flag_t state;
    tilemm__team_t *team;
    int number;    /* in the team */
    int processor; /* of the member that started it */
    struct worker *children[2];
    struct worker *next; /* idle, or of the same team */
    pthread_t thread;
} worker_t;

struct tilemm__team {
    void (*part)(void *job, thread_t me);
    void *job;
    int of;
    int64_t spin_ns;
    fenv_t environment;
    /* Each in a cache line of its own: an arriving thread does not delay the waiting ones. */
    _Alignas(LINE) atomic_int arrived; /* at the next meeting */
    _Alignas(LINE) flag_t meetings;    /* how many there were */
};

static struct {
    pthread_mutex_t lock; /* of the list of idle workers */
    worker_t *idle;       /* the last ones at work first: they may be awake */
    atomic_int claimed;   /* threads, by the calls in progress */
    int processors;
    int knows_fork;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- processors --------------------------------------------------------------------------- */

/* The one that this thread is on; -1 where that cannot be told. */
static int this_processor(void)
{
#ifdef __linux__
    return sched_getcpu();
#else
    return -1;
#endif
}

#ifdef __linux__
/* Whether no more threads want to run on the whole machine than this process has processors. */
static int has_idle_processor(void)
{
    char text[64];
    const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    int running = INT_MAX;
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = '\0';
    return sscanf(text, "%*s %*s %*s %d", &running) == 1 && running <= pool.processors;
}
#endif

/* A sleeper may wake on the processor of the member that woke it, though another is idle, and the
 * system leaves the two there for many milliseconds, in turns. Then this one goes elsewhere. */
static void leave_processor(int processor)
{
#ifdef __linux__
    cpu_set_t all, others;
    if (processor < 0 || this_processor() != processor || !has_idle_processor() ||
        sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    others = all;
    CPU_CLR((size_t)processor, &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
        sched_setaffinity(0, sizeof all, &all);
#else
    (void)processor;
#endif
}

/* ---- members of a team ---------------------------------------------------------------------- */

static void run_member(tilemm__team_t *team, int number, worker_t *const children[2])
{
    for (int i = 0; i < 2; i++)
        if (children[i]) {
            children[i]->processor = this_processor();
            flag_set(&children[i]->state, AT_WORK);
        }
    team->part(team->job, (thread_t){number, team->of, team});
    for (int i = 0; i < 2; i++)
        if (children[i])
            flag_wait(&children[i]->state, AT_WORK, team->spin_ns);
}

static void *work(void *argument)
{
    worker_t *const me = argument;
    for (;;) {
        const int awake = pool.processors > 1 && flag_spin(&me->state, IDLE, IDLE_NS);
        if (flag_wait(&me->state, IDLE, 0) == ENDING)
            return NULL;
        fesetenv(&me->team->environment);
        if (!awake && me->team->spin_ns)
            leave_processor(me->processor);
        run_member(me->team, me->number, me->children);
        flag_set(&me->state, IDLE);
    }
}

/* Before a fork: no other thread is at the list, so that the child finds it whole. */
static void before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/* The child's memory has the workers, but the threads are the parent's. */
static void in_child(void)
{
    for (worker_t *worker = pool.idle, *next; worker; worker = next) {
        next = worker->next;
        free(worker);
    }
    pool.idle = NULL;
    atomic_store(&pool.claimed, 0);
    pthread_mutex_init(&pool.lock, NULL);
}

/* With a small stack, or the system's: the program's thread-local variables may be larger. */
static int start_thread(worker_t *worker)
{
    pthread_attr_t attributes;
    int status = pthread_attr_init(&attributes);
    if (status != 0)
        return status;
    status = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (status == 0)
        status = pthread_create(&worker->thread, &attributes, work, worker);
    pthread_attr_destroy(&attributes);
    return status == EINVAL ? pthread_create(&worker->thread, NULL, work, worker) : status;
}

/* NULL where there is no memory, or no thread to be had. Signals are the program's threads'. */
static worker_t *make_worker(void)
{
    void *memory;
    sigset_t all, old;
    if (!pool.knows_fork && pthread_atfork(before_fork, after_fork, in_child) != 0)
        return NULL;
    pool.knows_fork = 1;
    if (posix_memalign(&memory, LINE, sizeof(worker_t)) != 0)
        return NULL;
    worker_t *const worker = memory;
    *worker = (worker_t){.state = FLAG_INITIALIZER};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int status = start_thread(worker);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (status == 0)
        return worker;
    free(worker);
    return NULL;
}

/* Take up to `count` workers for a team. Returns the first of the list. */
static worker_t *take_workers(tilemm__team_t *team, int count, worker_t **last)
{
    worker_t *first = NULL, *parent = NULL;
    pthread_mutex_lock(&pool.lock);
    if (!pool.processors)
        pool.processors = tilemm__processors();
    for (team->of = 1; team->of <= count; team->of++) {
        worker_t *worker = pool.idle;
        if (worker)
            pool.idle = worker->next;
        else if (!(worker = make_worker()))
            break;
        worker->team = team;
        worker->number = team->of;
        worker->children[0] = worker->children[1] = worker->next = NULL;
        if (first)
            (*last)->next = worker;
        else
            first = worker;
        *last = worker;
        /* Member i's children are 2 i + 1 and 2 i + 2. Member 0 is no worker. */
        if (worker->number > 2) {
            parent = !parent ? first : worker->number % 2 ? parent->next : parent;
            parent->children[1 - worker->number % 2] = worker;
        }
    }
    pthread_mutex_unlock(&pool.lock);
    return first;
}

static void give_back(worker_t *first, worker_t *last)
{
    pthread_mutex_lock(&pool.lock);
    last->next = pool.idle;
    pool.idle = first;
    pthread_mutex_unlock(&pool.lock);
}

/* As the library is unloaded, or the process ends, where other threads may still be in calls. */
__attribute__((destructor)) static void end_workers(void)
{
    if (pthread_mutex_trylock(&pool.lock) != 0)
        return;
    worker_t *const idle = pool.idle;
    pool.idle = NULL;
    pthread_mutex_unlock(&pool.lock);
    for (worker_t *worker = idle; worker; worker = worker->next)
        flag_set(&worker->state, ENDING);
    for (worker_t *worker = idle, *next; worker; worker = next) {
        next = worker->next;
        pthread_join(worker->thread, NULL);
        free(worker);
    }
}

/* ---- teams -------------------------------------------------------------------------------- */

void tilemm__run_team(int threads, void (*part)(void *job, thread_t me), void *job)
{
    tilemm__team_t team = {.part = part, .job = job, .meetings = FLAG_INITIALIZER};
    worker_t *last = NULL, *const first =
                               threads > 1 ? take_workers(&team, threads - 1, &last) : NULL;
    if (!first) {
        part(job, (thread_t){0, 1, NULL});
        return;
    }
    team.spin_ns = team.of <= pool.processors ? TEAM_NS : 0;
    fegetenv(&team.environment);
    run_member(&team, 0, (worker_t *[]){first, first->next});
    give_back(first, last);
}

void tilemm__meet(thread_t me)
{
    if (me.of == 1)
        return;
    tilemm__team_t *const team = me.team;
    const int meeting = atomic_load(&team->meetings.value);
    if (atomic_fetch_add(&team->arrived, 1) == me.of - 1) {
        atomic_store(&team->arrived, 0);
        flag_set(&team->meetings, meeting + 1);
    } else {
        flag_wait(&team->meetings, meeting, team->spin_ns);
    }
}

/* ---- how many ----------------------------------------------------------------------------- */

/* OpenMP's, where the program has it; the library does not need it. */
int omp_in_parallel(void) __attribute__((weak));
int omp_get_max_threads(void) __attribute__((weak));

int tilemm__processors(void)
{
#ifdef __linux__
    enum { MOST = 1 << 16 };
    for (int count = 1024; count <= MOST; count *= 2) {
        cpu_set_t *const set = CPU_ALLOC((size_t)count);
        const size_t bytes = CPU_ALLOC_SIZE((size_t)count);
        const int status = set ? sched_getaffinity(0, bytes, set) : -1;
        const int found = status == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (found > 0)
            return found;
        if (errno != EINVAL) /* not for want of room */
            break;
    }
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT_MAX ? (int)online : 1;
}

int tilemm__default_threads(void)
{
    /* A list has a number for each level of nested regions. */
    const char *text = getenv("OMP_NUM_THREADS");
    const long number = text ? strtol(text, NULL, 10) : 0;
    if (omp_get_max_threads)
        return omp_get_max_threads();
    return number > 0 && number < INT_MAX ? (int)number : tilemm__processors();
}

int tilemm__claim_threads(int asked, int share)
{
    int claimed = atomic_load(&pool.claimed), threads;
    const int alone = !asked && omp_in_parallel && omp_in_parallel();
    do
        threads = asked ? asked : alone || share - claimed < 1 ? 1 : share - claimed;
    while (!atomic_compare_exchange_weak(&pool.claimed, &claimed, claimed + threads));
    return threads;
}

void tilemm__release_threads(int threads)
{
    atomic_fetch_sub(&pool.claimed, threads);
}
