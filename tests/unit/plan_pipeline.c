/* plan_pipeline.c - products with operands on the host: their tiles cover C once, slots hold what
 * each product reads, memory stays within the limit, few bytes move, and planes that stay are
 * there.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sgemm/plan_pipeline.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

enum { FLOAT = sizeof(float) };

typedef struct {
    tilemm__sgemm_args_t args;
    tilemm__pipeline_places_t places;
} problem_t;

static const char *describe(const problem_t *p)
{
    static char text[200];
    snprintf(text, sizeof(text), "%lldx%lldx%lld %d%d, on the host %d%d%d, %zu bytes",
             (long long)p->args.m, (long long)p->args.n, (long long)p->args.k, p->args.trans_a,
             p->args.trans_b, p->places.on_host[0], p->places.on_host[1], p->places.on_host[2],
             p->places.memory);
    return text;
}

/* Walk the plan with slots of our own. Returns the bytes that go up for A and B. */
static size_t walk_plan(const problem_t *p, const tilemm__pipeline_plan_t *plan)
{
    const tilemm__pipeline_side_t *a = &plan->side[0], *b = &plan->side[1];
    const int64_t tiles = a->strips * b->strips;
    int64_t *next_part = calloc((size_t)tiles, sizeof(*next_part));
    int64_t held[2][TILEMM__PIPELINE_STRIPS], open_tile = -1;
    tilemm__pipeline_walk_t walk;
    tilemm__pipeline_step_t step;
    size_t bytes = 0;
    int wrong_order = 0, missing = 0, too_large = 0, outside = 0;
    memset(held, -1, sizeof(held));
    tilemm__pipeline_begin(&walk);
    while (tilemm__pipeline_next(plan, &walk, &step)) {
        for (int s = 0; s < 2; s++) {
            const tilemm__pipeline_side_t *side = &plan->side[s];
            outside +=
                step.begin[s] < 0 || step.end[s] > side->strips || step.begin[s] >= step.end[s];
            if (!side->moves) {
                outside += step.ups[s] > 0;
                continue;
            }
            for (int64_t i = 0; i < step.ups[s]; i++) {
                const int64_t what = step.up[s] + i, strip = what / plan->parts;
                /* Several at once go where nothing has been. */
                outside +=
                    step.ups[s] > 1 && (plan->parts > 1 || held[s][what % side->slots] != -1);
                held[s][what % side->slots] = what;
                bytes +=
                    (size_t)(tilemm__pipeline_lines(side, strip, strip + 1) *
                             tilemm__pipeline_depth(plan, p->args.k, what % plan->parts) * FLOAT);
            }
            for (int64_t i = step.begin[s]; i < step.end[s]; i++) {
                const int64_t what = i * plan->parts + step.part;
                missing += held[s][what % side->slots] != what;
                /* Side by side in the slots. */
                missing += (what % side->slots) -
                               (step.begin[s] * plan->parts + step.part) % side->slots !=
                           i - step.begin[s];
            }
        }
        const int64_t rows = tilemm__pipeline_lines(a, step.begin[0], step.end[0]);
        const int64_t columns = tilemm__pipeline_lines(b, step.begin[1], step.end[1]);
        too_large += plan->c_elements && rows * ((columns + 63) / 64 * 64) > plan->c_elements;
        for (int64_t i = step.begin[0]; i < step.end[0]; i++)
            for (int64_t j = step.begin[1]; j < step.end[1]; j++)
                wrong_order += next_part[i * b->strips + j]++ != step.part;
        /* A slot of C holds one tile until its last part. */
        const int64_t tile = step.begin[0] * b->strips + step.begin[1];
        wrong_order += open_tile >= 0 && tile != open_tile;
        open_tile = step.part + 1 < plan->parts ? tile : -1;
    }
    int left = 0;
    for (int64_t i = 0; i < tiles; i++)
        left += next_part[i] != plan->parts;
    CHECK(outside == 0, "%s: %d steps out of bounds", describe(p), outside);
    CHECK(missing == 0, "%s: %d strips are not there", describe(p), missing);
    CHECK(too_large == 0, "%s: %d tiles are larger than C's slots", describe(p), too_large);
    CHECK(wrong_order == 0, "%s: %d tiles twice, or out of order", describe(p), wrong_order);
    CHECK(left == 0, "%s: %d tiles are not done", describe(p), left);
    free(next_part);
    return bytes;
}

