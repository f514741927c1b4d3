/* random.c - random products and transposes of distributed matrices, beside FP64, by element.
 *
 *     mpirun -n PROCESSES random COUNT [cpu | cuda | device | simulated]
 *
 * cuda computes on a GPU what lies on the host, device what lies on the GPU. Exits 77 without one.
 * simulated is device on GPUs that are not there (copies.sh).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spread.h"
#include "tests/support/check.h"
#include "tests/support/program.h"

enum { MOST_PLACES = 16 };

static tilemm_t ctx;
static int on_device; /* operands lie on the GPU */
static place_t places[MOST_PLACES];
static int place_count;
static int variants[3], moved; /* plans that were seen */

/* Grids of all processes, and some that leave processes over. */
static void make_places(int procs)
{
    for (int rows = 1; rows <= procs; rows++)
        for (int cols = procs / rows; cols >= 1; cols--)
            if ((rows * cols == procs || (rows * cols == procs - 1 && procs > 2)) &&
                place_count < MOST_PLACES)
                places[place_count++] = spread_place(MPI_COMM_WORLD, rows, cols, ctx);
}

/* A product's arguments. */
typedef struct {
    tilemm_op_t transa, transb;
    int64_t m, n, k;
    float alpha, beta;
    spread_t a, b, c;
} problem_t;

static float pick_factor(rng_t *rng)
{
    static const float factors[] = {0.0f, 1.0f, -1.0f, 0.5f, 1.75f};
    return factors[rng_range(rng, 0, 4)];
}

static int64_t pick_side(rng_t *rng, int64_t most)
{
    switch (rng_range(rng, 0, 9)) {
    case 0: return rng_range(rng, 0, 3);
    case 1: return rng_range(rng, 1, 2 * most);
    default: return rng_range(rng, 1, most);
    }
}

static problem_t make_problem(rng_t *rng, const place_t *place)
{
    problem_t p;
    const int most_block = (int)(rng_range(rng, 0, 4) == 0 ? 300 : rng_range(rng, 1, 40));
    /* Now and then several panels of k; or one side is long, so that another matrix stays. */
    static const int64_t most[5][3] = {
        {90, 90, 90}, {60, 60, 600}, {600, 40, 300}, {300, 20, 500}, {30, 500, 300}};
    const int64_t *sides = most[rng_range(rng, 0, 4)];
    p.transa = rng_range(rng, 0, 1) ? TILEMM_TRANS : TILEMM_NO_TRANS;
    p.transb = rng_range(rng, 0, 1) ? TILEMM_TRANS : TILEMM_NO_TRANS;
    p.m = pick_side(rng, sides[0]);
    p.n = pick_side(rng, sides[1]);
    p.k = pick_side(rng, sides[2]);
    p.alpha = pick_factor(rng);
    p.beta = pick_factor(rng);
    const int turn_a = p.transa == TILEMM_TRANS, turn_b = p.transb == TILEMM_TRANS;
    p.a = spread_random(rng, place, turn_a ? p.k : p.m, turn_a ? p.m : p.k, most_block);
    p.b = spread_random(rng, place, turn_b ? p.n : p.k, turn_b ? p.k : p.n, most_block);
    p.c = spread_random(rng, place, p.m, p.n, most_block);
    /* Half of them are laid out alike, as they mostly are. */
    if (rng_range(rng, 0, 1)) {
        const int nb = (int)rng_range(rng, 1, most_block);
        p.a = spread_plain(place, p.a.rows, p.a.cols, nb, nb, p.a.seed);
        p.b = spread_plain(place, p.b.rows, p.b.cols, nb, nb, p.b.seed);
        p.c = spread_plain(place, p.c.rows, p.c.cols, nb, nb, p.c.seed);
    }
    return p;
}

/* Where beta is 0, C's elements are NaN. */
static void poison(problem_t *p)
{
    for (int64_t c = 0; c < p->c.local_cols && p->beta == 0.0f; c++)
        for (int64_t r = 0; r < p->c.local_rows; r++)
            if (spread_inside(&p->c, p->c.row_of[r], p->c.col_of[c]))
                p->c.part[r + c * p->c.ld] = NAN;
}

