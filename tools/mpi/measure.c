/* measure.c - contenders in turns, and libtilemm's contenders.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "tool.h"
#include "tools/quantile.h"

/* Seconds that all samples of a contender may take, unless their number is given. */
static const double seconds_each = 2;
enum { MIN_REPS = 3, MAX_REPS = 21, MAX_K = 4096 };

/* Seconds from when the first process begins until the last has ended, or -1 on all. */
static double sample(problem_t *p, contender_t *contender)
{
    int failed = !contender->keeps_c && problem_poison(p) != 0;
    if (any_failed(p->place, failed))
        return -1;
    MPI_Barrier(p->place->comm);
    const double begin = MPI_Wtime();
    failed = contender->run(p, contender->user) != 0;
    MPI_Barrier(p->place->comm); /* processes that share a processor run one after the other */
    const double seconds = MPI_Wtime() - begin;
    return any_failed(p->place, failed) ? -1 : largest(p->place, seconds);
}

int measure(problem_t *p, contender_t *contenders, int count, int reps)
{
    double samples[MAX_CONTENDERS][MAX_REPS];
    int most = 0;
    for (int i = 0; i < count; i++) {
        contender_t *contender = &contenders[i];
        const double first = sample(p, contender);
        if (first < 0)
            return -1;
        contender->error = contender->keeps_c ? NAN : problem_error(p);
        const double again = sample(p, contender);
        if (again < 0)
            return -1;
        contender->reps = reps ? reps : (int)fmax(MIN_REPS, fmin(MAX_REPS, seconds_each / again));
        contender->reps = contender->reps > MAX_REPS ? MAX_REPS : contender->reps;
        most = contender->reps > most ? contender->reps : most;
    }
    for (int rep = 0; rep < most; rep++)
        for (int i = 0; i < count; i++)
            if (rep < contenders[i].reps && (samples[i][rep] = sample(p, &contenders[i])) < 0)
                return -1;
    for (int i = 0; i < count; i++) {
        contender_t *contender = &contenders[i];
        sort_samples(samples[i], contender->reps);
        contender->least = samples[i][0];
        contender->median = quantile(samples[i], contender->reps, 0.5);
        contender->q1 = quantile(samples[i], contender->reps, 0.25);
        contender->q3 = quantile(samples[i], contender->reps, 0.75);
    }
    return 0;
}

int run_tilemm(problem_t *p, void *unused)
{
    (void)unused;
    return check_status(p->place,
                        tilemm_psgemm(p->place->grid, p->transa, p->transb, p->size.m, p->size.n,
                                      p->size.k, p->alpha, p->part[A], 1, 1, p->desc[A], p->part[B],
                                      1, 1, p->desc[B], p->beta, p->part[C], 1, 1, p->desc[C]));
}

/* ---- products that nothing travels for --------------------------------------------------- */

static float *allocate(tilemm_t ctx, int on_device, int64_t elements)
{
    void *memory = NULL;
    int64_t ld;
    return tilemm_alloc_matrix(ctx, on_device ? TILEMM_MEMORY_DEVICE : TILEMM_MEMORY_HOST, 1,
                               elements ? elements : 1, sizeof(float), &memory,
                               &ld) == TILEMM_SUCCESS
               ? memory
               : NULL;
}

/* Random numbers: those of a host operand, over and over. */
static int fill(tilemm_t ctx, float *x, int64_t elements)
{
    enum { CHUNK = 1 << 16 };
    float *numbers = malloc(CHUNK * sizeof *numbers);
    int failed = !numbers;
    uint64_t state = 1;
    for (int i = 0; !failed && i < CHUNK; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        numbers[i] = (float)(state >> 40) / (1 << 23) - 1;
    }
    for (int64_t from = 0; !failed && from < elements; from += CHUNK) {
        const int64_t count = elements - from < CHUNK ? elements - from : CHUNK;
        failed = tilemm_copy_matrix(ctx, 1, count, sizeof *x, numbers, count, x + from, count) !=
                 TILEMM_SUCCESS;
    }
    failed = tilemm_synchronize(ctx) != TILEMM_SUCCESS || failed;
    free(numbers);
    return failed ? -1 : 0;
}

static int open_product(problem_t *p, share_product_t *product)
{
    tilemm_t ctx = p->place->ctx;
    product->ctx = ctx;
    product->a = allocate(ctx, p->on_device, product->m * product->k);
    product->b = allocate(ctx, p->on_device, product->k * product->n);
    product->c = allocate(ctx, p->on_device, product->m * product->n);
    int failed = !product->a || !product->b || !product->c;
    if (!failed)
        failed = fill(ctx, product->a, product->m * product->k) != 0 ||
                 fill(ctx, product->b, product->k * product->n) != 0 ||
                 fill(ctx, product->c, product->m * product->n) != 0;
    return failed ? -1 : 0;
}

int share_open(problem_t *p, share_product_t *share)
{
    const int64_t k = p->size.k < MAX_K ? p->size.k : MAX_K;
    *share = (share_product_t){.m = p->local_rows[C],
                               .n = p->local_cols[C],
                               .k = k,
                               .scale = (double)p->size.k / (double)k};
    if (any_failed(p->place, open_product(p, share) != 0)) {
        share_close(share);
        return -command_error("no memory for the share of a process alone");
    }
    return 0;
}

int one_open(problem_t *p, share_product_t *one)
{
    *one = (share_product_t){
        .ctx = p->place->ctx, .m = p->size.m, .n = p->size.n, .k = p->size.k, .scale = 1};
    if (any_failed(p->place, p->place->rank == 0 && open_product(p, one) != 0)) {
        share_close(one);
        return -command_error("no memory for the whole product on one process");
    }
    return 0;
}

void share_close(share_product_t *share)
{
    tilemm_free_matrix(share->ctx, share->a);
    tilemm_free_matrix(share->ctx, share->b);
    tilemm_free_matrix(share->ctx, share->c);
    *share = (share_product_t){0};
}

int multiply_share(problem_t *p, void *user)
{
    const share_product_t *s = user;
    const tilemm_status_t status = tilemm_sgemm(
        s->ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, s->m, s->n, s->k, 1, s->a,
        s->m ? s->m : 1, s->b, s->k ? s->k : 1, p->beta, s->c, s->m ? s->m : 1);
    if (check_status(p->place, status) != 0)
        return -1;
    return check_status(p->place, tilemm_synchronize(s->ctx));
}

int run_one(problem_t *p, void *user)
{
    const int failed = p->place->rank == 0 && multiply_share(p, user) != 0;
    wait_quietly(p->place->comm);
    return failed ? -1 : 0;
}