/* Walk the plan with planes that stay, in places of our own: what a step reads is there, or is
 * made. Returns the lines that are made. */
static int64_t walk_planes(const problem_t *p, const tilemm__pipeline_plan_t *plan, int s)
{
    enum { UNIT = 128, MOST = 20000 };
    const tilemm__pipeline_side_t *const side = &plan->side[s];
    static int64_t there[MOST]; /* the first line of each UNIT of the room, or -1 */
    tilemm__pipeline_walk_t walk;
    tilemm__pipeline_step_t step;
    int64_t made = 0, room = -1;
    int missing = 0, outside = 0;
    memset(there, -1, sizeof(there));
    tilemm__pipeline_begin(&walk);
    while (tilemm__pipeline_next(plan, &walk, &step)) {
        const tilemm__sgemm_kept_t kept = tilemm__pipeline_kept(side, &step, s);
        const int64_t lines = tilemm__pipeline_lines(side, step.begin[s], step.end[s]);
        if (room < 0)
            room = kept.room;
        outside += kept.room != room || (room > 0) != (side->kept > 0);
        if (room == 0) {
            made += lines;
            continue;
        }
        outside += kept.room % UNIT != 0 || kept.place % UNIT != 0 || kept.place < 0 ||
                   kept.place + lines > room || room / UNIT > MOST;
        if (outside)
            break;
        made += kept.is_there ? 0 : lines;
        for (int64_t line = 0; line < lines; line += UNIT) {
            int64_t *const at = &there[(kept.place + line) / UNIT];
            if (!kept.is_there)
                *at = step.begin[s] * side->strip + line;
            missing += *at != step.begin[s] * side->strip + line;
        }
    }
    CHECK(outside == 0, "%s: side %d: planes have no place", describe(p), s);
    CHECK(missing == 0, "%s: side %d: planes of %d lines are not there", describe(p), s, missing);
    return made;
}

/* What stays is made once, or each time that it comes. */
static void check_planes(const problem_t *p, tilemm__pipeline_plan_t *plan)
{
    const int many = plan->way == TILEMM__PIPELINE_HELD ? plan->held : 0;
    int64_t made[2][3];
    for (int keep = TILEMM__PIPELINE_KEEP_NONE; keep <= TILEMM__PIPELINE_KEEP_MANY; keep++) {
        const int any = tilemm__pipeline_keep(plan, (tilemm__pipeline_keep_t)keep);
        CHECK(any == (plan->side[0].kept > 0 || plan->side[1].kept > 0) &&
                  (!any || (keep != TILEMM__PIPELINE_KEEP_NONE && plan->parts == 1)),
              "%s: keep %d: %d", describe(p), keep, any);
        for (int s = 0; s < 2; s++)
            made[s][keep] = walk_planes(p, plan, s);
    }
    if (plan->side[many].kept > 0)
        CHECK(made[many][2] == plan->side[many].lines, "%s: planes of %lld lines, not %lld",
              describe(p), (long long)made[many][2], (long long)plan->side[many].lines);
    CHECK(made[many][2] <= made[many][1] && made[many][1] == made[many][0] &&
              made[!many][2] == made[!many][1] && made[!many][1] <= made[!many][0],
          "%s: more is made where more stays", describe(p));
    if (plan->side[!many].kept > 0 && plan->way == TILEMM__PIPELINE_WHOLE)
        CHECK(made[!many][1] == plan->side[!many].lines, "%s: planes of %lld lines, not %lld",
              describe(p), (long long)made[!many][1], (long long)plan->side[!many].lines);
}

static void check_slots(const problem_t *p, const tilemm__pipeline_plan_t *plan)
{
    int64_t bytes = plan->c_elements * TILEMM__PIPELINE_C_SLOTS * FLOAT;
    for (int s = 0; s < 2; s++) {
        const tilemm__pipeline_side_t *side = &plan->side[s];
        const int64_t across = side->slots * side->strip;
        CHECK(side->strips * side->strip >= side->lines &&
                  (side->strips - 1) * side->strip < side->lines,
              "%s: side %d: %lld strips of %lld", describe(p), s, (long long)side->strips,
              (long long)side->strip);
        if (!side->moves)
            continue;
        CHECK(side->slots >= 1 && side->slots <= TILEMM__PIPELINE_STRIPS, "%s: side %d: %lld slots",
              describe(p), s, (long long)side->slots);
        const int64_t width = side->lines < across ? side->lines : across;
        CHECK(side->ld >= (side->rows ? plan->k_part : width), "%s: side %d: ld = %lld",
              describe(p), s, (long long)side->ld);
        bytes += side->ld * (side->rows ? across : plan->k_part) * FLOAT;
    }
    CHECK((size_t)bytes == plan->bytes, "%s: %lld bytes of slots, not %zu", describe(p),
          (long long)bytes, plan->bytes);
    CHECK(plan->bytes <= p->places.memory, "%s: takes %zu bytes", describe(p), plan->bytes);
    CHECK((plan->c_elements > 0) == p->places.on_host[2], "%s: slots of C", describe(p));
}

