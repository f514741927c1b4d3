/* report.c - TILEMM_BLAS_REPORT=1: how many calls of each kind went where, and what time they took,
 * printed to standard error when the process ends.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "blas.h"

atomic_int tilemm__blas_reports;
static int logs;

static struct {
    _Atomic uint64_t calls, nanoseconds;
} counts[KINDS][ROUTES];

double tilemm__blas_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void tilemm__blas_report_count(kind_t kind, route_t route, double seconds)
{
    atomic_fetch_add_explicit(&counts[kind][route].calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts[kind][route].nanoseconds, (uint64_t)(seconds * 1e9),
                              memory_order_relaxed);
}

void tilemm__blas_count_none(kind_t kind)
{
    if (tilemm__blas_reports)
        tilemm__blas_report_count(kind, ROUTE_NONE, 0);
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *value = getenv("TILEMM_BLAS_REPORT");
    const char *log = getenv("TILEMM_LOG");
    logs = log && strcmp(log, "1") == 0;
    tilemm__blas_reports = value && strcmp(value, "1") == 0;
    if (value && *value && strcmp(value, "0") != 0 && !tilemm__blas_reports)
        fprintf(stderr, "tilemm-blas: TILEMM_BLAS_REPORT = %s, must be 0 or 1: taken as 0\n",
                value);
}

void tilemm__blas_log_behind(const tilemm__blas_call_t *p)
{
    static const char *const ops[KINDS] = {
        [SASUM] = "asum", [SNRM2] = "nrm2", [SDOT] = "dot", [ISAMAX] = "iamax"};
    const int by_rows = p->layout == TILEMM_ROW_MAJOR;
    char call[512], more[160] = "";
    if (!logs)
        return;
    switch (p->kind) {
    case SGEMM_BATCH:
        snprintf(more, sizeof more, " --batch %lld --stride-a %lld --stride-b %lld --stride-c %lld",
                 (long long)p->batch, (long long)p->stride_a, (long long)p->stride_b,
                 (long long)p->stride_c);
        /* fall through */
    case SGEMM:
        snprintf(call, sizeof call,
                 "gemm --sizes %lldx%lldx%lld --layout %s --trans %c%c --alpha %.9g --beta %.9g "
                 "--lda %lld --ldb %lld --ldc %lld%s --math fp32",
                 (long long)p->m, (long long)p->n, (long long)p->k, by_rows ? "row" : "col",
                 p->transa == TILEMM_NO_TRANS ? 'n' : 't', p->transb == TILEMM_NO_TRANS ? 'n' : 't',
                 (double)p->alpha, (double)p->beta, (long long)p->lda, (long long)p->ldb,
                 (long long)p->ldc, more);
        break;
    case SOMATCOPY:
    case SIMATCOPY:
        snprintf(call, sizeof call,
                 "transpose --sizes %lldx%lld --elem-size 4 --ld-src %lld --ld-dst %lld "
                 "--alpha %.9g%s%s",
                 (long long)(by_rows ? p->m : p->n), (long long)(by_rows ? p->n : p->m),
                 (long long)p->lda, (long long)p->ldc, (double)p->alpha,
                 p->kind == SIMATCOPY ? " --in-place" : "",
                 p->transa == TILEMM_NO_TRANS ? " --no-trans" : "");
        break;
    default:
        if (p->kind == SDOT)
            snprintf(more, sizeof more, " --inc-y %lld", (long long)p->ldb);
        snprintf(call, sizeof call, "reduce --op %s --sizes %lld --inc %lld%s --nan propagate",
                 ops[p->kind], (long long)p->n, (long long)p->lda, more);
    }
    fprintf(stderr, "tilemm bench %s --backend cpu # by the BLAS behind\n", call);
}

/* In a child process: what the parent did is the parent's. */
void tilemm__blas_report_forget(void)
{
    memset((void *)counts, 0, sizeof counts);
}

__attribute__((destructor)) static void print_report(void)
{
    static const char *const kinds[KINDS] = {
        "sgemm",  "sgemm_batch_strided", "sasum",    "snrm2", "sdot",
        "isamax", "somatcopy",           "simatcopy"};
    static const char *const routes[ROUTES] = {"cpu", "cuda", "blas behind", "loops", "nothing"};
    if (!tilemm__blas_reports)
        return;
    fprintf(stderr, "tilemm-blas: calls of process %ld\n%-20s %-12s %12s %12s\n", (long)getpid(),
            "routine", "where", "calls", "seconds");
    for (int kind = 0; kind < KINDS; kind++)
        for (int route = 0; route < ROUTES; route++)
            if (counts[kind][route].calls)
                fprintf(stderr, "%-20s %-12s %12" PRIu64 " %12.6f\n", kinds[kind], routes[route],
                        (uint64_t)counts[kind][route].calls,
                        1e-9 * (double)counts[kind][route].nanoseconds);
}
