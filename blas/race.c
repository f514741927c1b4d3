/* race.c - what is faster: libtilemm on the CPU, the BLAS behind, or the GPU. Rates are measured
 * once, at the first call that is large enough; that takes at most a few milliseconds.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "blas.h"

/* An entry's `faster`. While one thread measures, others let libtilemm compute. */
enum { UNKNOWN, CPU_FASTER, BEHIND_FASTER, MEASURING };

/* A product is measured at growing sizes, until one takes long enough, or all of them together. The
 * BLAS behind must be faster by a factor, for times vary. */
static const double long_enough = 0.4e-3, budget = 3e-3, by_factor = 1.1;
enum { LEAST_SIZE = 256, MOST_SIZE = 1600, MOST_ELEMENTS = 1 << 18, RUNS = 3 };

double tilemm__blas_work(const tilemm__blas_call_t *p)
{
    switch (p->kind) {
    case SGEMM:
    case SGEMM_BATCH: return 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
    case SOMATCOPY:
    case SIMATCOPY: return (double)p->m * (double)p->n;
    default: return (double)p->n;
    }
}

/* The shortest of RUNS times of each, in turns. Returns 0 if libtilemm refuses the call. */
static int time_both(tilemm__blas_entry_t *entry, tilemm__blas_call_t *call, tilemm_t cpu,
                     double seconds[2])
{
    seconds[0] = seconds[1] = HUGE_VAL;
    for (int run = 0; run < RUNS; run++) {
        const double start = tilemm__blas_now();
        if (tilemm__blas_call_tilemm(cpu, call) != TILEMM_SUCCESS)
            return 0;
        const double middle = tilemm__blas_now();
        if (entry->behind)
            tilemm__blas_call_behind(entry, call);
        seconds[0] = fmin(seconds[0], middle - start);
        if (entry->behind)
            seconds[1] = fmin(seconds[1], tilemm__blas_now() - middle);
    }
    return 1;
}

/* Operands of `count` numbers that are not all alike. */
static float *numbers(int64_t count)
{
    float *x = malloc((size_t)count * sizeof *x);
    for (int64_t i = 0; x && i < count; i++)
        x[i] = (float)(i % 17 - 8) * 0.25f;
    return x;
}

static int measure_product(tilemm__blas_entry_t *entry, const tilemm__blas_call_t *call,
                           tilemm_t cpu, double seconds[2], double *work)
{
    const double end = tilemm__blas_now() + budget;
    int measured = 0;
    for (int64_t size = LEAST_SIZE; size <= MOST_SIZE; size = size * 3 / 2) {
        float *memory = numbers(3 * size * size);
        if (!memory)
            break;
        tilemm__blas_call_t product = *call;
        product.m = product.n = product.k = product.lda = product.ldb = product.ldc = size;
        product.a = memory;
        product.b = memory + size * size;
        product.c = memory + 2 * size * size;
        product.alpha = 1, product.beta = 0, product.batch = 1;
        *work = tilemm__blas_work(&product);
        measured = time_both(entry, &product, cpu, seconds);
        free(memory);
        if (!measured || fmin(seconds[0], seconds[1]) > long_enough || tilemm__blas_now() > end)
            break;
    }
    return measured;
}

/* Copies are measured on memory of our own, vectors where they are: nothing writes them. */
static int measure_elements(tilemm__blas_entry_t *entry, const tilemm__blas_call_t *call,
                            tilemm_t cpu, double seconds[2], double *work)
{
    const int64_t side = 512;
    tilemm__blas_call_t sample = *call;
    float *memory = NULL;
    if (call->kind == SOMATCOPY || call->kind == SIMATCOPY) {
        memory = numbers(2 * side * side);
        if (!memory)
            return 0;
        sample.m = sample.n = sample.lda = sample.ldc = side;
        sample.a = memory;
        sample.c = call->kind == SIMATCOPY ? memory : memory + side * side;
    } else if (sample.n > MOST_ELEMENTS)
        sample.n = MOST_ELEMENTS;
    *work = tilemm__blas_work(&sample);
    const int measured = time_both(entry, &sample, cpu, seconds);
    free(memory);
    return measured;
}

