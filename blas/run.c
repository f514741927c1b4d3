/* run.c - where a call is computed, and a context for each thread that calls.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"

/* Below this much work, in the units of tilemm__blas_work, nothing is measured: libtilemm computes
 * on the CPU. A product of it takes about as long as measuring. */
static const double least_product = 2.0 * 384 * 384 * 384, least_elements = 1 << 17;

/* A GPU takes some 0.3 s to open, so it is opened once calls that it could take have kept the CPU
 * busy for this long. */
static const double open_after = 0.1;

typedef enum { MODE_AUTO, MODE_CPU, MODE_CUDA, MODE_OFF, MODES } tilemm__blas_mode_t;
enum { GPU_UNKNOWN, GPU_OPENING, GPU_USABLE, GPU_NONE };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int mode, has_key;
static atomic_int gpu_state, gpu_touched, has_said;
static _Atomic double candidates_seconds;

/* What a thread has. */
static _Thread_local struct {
    tilemm_t cpu, cuda;
    int opened, has_tried_cpu;
} thread;

/* A line for the first thing that goes wrong. */
static void say(const char *what, const char *why)
{
    if (!atomic_exchange(&has_said, 1))
        fprintf(stderr, "tilemm-blas: %s: %s\n", what, why);
}

static void end_thread(void *unused)
{
    (void)unused;
    tilemm_destroy(thread.cpu);
    tilemm_destroy(thread.cuda);
    memset(&thread, 0, sizeof thread);
}

/* A child process goes on on the CPU: CUDA does not survive fork(). What its parent had on the GPU
 * is left alone. */
static void begin_child(void)
{
    if (gpu_touched)
        gpu_state = GPU_NONE;
    else if (gpu_state == GPU_OPENING)
        gpu_state = GPU_UNKNOWN;
    thread.cuda = NULL;
    tilemm__blas_report_forget();
}

static void open_process(void)
{
    static const char *const names[MODES] = {"auto", "cpu", "cuda", "off"};
    const char *value = getenv("TILEMM_BLAS");
    int found = !value || !*value;
    for (int i = 0; !found && i < MODES; i++)
        if (strcmp(value, names[i]) == 0) {
            mode = i;
            found = 1;
        }
    if (!found)
        fprintf(stderr,
                "tilemm-blas: TILEMM_BLAS = %s, must be auto, cpu, cuda or off: taken as auto\n",
                value);
    has_key = pthread_key_create(&key, end_thread) == 0;
    pthread_atfork(NULL, NULL, begin_child);
}

/* The thread's first call. */
static void open_thread(void)
{
    pthread_once(&once, open_process);
    thread.opened = 1;
    if (has_key) /* or the contexts last as long as the process */
        pthread_setspecific(key, &thread);
}

/* The thread's context on the CPU, or NULL. */
static tilemm_t open_cpu(void)
{
    if (!thread.has_tried_cpu) {
        thread.has_tried_cpu = 1;
        if (tilemm_create(&thread.cpu, TILEMM_BACKEND_CPU, 0) != TILEMM_SUCCESS)
            say("libtilemm cannot be used", tilemm_create_error());
    }
    return thread.cpu;
}

/* The thread's context on the GPU, or NULL. */
static tilemm_t open_cuda(void)
{
    tilemm_backend_t backend;
    if (thread.cuda || gpu_state == GPU_NONE)
        return thread.cuda;
    gpu_touched = 1;
    const tilemm_status_t status = tilemm_create(
        &thread.cuda, mode == MODE_CUDA ? TILEMM_BACKEND_CUDA : TILEMM_BACKEND_AUTO, 0);
    if (status == TILEMM_SUCCESS && tilemm_get_backend(thread.cuda, &backend) == TILEMM_SUCCESS &&
        backend == TILEMM_BACKEND_CUDA)
        return thread.cuda;
    if (status != TILEMM_SUCCESS && mode == MODE_CUDA)
        say("no GPU can be used, the CPU goes on", tilemm_create_error());
    tilemm_destroy(thread.cuda);
    thread.cuda = NULL;
    gpu_state = GPU_NONE;
    return NULL;
}

/* Whether an operand lies where only a GPU reads it: the CPU's context refuses to. */
static int is_on_device(const void *pointer)
{
    char byte;
    return pointer && open_cpu() &&
           tilemm__blas_copy_quietly(thread.cpu, pointer, 1, &byte) == TILEMM_INVALID_ARGUMENT;
}

static int has_device_operand(const tilemm__blas_call_t *p)
{
    return is_on_device(p->a) || is_on_device(p->b) || is_on_device(p->c);
}

static int is_product(const tilemm__blas_call_t *p)
{
    return p->kind == SGEMM || p->kind == SGEMM_BATCH;
}

/* Whether the bits of products are not to depend on what is faster. */
static int is_invariant(void)
{
    tilemm_invariance_t invariance = TILEMM_INVARIANCE_NONE;
    return tilemm_get_invariance(thread.cpu, &invariance) == TILEMM_SUCCESS &&
           invariance != TILEMM_INVARIANCE_NONE;
}

/* Whether the GPU is estimated to take less time than the host. */
static int is_for_gpu(const tilemm__blas_call_t *call, double host_seconds)
{
    int unknown = GPU_UNKNOWN;
    if (gpu_state == GPU_UNKNOWN) {
        double before = candidates_seconds;
        while (!atomic_compare_exchange_weak(&candidates_seconds, &before, before + host_seconds))
            ;
        if (before + host_seconds >= open_after &&
            atomic_compare_exchange_strong(&gpu_state, &unknown, GPU_OPENING))
            gpu_state =
                open_cuda() && tilemm__blas_measure_gpu(thread.cuda) ? GPU_USABLE : GPU_NONE;
    }
    return gpu_state == GPU_USABLE && tilemm__blas_gpu_seconds(call) < host_seconds;
}

