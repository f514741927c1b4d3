/* plan_multi.c - how several GPUs divide: every line is one member's, shares follow the rates, and
 * no more travels than must.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "lib/plan_multi.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

enum { HOST = TILEMM__ON_HOST, ANYWHERE = TILEMM__ANYWHERE, FLOAT = sizeof(float) };

/* Members of devices that may stand in the list twice, and have rates of their own if `unlike`. */
static tilemm__multi_devices_t some_devices(rng_t *rng, int unlike)
{
    tilemm__multi_devices_t d = {
        .count = (int)rng_range(rng, 1, 8), .peers = (int)rng_range(rng, 0, 1), .start = 40e-6};
    for (int i = 0; i < d.count; i++) {
        d.ordinal[i] = (int)rng_range(rng, 0, 3);
        d.rate[i] = unlike ? 0.05 + rng_unit(rng) : 1;
    }
    return d;
}

/* Ranges that follow each other and cover everything. */
static void check_cover(const char *what, const tilemm__multi_devices_t *d, const int64_t *begin,
                        int64_t total)
{
    CHECK(begin[0] == 0 && begin[d->count] == total, "%s: %lld to %lld of %lld", what,
          (long long)begin[0], (long long)begin[d->count], (long long)total);
    for (int i = 0; i < d->count; i++)
        CHECK(begin[i] <= begin[i + 1], "%s: member %d", what, i);
}

static void shares(rng_t *rng)
{
    for (int t = 0; t < 4000; t++) {
        const tilemm__multi_devices_t d = some_devices(rng, t % 2);
        const int64_t total = rng_range(rng, 0, t % 5 ? 5000 : INT64_C(1) << 42);
        const int64_t unit = INT64_C(1) << rng_range(rng, 0, 7);
        int64_t begin[TILEMM__MOST_DEVICES + 1];
        double sum = 0, before = 0;
        tilemm__multi_shares(&d, total, unit, begin);
        check_cover("shares", &d, begin, total);
        for (int i = 0; i < d.count; i++)
            sum += d.rate[i];
        for (int i = 0; i + 1 < d.count; i++) {
            before += d.rate[i];
            CHECK(begin[i + 1] % unit == 0, "%lld of unit %lld", (long long)begin[i + 1],
                  (long long)unit);
            CHECK(fabs((double)begin[i + 1] - (double)total * before / sum) <= (double)unit + 1,
                  "member %d ends at %lld of %lld", i, (long long)begin[i + 1], (long long)total);
        }
    }
}

/* Who takes no part has nothing. */
static void nobody(void)
{
    const tilemm__multi_devices_t d = {
        .count = 4, .ordinal = {0, 1, 0, 2}, .rate = {1, 0, 1, 0}, .start = 40e-6};
    int64_t begin[TILEMM__MOST_DEVICES + 1];
    tilemm__multi_shares(&d, 1001, 1, begin);
    CHECK(begin[1] == 501 && begin[2] == 501 && begin[3] == 1001 && begin[4] == 1001,
          "%lld %lld %lld", (long long)begin[1], (long long)begin[2], (long long)begin[3]);
}

/* Small things stay together, large ones are divided. */
static void host(void)
{
    const tilemm__multi_devices_t d = {
        .count = 2, .ordinal = {0, 1}, .rate = {1, 1}, .start = 40e-6};
    int64_t begin[TILEMM__MOST_DEVICES + 1];
    CHECK(tilemm__plan_multi_host(&d, 1000, 1, 4e5, begin) == 1 && begin[1] == 1000, "0.4 MB");
    CHECK(tilemm__plan_multi_host(&d, 1000, 1, 4e8, begin) == 2 && begin[1] == 500, "400 MB");
    CHECK(tilemm__plan_multi_host(&d, 1, 1, 4e8, begin) == 1 && begin[2] == 1, "one thing");
}

static double size_of(const tilemm__sgemm_args_t *p, int operand)
{
    return (operand == 0   ? (double)p->m * (double)p->k
            : operand == 1 ? (double)p->k * (double)p->n
                           : (double)p->m * (double)p->n) *
           FLOAT;
}

/* What must travel at least where the product is divided so, and no more than that. */
static void check_bytes(const tilemm__sgemm_args_t *p, const tilemm__multi_devices_t *d,
                        const int *places, const tilemm__multi_sgemm_plan_t *plan)
{
    const int other = !plan->side;
    double up = 0, down = places[2] == HOST ? size_of(p, 2) : 0, between = 0;
    for (int o = 0; o < 3; o++) {
        const double reads = o < 2 || p->beta != 0 ? 1 : 0;
        double members = 0, far = 0; /* who need the operand, as shares of it */
        for (int i = 0; i < d->count; i++) {
            const double lines = (double)(plan->begin[i + 1] - plan->begin[i]);
            const double all = (double)plan->begin[d->count];
            const double share = lines == 0 ? 0 : o == other ? 1 : lines / all;
            members += share;
            far += places[o] >= 0 && places[o] != d->ordinal[i] ? share : 0;
        }
        if (places[o] == HOST && o == other && plan->relay) {
            up += size_of(p, o); /* once */
            between += size_of(p, o) * (members - 1);
        } else if (places[o] == HOST) {
            up += size_of(p, o) * members * reads;
        } else {
            between += size_of(p, o) * far * (reads + (o == 2 ? 1 : 0));
        }
    }
    CHECK(fabs((double)plan->up - up) <= 2 + up * 1e-12, "up %zu, must be %.0f", plan->up, up);
    CHECK(fabs((double)plan->down - down) <= 2 + down * 1e-12, "down %zu, must be %.0f", plan->down,
          down);
    CHECK(fabs((double)plan->between - between) <= 2 + between * 1e-12, "between %zu, must be %.0f",
          plan->between, between);
}