/* What goes up at least once; and, where k is whole, twice what any order must move with as many
 * lines of k on the device: a line that comes meets no more than those. Where k is short C's slots
 * take most of the memory. What goes up beside more that comes down takes no time. */
static void check_bytes(const problem_t *p, const tilemm__pipeline_plan_t *plan, size_t up)
{
    const double m = (double)p->args.m, n = (double)p->args.n, of_k = (double)p->args.k * FLOAT;
    const int both = p->places.on_host[0] && p->places.on_host[1];
    const double once =
        (p->places.on_host[0] ? m * of_k : 0) + (p->places.on_host[1] ? n * of_k : 0);
    const double c = p->places.on_host[2] ? m * n * FLOAT : 0;
    const double lines = (double)p->places.memory / of_k;
    CHECK(plan->up == up + (p->args.beta != 0 ? (size_t)c : 0), "%s: %zu go up, not %zu",
          describe(p), up, plan->up);
    CHECK(plan->down == (size_t)c, "%s: %zu come down", describe(p), plan->down);
    CHECK((double)up >= once, "%s: only %zu go up", describe(p), up);
    if (plan->way == TILEMM__PIPELINE_WHOLE)
        CHECK((double)up == once, "%s: %zu go up, not once", describe(p), up);
    else if (both && p->args.k >= 1024 && plan->parts == 1 && lines >= 4096)
        CHECK((double)up <= fmax(once + 2 * m * n / lines * of_k, c), "%s: %zu go up, %.0f once",
              describe(p), up, once);
}

static int check_problem(const problem_t *p)
{
    tilemm__pipeline_plan_t plan, again;
    const int status = tilemm__plan_pipeline(&p->args, &p->places, &plan);
    if (status != TILEMM_SUCCESS) {
        CHECK(status == TILEMM_OUT_OF_MEMORY && p->places.memory < 200000, "%s: status %d",
              describe(p), status);
        return -1;
    }
    memset(&again, 0xff, sizeof(again));
    tilemm__plan_pipeline(&p->args, &p->places, &again);
    CHECK(memcmp(&plan, &again, sizeof(plan)) == 0, "%s: another plan", describe(p));
    check_slots(p, &plan);
    check_bytes(p, &plan, walk_plan(p, &plan));
    check_planes(p, &plan);
    /* k stays whole where 64 lines of each side fit twice. */
    if (plan.parts > 1) {
        const int64_t k = (p->args.k + 63) / 64 * 64;
        CHECK((double)p->places.memory < 4.0 * 64 * FLOAT * (double)(k + 64), "%s: k is divided",
              describe(p));
    }
    return (int)plan.way;
}

static void random_problems(void)
{
    enum { PROBLEMS = 1000 };
    int ways[4] = {0};
    rng_t rng = {1};
    for (int i = 0; i < PROBLEMS; i++) {
        problem_t p = {.args = {.m = 1 + pick_size(i % 4 ? 16 : 11),
                                .n = 1 + pick_size(i % 4 ? 16 : 11),
                                .k = 1 + pick_size(i % 4 ? 15 : 22),
                                .trans_a = (int)pick(2),
                                .trans_b = (int)pick(2),
                                .alpha = 1,
                                .beta = (float)pick(2),
                                .batch_count = 1}};
        const int places = 1 + (int)pick(7);
        for (int o = 0; o < 3; o++)
            p.places.on_host[o] = places >> o & 1;
        p.places.memory = (size_t)1 << rng_range(&rng, i % 4 ? 24 : 14, 36);
        p.places.sm_count = (int)rng_range(&rng, 10, 256);
        p.places.link = ldexp(1, (int)rng_range(&rng, -2, 3));
        ways[1 + check_problem(&p)]++;
    }
    for (int way = 0; way < 4; way++)
        CHECK(ways[way] >= PROBLEMS / 100, "only %d plans of way %d", ways[way], way - 1);
}