static void check_element(const problem_t *p, int number, int64_t i, int64_t j, float is)
{
    const double u = ldexp(1, -24), terms = (double)(p->k < 120 ? p->k : 120) + 8;
    double sum = 0, size = 0;
    for (int64_t q = 0; q < p->k && p->alpha != 0.0f; q++) {
        const double a = p->transa == TILEMM_TRANS ? spread_value(&p->a, p->a.i + q, p->a.j + i)
                                                   : spread_value(&p->a, p->a.i + i, p->a.j + q);
        const double b = p->transb == TILEMM_TRANS ? spread_value(&p->b, p->b.i + j, p->b.j + q)
                                                   : spread_value(&p->b, p->b.i + q, p->b.j + j);
        sum += a * b;
        size += fabs(a * b);
    }
    sum *= p->alpha;
    size *= fabs((double)p->alpha);
    if (p->beta != 0.0f) {
        const double c = (double)p->beta * spread_value(&p->c, p->c.i + i, p->c.j + j);
        sum += c;
        size += fabs(c);
    }
    CHECK(fabs(is - sum) <= terms * u * size,
          "problem %d: C(%lld, %lld) = %.9g, must be %.9g, %d%d m %lld n %lld k %lld alpha %g beta "
          "%g",
          number, (long long)i, (long long)j, (double)is, sum, (int)p->transa, (int)p->transb,
          (long long)p->m, (long long)p->n, (long long)p->k, (double)p->alpha, (double)p->beta);
}

static void check_result(const problem_t *p, int number)
{
    for (int64_t c = 0; c < p->c.local_cols; c++)
        for (int64_t r = 0; r < p->c.local_rows; r++) {
            const int64_t i = p->c.row_of[r], j = p->c.col_of[c];
            if (spread_inside(&p->c, i, j))
                check_element(p, number, i - p->c.i, j - p->c.j, p->c.part[r + c * p->c.ld]);
        }
    CHECK(spread_untouched(&p->c), "problem %d: C's surroundings", number);
}

/* A part where the call is to find it. */
static float *send(const spread_t *x)
{
    int64_t ld = 0;
    void *there = NULL;
    if (!on_device || x->local_cols == 0)
        return x->part;
    CHECK_OK(ctx, tilemm_alloc_matrix(ctx, TILEMM_MEMORY_DEVICE, 1, x->ld * x->local_cols,
                                      sizeof(float), &there, &ld));
    CHECK_OK(ctx, tilemm_copy_matrix(ctx, x->local_cols, x->ld, sizeof(float), x->part, x->ld,
                                     there, x->ld));
    return there;
}

static void take_back(const spread_t *x, float *there, int changed)
{
    if (there == x->part)
        return;
    if (changed)
        CHECK_OK(ctx, tilemm_copy_matrix(ctx, x->local_cols, x->ld, sizeof(float), there, x->ld,
                                         x->part, x->ld));
    CHECK_OK(ctx, tilemm_synchronize(ctx));
    CHECK_OK(ctx, tilemm_free_matrix(ctx, there));
}

static tilemm_status_t multiply(const place_t *place, problem_t *p)
{
    float *const a = send(&p->a), *const b = send(&p->b), *const c = send(&p->c);
    const tilemm_status_t status =
        tilemm_psgemm(place->grid, p->transa, p->transb, p->m, p->n, p->k, p->alpha, a, p->a.i + 1,
                      p->a.j + 1, p->a.desc, b, p->b.i + 1, p->b.j + 1, p->b.desc, p->beta, c,
                      p->c.i + 1, p->c.j + 1, p->c.desc);
    take_back(&p->a, a, 0);
    take_back(&p->b, b, 0);
    take_back(&p->c, c, 1);
    return status;
}

static tilemm_status_t transpose(const place_t *place, problem_t *p)
{
    float *const a = send(&p->a), *const c = send(&p->c);
    const tilemm_status_t status =
        tilemm_pstran(place->grid, p->m, p->n, p->alpha, a, p->a.i + 1, p->a.j + 1, p->a.desc,
                      p->beta, c, p->c.i + 1, p->c.j + 1, p->c.desc);
    take_back(&p->a, a, 0);
    take_back(&p->c, c, 1);
    return status;
}