int tilemm__blas_behind_is_faster(tilemm__blas_entry_t *entry, const tilemm__blas_call_t *call,
                                  tilemm_t cpu)
{
    int known = UNKNOWN;
    if (atomic_compare_exchange_strong(&entry->faster, &known, MEASURING)) {
        const int product = call->kind == SGEMM || call->kind == SGEMM_BATCH;
        double seconds[2] = {0, 0}, work = 0;
        tilemm__blas_set_quiet(cpu, 1);
        const int measured =
            (product ? measure_product : measure_elements)(entry, call, cpu, seconds, &work);
        tilemm__blas_set_quiet(cpu, 0);
        known = measured && seconds[1] * by_factor < seconds[0] ? BEHIND_FASTER : CPU_FASTER;
        if (measured)
            entry->rate = work / seconds[known == BEHIND_FASTER];
        atomic_store(&entry->faster, known);
    }
    return known == BEHIND_FASTER;
}

/* Of the GPU, measured once: seconds of a product with next to nothing to do, of operands on the
 * host; bytes a second to it and from it; operations a second. */
static struct {
    double least, to, from, product;
} gpu;

/* The time of the second copy or product; the first prepares what the device needs. */
static double time_copy(tilemm_t cuda, const float *from, float *to, int64_t count)
{
    double start = 0;
    for (int run = 0; run < 2; run++) {
        start = tilemm__blas_now();
        if (tilemm_copy_matrix(cuda, 1, count, sizeof *from, from, count, to, count) !=
                TILEMM_SUCCESS ||
            tilemm_synchronize(cuda) != TILEMM_SUCCESS)
            return HUGE_VAL;
    }
    return tilemm__blas_now() - start;
}

static double time_product(tilemm_t cuda, float *x, int64_t size)
{
    double start = 0;
    for (int run = 0; run < 2; run++) {
        start = tilemm__blas_now();
        if (tilemm_sgemm(cuda, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, size, size, size,
                         1, x, size, x + size * size, size, 0, x + 2 * size * size,
                         size) != TILEMM_SUCCESS ||
            tilemm_synchronize(cuda) != TILEMM_SUCCESS)
            return HUGE_VAL;
    }
    return tilemm__blas_now() - start;
}

int tilemm__blas_measure_gpu(tilemm_t cuda)
{
    const int64_t size = 1024, small = 32, count = 3 * size * size;
    float *host = numbers(count);
    void *device = NULL;
    int64_t ld;
    double to = HUGE_VAL, from = HUGE_VAL, product = HUGE_VAL;
    tilemm__blas_set_quiet(cuda, 1);
    if (host && tilemm_alloc_matrix(cuda, TILEMM_MEMORY_DEVICE, 1, count, sizeof(float), &device,
                                    &ld) == TILEMM_SUCCESS) {
        to = time_copy(cuda, host, device, count);
        product = time_product(cuda, device, size);
        from = time_copy(cuda, device, host, count);
        gpu.least = time_product(cuda, host, small);
        tilemm_free_matrix(cuda, device);
    }
    tilemm__blas_set_quiet(cuda, 0);
    free(host);
    gpu.to = (double)count * sizeof(float) / to;
    gpu.from = (double)count * sizeof(float) / from;
    gpu.product = 2.0 * (double)size * (double)size * (double)size / product;
    return to < HUGE_VAL && from < HUGE_VAL && product < HUGE_VAL;
}

double tilemm__blas_gpu_seconds(const tilemm__blas_call_t *p)
{
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k, batch = (double)p->batch;
    const double a = m * k * (p->stride_a || p->kind == SGEMM ? batch : 1);
    const double b = k * n * (p->stride_b || p->kind == SGEMM ? batch : 1);
    const double c = m * n * batch;
    return gpu.least +
           sizeof(float) * ((a + b + (p->beta == 0.0f ? 0 : c)) / gpu.to + c / gpu.from) +
           tilemm__blas_work(p) / gpu.product;
}