/* Sizes of the table in doc/performance.md, on a device with 4 GiB for operands. */
static void large(void)
{
    problem_t p = {.args = {.m = 32768, .n = 32768, .k = 32768, .alpha = 1, .batch_count = 1},
                   .places = {(size_t)4 << 30, 132, {1, 1, 1}, 1}};
    tilemm__pipeline_plan_t plan;
    CHECK(check_problem(&p) == TILEMM__PIPELINE_HELD, "32768 in 4 GiB");
    CHECK(tilemm__plan_pipeline(&p.args, &p.places, &plan) == TILEMM_SUCCESS &&
              plan.up <= (size_t)14 << 30,
          "%zu go up", plan.up);
    CHECK(tilemm__pipeline_keep(&plan, TILEMM__PIPELINE_KEEP_MANY) &&
              plan.side[plan.held].kept == plan.side[plan.held].slots &&
              plan.side[!plan.held].kept == 1,
          "32768 in 4 GiB keeps no planes");
    p.places.memory = (size_t)100 << 30;
    CHECK(check_problem(&p) == TILEMM__PIPELINE_WHOLE, "32768 in 100 GiB");
    CHECK(tilemm__plan_pipeline(&p.args, &p.places, &plan) == TILEMM_SUCCESS &&
              tilemm__pipeline_keep(&plan, TILEMM__PIPELINE_KEEP_MANY) &&
              plan.side[0].kept == plan.side[0].strips && plan.side[1].kept == plan.first,
          "32768 in 100 GiB keeps no planes");
    for (int columns = 0; columns < 2; columns++) {
        p.args.m = columns ? 100 : 10000000;
        p.args.n = columns ? 10000000 : 100;
        p.args.k = 100;
        CHECK(check_problem(&p) == TILEMM__PIPELINE_WHOLE, "a long side");
    }
}

/* The estimate of cubes on an H200, beside what the link and the product (2048 multiply-adds in the
 * time of a byte) take by themselves; and beside slices that are cut alike on all devices. */
static void estimates(void)
{
    for (int64_t n = 2048; n <= 65536; n *= 2)
        for (int places = 1; places < 8; places++) {
            const problem_t p = {
                .args = {.m = n,
                         .n = n,
                         .k = n,
                         .alpha = 1,
                         .lda = n,
                         .ldb = n,
                         .ldc = n,
                         .batch_count = 1},
                .places = {(size_t)200 << 30, 132, {places & 1, places >> 1 & 1, places >> 2}, 1}};
            problem_t shared = p;
            tilemm__pipeline_plan_t plan, alike;
            CHECK(check_problem(&p) == TILEMM__PIPELINE_WHOLE, "%s: another way", describe(&p));
            shared.places.sharers[1] = 1;
            CHECK(check_problem(&shared) == TILEMM__PIPELINE_WHOLE, "%s: another way",
                  describe(&p));
            tilemm__plan_pipeline(&shared.args, &shared.places, &alike);
            shared.places.sharers[1] = 2;
            tilemm__plan_pipeline(&shared.args, &shared.places, &plan);
            CHECK(plan.time <= alike.time, "%s: %.3g by two, %.3g by one", describe(&p), plan.time,
                  alike.time);
            tilemm__plan_pipeline(&p.args, &p.places, &plan);
            const double cube = (double)n * (double)n * (double)n, product = cube / 2048;
            const double up = (double)plan.up, down = (double)plan.down;
            CHECK(plan.time > product && plan.time > up && plan.time > down,
                  "%s: %.3g, product %.3g, up %.3g, down %.3g", describe(&p), plan.time, product,
                  up, down);
            CHECK(plan.time < 2 * (product + up + down) && plan.time <= alike.time,
                  "%s: %.3g, product %.3g, up %.3g, down %.3g; alike %.3g", describe(&p), plan.time,
                  product, up, down, alike.time);
            CHECK(n < 32768 || plan.time < 1.15 * product, "%s: %.3g, product %.3g", describe(&p),
                  plan.time, product);
        }
}

int main(void)
{
    random_problems();
    estimates();
    large();
    return check_exit();
}