static route_t choose(tilemm__blas_entry_t *entry, tilemm__blas_call_t *call, const void *caller)
{
    const double work = tilemm__blas_work(call);
    if (mode != MODE_AUTO)
        return mode == MODE_CPU ? ROUTE_CPU : mode == MODE_CUDA ? ROUTE_CUDA : ROUTE_BEHIND;
    if (work < (is_product(call) ? least_product : least_elements) || !open_cpu())
        return ROUTE_CPU;
    if (has_device_operand(call))
        return ROUTE_CUDA;
    if (is_product(call) && is_invariant())
        return ROUTE_CPU;
    const int has_behind = tilemm__blas_find_behind(entry, caller) != NULL;
    if (!has_behind && (!is_product(call) || gpu_state == GPU_NONE))
        return ROUTE_CPU;
    const route_t host =
        tilemm__blas_behind_is_faster(entry, call, thread.cpu) ? ROUTE_BEHIND : ROUTE_CPU;
    if (is_product(call) && entry->rate > 0 && is_for_gpu(call, work / entry->rate))
        return ROUTE_CUDA;
    return host;
}

/* What the call changes and reads too is kept, so that the CPU can begin again if the GPU fails.
 * Returns 0 if there is no memory for it. */
typedef struct {
    float *memory, *at;
    size_t bytes;
} kept_t;

static int keep(const tilemm__blas_call_t *p, kept_t *kept)
{
    const int in_place = p->kind == SIMATCOPY;
    *kept = (kept_t){.at = p->c};
    if (!in_place && (!is_product(p) || p->beta == 0.0f))
        return 1;
    const int64_t high = p->layout == TILEMM_ROW_MAJOR ? p->m : p->n;
    const int64_t wide = p->layout == TILEMM_ROW_MAJOR ? p->n : p->m;
    const int64_t ld = in_place ? p->lda : p->ldc;
    if (p->stride_c < 0)
        return 0;
    kept->bytes = (size_t)((p->batch - 1) * p->stride_c + (high - 1) * ld + wide) * sizeof *p->c;
    kept->memory = malloc(kept->bytes);
    if (kept->memory)
        memcpy(kept->memory, p->c, kept->bytes);
    return kept->memory != NULL;
}

/* Returns whether the GPU has done the call. */
static int run_cuda(tilemm__blas_call_t *call)
{
    kept_t kept = {0};
    tilemm_t cuda = open_cuda();
    if (!cuda || (!is_on_device(call->c) && !keep(call, &kept)))
        return 0;
    tilemm_status_t status = tilemm__blas_call_tilemm(cuda, call);
    if (status == TILEMM_SUCCESS)
        status = tilemm_synchronize(cuda);
    if (status != TILEMM_SUCCESS && kept.memory)
        memcpy(kept.at, kept.memory, kept.bytes);
    free(kept.memory);
    if (status == TILEMM_SUCCESS)
        return 1;
    if (status != TILEMM_INVALID_ARGUMENT)
        say("the GPU failed, the CPU goes on", tilemm_last_error(cuda));
    if (status == TILEMM_DEVICE_FAILURE) {
        gpu_state = GPU_NONE;
        tilemm_destroy(cuda);
        thread.cuda = NULL;
    }
    return 0;
}

static route_t run(tilemm__blas_entry_t *entry, tilemm__blas_call_t *call, const void *caller)
{
    const int vector = !is_product(call) && call->kind != SOMATCOPY && call->kind != SIMATCOPY;
    if (vector && (call->lda == 0 || (call->kind == SDOT && call->ldb == 0))) {
        tilemm__blas_loops(call);
        return ROUTE_LOOPS;
    }
    const route_t route = choose(entry, call, caller);
    if (route == ROUTE_CUDA && run_cuda(call))
        return ROUTE_CUDA;
    if ((route == ROUTE_BEHIND || !open_cpu()) && tilemm__blas_find_behind(entry, caller)) {
        tilemm__blas_log_behind(call);
        tilemm__blas_call_behind(entry, call);
        return ROUTE_BEHIND;
    }
    if (open_cpu() && tilemm__blas_call_tilemm(thread.cpu, call) == TILEMM_SUCCESS)
        return ROUTE_CPU;
    if (has_device_operand(call)) {
        if (run_cuda(call))
            return ROUTE_CUDA;
        say("operands are on a device, and nothing was computed",
            thread.cuda ? tilemm_last_error(thread.cuda) : "no GPU can be used");
        return ROUTE_NONE;
    }
    tilemm__blas_loops(call);
    return ROUTE_LOOPS;
}

void tilemm__blas_run(tilemm__blas_entry_t *entry, tilemm__blas_call_t *call, const void *caller)
{
    if (tilemm__blas_is_behind() && tilemm__blas_find_behind(entry, caller)) {
        entry->call_behind(entry, call);
        return;
    }
    const int error = errno;
    tilemm__blas_enter();
    if (!thread.opened)
        open_thread();
    if (!tilemm__blas_reports)
        run(entry, call, caller);
    else {
        const double start = tilemm__blas_now();
        const route_t route = run(entry, call, caller);
        tilemm__blas_report_count(call->kind, route, tilemm__blas_now() - start);
    }
    tilemm__blas_leave();
    errno = error;
}