/* Parts cover C, once, and begin in the operands where their lines are. */
static void check_parts(const tilemm__sgemm_args_t *p, const tilemm__multi_devices_t *d,
                        const tilemm__multi_sgemm_plan_t *plan)
{
    int used = 0;
    for (int i = 0; i < d->count; i++) {
        const int64_t first = plan->begin[i], lines = plan->begin[i + 1] - first;
        if (lines == 0)
            continue;
        used++;
        const tilemm__sgemm_args_t part = tilemm__multi_sgemm_part(p, plan, i);
        CHECK(plan->side ? part.m == p->m && part.n == lines : part.m == lines && part.n == p->n,
              "member %d: %lldx%lld", i, (long long)part.m, (long long)part.n);
        CHECK(part.c == p->c + (plan->side ? first : first * p->ldc), "C of member %d", i);
        CHECK(part.a == p->a + (plan->side ? 0 : first * (p->trans_a ? 1 : p->lda)),
              "A of member %d", i);
        CHECK(part.b == p->b + (plan->side ? first * (p->trans_b ? p->ldb : 1) : 0),
              "B of member %d", i);
    }
    CHECK(used == plan->used, "%d of %d members", used, plan->used);
}

static void products(rng_t *rng)
{
    static float memory[1];
    int divided = 0, relayed = 0;
    for (int t = 0; t < 6000; t++) {
        const tilemm__multi_devices_t d = some_devices(rng, t % 3 == 0);
        const int64_t most = t % 4 ? 40000 : 600;
        tilemm__sgemm_args_t p = {.m = rng_range(rng, 1, most),
                                  .n = rng_range(rng, 1, most),
                                  .k = rng_range(rng, 1, most),
                                  .trans_a = (int)rng_range(rng, 0, 1),
                                  .trans_b = (int)rng_range(rng, 0, 1),
                                  .alpha = 1,
                                  .beta = (float)rng_range(rng, 0, 1),
                                  .a = memory,
                                  .b = memory,
                                  .c = memory,
                                  .batch_count = 1};
        p.lda = (p.trans_a ? p.m : p.k) + 3;
        p.ldb = (p.trans_b ? p.k : p.n) + 3;
        p.ldc = p.n + 3;
        int places[3];
        for (int o = 0; o < 3; o++) /* on the host, managed, or on a device of the list */
            places[o] = t % 2 || rng_range(rng, 0, 3) == 0 ? HOST
                        : rng_range(rng, 0, 5) == 0        ? (int)ANYWHERE
                                                    : d.ordinal[rng_range(rng, 0, d.count - 1)];
        tilemm__multi_sgemm_plan_t plan;
        tilemm__plan_multi_sgemm(&p, &d, places, &plan);
        check_cover("product", &d, plan.begin, plan.side ? p.n : p.m);
        check_parts(&p, &d, &plan);
        check_bytes(&p, &d, places, &plan);
        if (plan.relay) /* A, B and C once in all */
            CHECK((double)plan.up <=
                      size_of(&p, 0) + size_of(&p, 1) + (p.beta != 0 ? size_of(&p, 2) : 0) + 2,
                  "%zu bytes go up", plan.up);
        CHECK(!plan.relay || (d.peers && plan.used > 1), "a relay of %d members", plan.used);
        divided += plan.used > 1;
        relayed += plan.relay;
    }
    CHECK(divided > 1000 && relayed > 300, "%d divided, %d relayed", divided, relayed);
}

/* The problems that the design is for. */
static void choices(void)
{
    tilemm__multi_devices_t d = {
        .count = 2, .ordinal = {0, 1}, .rate = {1, 1}, .peers = 1, .start = 40e-6};
    tilemm__sgemm_args_t p = {.m = 32768, .n = 32768, .k = 32768, .alpha = 1, .batch_count = 1};
    tilemm__multi_sgemm_plan_t plan;
    p.lda = p.ldb = p.ldc = 32768;
    const int pinned[] = {HOST, HOST, HOST}, on_first[] = {0, 0, 0}, on_second[] = {1, 1, 1};
    const size_t bytes = (size_t)32768 * 32768 * FLOAT;
    tilemm__plan_multi_sgemm(&p, &d, pinned, &plan);
    CHECK(plan.used == 2 && plan.relay && plan.up == 2 * bytes && plan.down == bytes &&
              plan.between == bytes && plan.begin[1] == 16384,
          "pinned: %d members, %zu up, %zu between", plan.used, plan.up, plan.between);
    tilemm__plan_multi_sgemm(&p, &d, on_first, &plan);
    CHECK(plan.used == 2 && plan.up == 0 && plan.between == 2 * bytes,
          "on device 0: %d members, %zu between", plan.used, plan.between);
    p.m = p.n = p.k = 512; /* stays where it is */
    tilemm__plan_multi_sgemm(&p, &d, on_second, &plan);
    CHECK(plan.used == 1 && plan.begin[1] == 0 && plan.between == 0, "small, on device 1");
    tilemm__plan_multi_sgemm(&p, &d, pinned, &plan);
    CHECK(plan.used == 1 && plan.begin[1] == 512, "small, on the host");
    d.rate[1] = 0.5;
    p.m = p.n = p.k = 32768;
    tilemm__plan_multi_sgemm(&p, &d, pinned, &plan);
    CHECK(plan.used == 2 && plan.begin[1] > 21500 && plan.begin[1] < 22200, "rates 2 : 1: %lld",
          (long long)plan.begin[1]);
}

int main(void)
{
    rng_t rng = {19};
    shares(&rng);
    nobody();
    host();
    products(&rng);
    choices();
    return check_exit();
}