static void try_product(rng_t *rng, int number)
{
    const place_t *place = &places[rng_range(rng, 0, place_count - 1)];
    problem_t p = make_problem(rng, place);
    tilemm_psgemm_plan_t plan;
    CHECK(tilemm_psgemm_plan(place->rows, place->cols, p.transa, p.transb, p.m, p.n, p.k, p.a.i + 1,
                             p.a.j + 1, p.a.desc, p.b.i + 1, p.b.j + 1, p.b.desc, p.c.i + 1,
                             p.c.j + 1, p.c.desc, 0, &plan) == TILEMM_SUCCESS,
          "problem %d has no plan", number);
    variants[plan.stationary]++;
    moved += plan.redistributed != 0;
    spread_fill(&p.a, place);
    spread_fill(&p.b, place);
    spread_fill(&p.c, place);
    poison(&p);
    CHECK_OK(ctx, multiply(place, &p));
    check_result(&p, number);
    /* Again, from the same C: the same bits. */
    const uint64_t once = spread_digest(&p.c);
    spread_free(&p.c);
    spread_fill(&p.c, place);
    poison(&p);
    CHECK_OK(ctx, multiply(place, &p));
    CHECK(spread_digest(&p.c) == once, "problem %d: other bits the second time", number);
    spread_free(&p.a);
    spread_free(&p.b);
    spread_free(&p.c);
}

static void try_transpose(rng_t *rng, int number)
{
    const place_t *place = &places[rng_range(rng, 0, place_count - 1)];
    const int64_t m = pick_side(rng, 200), n = pick_side(rng, 200);
    const int most_block = (int)rng_range(rng, 1, 80);
    problem_t p = {.m = m, .n = n, .alpha = pick_factor(rng), .beta = pick_factor(rng)};
    p.a = spread_random(rng, place, n, m, most_block);
    p.c = spread_random(rng, place, m, n, most_block);
    spread_fill(&p.a, place);
    spread_fill(&p.c, place);
    poison(&p);
    CHECK_OK(ctx, transpose(place, &p));
    for (int64_t c = 0; c < p.c.local_cols; c++)
        for (int64_t r = 0; r < p.c.local_rows; r++) {
            const int64_t i = p.c.row_of[r], j = p.c.col_of[c];
            if (!spread_inside(&p.c, i, j))
                continue;
            const double a =
                (double)p.alpha * spread_value(&p.a, p.a.i + j - p.c.j, p.a.j + i - p.c.i);
            const double b = p.beta == 0.0f ? 0 : (double)p.beta * spread_value(&p.c, i, j);
            const double is = p.c.part[r + c * p.c.ld];
            CHECK(p.beta == 0.0f && (p.alpha == 1.0f || p.alpha == 0.0f)
                      ? is == a
                      : fabs(is - a - b) <= ldexp(fabs(a) + fabs(b), -22),
                  "transpose %d: (%lld, %lld) = %.9g, must be %.9g", number, (long long)i,
                  (long long)j, is, a + b);
        }
    CHECK(spread_untouched(&p.c), "transpose %d: surroundings", number);
    spread_free(&p.a);
    spread_free(&p.c);
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 300;
    int procs = 1, rank = 0;
    rng_t rng = {2026};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &procs);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *const where = argc > 2 ? argv[2] : "cpu";
    const tilemm_backend_t backend =
        strcmp(where, "cpu") ? TILEMM_BACKEND_CUDA : TILEMM_BACKEND_CPU;
    const int simulated = !strcmp(where, "simulated");
    on_device = simulated || !strcmp(where, "device");
    test_begin(simulated ? TILEMM_BACKEND_CPU : backend);
    ctx = test_context(backend, "");
    tilemm_set_threads(ctx, 1);
    make_places(procs);
    for (int i = 0; i < count; i++)
        try_product(&rng, i);
    for (int i = 0; i < count / 3; i++)
        try_transpose(&rng, i);
    if (count >= 300 && procs >= 4) {
        CHECK(variants[0] > 0 && variants[1] > 0 && variants[2] > 0 && moved > 0,
              "C stays %d times, A %d, B %d", variants[0], variants[1], variants[2]);
    }
    if (rank == 0)
        printf("%d processes: C stays %d times, A %d, B %d; redistributed %d times\n", procs,
               variants[0], variants[1], variants[2], moved);
    for (int i = 0; i < place_count; i++)
        CHECK_OK(ctx, tilemm_grid_destroy(places[i].grid));
    tilemm_destroy(ctx);
    int failed = rank == 0 ? check_exit() : check_failures > 0;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
