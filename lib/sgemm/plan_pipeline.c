/* plan_pipeline.c - see plan_pipeline.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_pipeline.h"

#include <math.h>
#include <string.h>

#include "kernels/sgemm/cuda/planes.h"
#include "lib/size.h"

/* Lines of a strip are a multiple of UNIT, so that rows and tiles are aligned; better of
 * PLANES_UNIT, as lines of planes are. */
enum {
    UNIT = 64,
    PLANES_UNIT = TILEMM__SGEMM_PLANES_ALIGN_MN,
    LONG_K = 1024,
    BALANCED = 8192, /* columns of op(B): work_of_link * FLOAT of 132 multiprocessors */
    FLOAT = sizeof(float)
};

/* Of a multiprocessor: bytes that it moves in the device's memory, and multiply-adds in mode FP32,
 * in the time of a byte of PCIe 5 (H200). They settle which of several ways takes the
 * least time. */
static const double memory_of_link = 0.3, work_of_link = 15.5;
/* Elements of a tile of C, 128 x 128, which a multiprocessor computes at once. */
static const double tile = 1 << 14;
/* Bytes of PCIe 5 in the time of a step's launches, 5 us. */
static const double launch_of_step = 1 << 18;
/* The part by which bytes take longer while others go the other way. */
static const double both_ways = 0.1;

/* Of all multiprocessors, in the time of a byte of this link. */
static double memory_of(const tilemm__pipeline_places_t *places)
{
    return memory_of_link * places->sm_count / places->link;
}

static double work_of(const tilemm__pipeline_places_t *places)
{
    return work_of_link * places->sm_count / places->link;
}

static double larger(double x, double y)
{
    return x > y ? x : y;
}

/* The link's time for rows of `row_bytes`, which lie apart: the shorter they are, the longer it is.
 */
static double link_time(double bytes, double row_bytes)
{
    const double as_long_again = 4096;
    return bytes * (1 + as_long_again / row_bytes);
}

int64_t tilemm__pipeline_ld(int64_t width, int64_t host_ld)
{
    enum { ACCESS = 4 };
    return width == host_ld && width % ACCESS == 0 ? width : tilemm__round_up(width, UNIT);
}

static int64_t columns_ld(int64_t columns)
{
    return tilemm__round_up(columns, UNIT);
}

/* A side with strips of `strip` lines, of which `slots` stay. */
static void cut(tilemm__pipeline_side_t *side, int64_t strip, int64_t slots, int64_t k)
{
    side->strip = strip;
    side->strips = tilemm__div_up(side->lines, strip);
    side->slots = tilemm__min(slots, side->strips);
    side->ld = side->rows ? tilemm__pipeline_ld(k, side->host_ld)
               : side->slots * side->strip >= side->lines
                   ? tilemm__pipeline_ld(side->lines, side->host_ld)
                   : side->slots * strip;
}

static int64_t side_bytes(const tilemm__pipeline_side_t *side, int64_t k)
{
    return !side->moves ? 0 : side->ld * (side->rows ? side->slots * side->strip : k) * FLOAT;
}

/* Slots of C of rows x columns, or the other way round. */
static int64_t c_elements(int64_t rows, int64_t columns)
{
    return rows * columns_ld(columns);
}

static void add_up(tilemm__pipeline_plan_t *plan, int64_t k, int64_t slot)
{
    plan->k_part = k;
    plan->c_elements = slot;
    plan->bytes = (size_t)(side_bytes(&plan->side[0], k) + side_bytes(&plan->side[1], k) +
                           slot * TILEMM__PIPELINE_C_SLOTS * FLOAT);
}

/* ---- slices of op(B), where both sides stay ------------------------------------------------- */

/* The strips of op(B) in the slice that begins with strip b. */
static int64_t slice_strips(const tilemm__pipeline_plan_t *plan, int64_t b)
{
    return b == 0 ? plan->first : 1;
}

/* The strips of op(A)'s rows by which a slice is multiplied at once, after `done` of them: one,
 * while the rows come up, or where there is one slice; then all, but of wide slices; and fewer and
 * fewer of the last slice, whose C is still to come down. */
static int64_t strips_at_once(const tilemm__pipeline_plan_t *plan, int64_t b, int64_t done)
{
    const tilemm__pipeline_side_t *const side = plan->side;
    const int64_t end = b + slice_strips(plan, b);
    if (b == 0 && (side[0].moves || end == side[1].strips))
        return 1;
    const int64_t many =
        tilemm__min(side[0].strips, tilemm__div_up(side[0].strips * BALANCED / 2, side[1].strip));
    return end < side[1].strips ? many
                                : tilemm__clamp((double)(side[0].strips - done) / 2, 1, many);
}

/* The elements of a slot of C. */
static int64_t slice_elements(const tilemm__pipeline_plan_t *plan)
{
    const tilemm__pipeline_side_t *const a = &plan->side[0], *const b = &plan->side[1];
    const int64_t first = c_elements(strips_at_once(plan, 0, 0) * a->strip, plan->first * b->strip);
    return plan->first == b->strips
               ? first
               : tilemm__max(first,
                             c_elements(strips_at_once(plan, plan->first, 0) * a->strip, b->strip));
}

/* ---- the three ways ------------------------------------------------------------------------- */

/* One slice of op(B) is best where C has most of the bytes. */
static int c_is_most(const tilemm__sgemm_args_t *args)
{
    return args->k <= args->m / 16;
}

/* How wide op(B)'s first slice may be, about. While it is multiplied by strips of op(A)'s rows,
 * these come up: that takes as long as the products, so that the link and the multiprocessors are
 * both busy. */
static int64_t slice_of(const tilemm__sgemm_args_t *args, const tilemm__pipeline_side_t *a,
                        const tilemm__pipeline_side_t *b)
{
    return !b->moves || c_is_most(args) ? b->lines : a->moves ? BALANCED : BALANCED / 2;
}

/* The bytes that lie together of `lines` of a side: of rows with nothing between them, all. */
static double row_of(const tilemm__pipeline_side_t *side, int64_t lines, int64_t k)
{
    const int64_t row = side->rows ? k : lines;
    return row == side->host_ld && row == side->ld ? INFINITY : (double)row * FLOAT;
}

/* Elements of C that the multiprocessors could compute while they wait for a step's last tiles. */
static double idle_of_step(int sm_count)
{
    return sm_count * tile / 2;
}

/* The multiplying of rows x columns of C, in elements: whole waves where they are few. */
static double elements_of(double rows, double columns, int sm_count)
{
    const double elements = rows * columns, wave = sm_count * tile;
    return elements < 2 * wave ? ceil(elements / wave) * wave : elements + idle_of_step(sm_count);
}

/* The link's time until all is done: what goes up, the products and what comes down go on side by
 * side, and each step waits for what it needs. */
static double time_of(const tilemm__sgemm_args_t *args, const tilemm__pipeline_places_t *places,
                      tilemm__pipeline_plan_t plan)
{
    enum { SLOTS = TILEMM__PIPELINE_C_SLOTS };
    const double memory = memory_of(places), work = work_of(places);
    const int c_moves = places->on_host[2];
    const double k = (double)args->k, of_k = k * FLOAT;
    double up = 0, product = 0, down = 0, is_free[SLOTS] = {0};
    tilemm__pipeline_walk_t walk;
    tilemm__pipeline_step_t step;
    int slot = 0;
    tilemm__pipeline_keep(&plan, TILEMM__PIPELINE_KEEP_MANY);
    tilemm__pipeline_begin(&walk);
    while (tilemm__pipeline_next(&plan, &walk, &step)) {
        double lines[2], made = 0;
        for (int s = 0; s < 2; s++) {
            const tilemm__pipeline_side_t *const side = &plan.side[s];
            lines[s] = (double)tilemm__pipeline_lines(side, step.begin[s], step.end[s]);
            made += step.are_there[s] ? 0 : lines[s];
            if (step.ups[s] == 0)
                continue;
            const int64_t come = tilemm__pipeline_lines(side, step.up[s], step.up[s] + step.ups[s]);
            const double bytes =
                (double)come * of_k / (places->sharers[s] ? places->sharers[s] : 1);
            const double time = link_time(bytes, row_of(side, come, args->k));
            up += time + both_ways * larger(0, down - up < time ? down - up : time);
        }
        const tilemm__pipeline_side_t of_c = {
            .ld = tilemm__pipeline_ld((int64_t)lines[1], args->ldc), .host_ld = args->ldc};
        const double row = row_of(&of_c, (int64_t)lines[1], args->k);
        const double c = c_moves ? link_time(lines[0] * lines[1] * FLOAT, row) : 0;
        up += args->beta != 0 ? c : 0;
        product = larger(larger(product, up), is_free[slot]);
        product += launch_of_step * places->link +
                   elements_of(lines[0], lines[1], places->sm_count) * k / work +
                   2 * made * of_k / memory;
        const double begin = larger(down, product);
        is_free[slot] = down = c_moves ? begin + c * (up > begin ? 1 + both_ways : 1) : 0;
        slot = (slot + 1) % SLOTS;
    }
    return larger(product, down);
}

/* Cut op(A) in about `strips` strips, and op(B) where a wide slice would have `parts` strips. */
static void cut_whole(const tilemm__sgemm_args_t *args, int64_t strips, int64_t parts,
                      tilemm__pipeline_plan_t *plan)
{
    enum { LEAST_ROWS = 256, LEAST_COLUMNS = 1024 };
    tilemm__pipeline_side_t *const a = &plan->side[0], *const b = &plan->side[1];
    const int64_t strip = tilemm__max(tilemm__div_up(a->lines, strips),
                                      a->rows || !a->moves ? LEAST_ROWS : LEAST_COLUMNS);
    const int64_t least =
        tilemm__round_up(tilemm__div_up(b->lines, TILEMM__PIPELINE_STRIPS), PLANES_UNIT);
    const int64_t width = tilemm__max(slice_of(args, a, b) / parts, least);
    cut(a, tilemm__even_size(a->lines, strip, PLANES_UNIT), INT64_MAX, args->k);
    cut(b, tilemm__even_size(b->lines, width, PLANES_UNIT), INT64_MAX, args->k);
}

/* Slices of op(B) stay, and strips of op(A): those strips and that first slice for which all takes
 * the least time. Rows of C and of a slice are long, which the link likes. */
static void try_whole(const tilemm__sgemm_args_t *args, const tilemm__pipeline_places_t *places,
                      tilemm__pipeline_plan_t *plan)
{
    enum {
        MOST_STRIPS = 32,
        SHARED_STRIPS = 16,
        LEAST_STRIPS = 4,
        MOST_PARTS = 4,
        SHARED_PARTS = 2
    };
    const int shared = places->sharers[0] || places->sharers[1], c_moves = places->on_host[2];
    const int slices = plan->side[1].moves && !c_is_most(args), grows = plan->side[0].moves;
    const int64_t most_parts = !slices ? 1 : shared ? SHARED_PARTS : MOST_PARTS;
    tilemm__pipeline_plan_t best = *plan;
    plan->way = TILEMM__PIPELINE_WHOLE;
    for (int strips = shared ? SHARED_STRIPS : MOST_STRIPS;
         strips >= (shared ? SHARED_STRIPS : LEAST_STRIPS); strips /= 2)
        for (int64_t parts = shared ? most_parts : 1; parts <= most_parts; parts *= 2) {
            cut_whole(args, strips, parts, plan);
            /* From half a wide slice to one and a half. */
            const int64_t most = tilemm__min(grows ? parts + parts / 2 : 1, plan->side[1].strips);
            plan->first = tilemm__min(grows ? tilemm__div_up(parts, 2) : 1, most);
            for (; plan->first <= most; plan->first++) {
                add_up(plan, args->k, c_moves ? slice_elements(plan) : 0);
                const int fits = plan->bytes <= places->memory;
                plan->time = fits ? time_of(args, places, *plan) : INFINITY;
                if (best.time == 0 || plan->time < best.time)
                    best = *plan;
            }
        }
    *plan = best;
}

/* The elements of C that a product makes while `held` strips stay. */
static int64_t held_c(const tilemm__pipeline_plan_t *plan, int64_t slots, int64_t passing)
{
    const int64_t lines = slots * plan->side[plan->held].strip;
    return plan->held == 0 ? c_elements(lines, passing) : c_elements(passing, lines);
}

/* Hold as much of a side as there is room for, in groups of much the same size. Returns what it
 * costs, in bytes of the link; 0 if it cannot be done. */
static double try_held(const tilemm__sgemm_args_t *args, const tilemm__pipeline_places_t *places,
                       int held, int64_t strip, int64_t passing, tilemm__pipeline_plan_t *plan)
{
    const int c_moves = places->on_host[2];
    const double work = work_of(places);
    tilemm__pipeline_side_t *const stays = &plan->side[held], *const passes = &plan->side[!held];
    plan->way = TILEMM__PIPELINE_HELD;
    plan->held = held;
    strip = tilemm__min(strip, tilemm__round_up(stays->lines, UNIT));
    passing = tilemm__min(passing, tilemm__round_up(passes->lines, UNIT));
    cut(passes, passing, 2, args->k);
    int64_t groups = 1, slots;
    for (;; groups++) {
        slots = tilemm__div_up(tilemm__div_up(stays->lines, strip), groups);
        if (slots <= TILEMM__PIPELINE_STRIPS) {
            cut(stays, strip, slots, args->k);
            add_up(plan, args->k, c_moves ? held_c(plan, slots, passing) : 0);
            if (plan->bytes <= places->memory)
                break;
        }
        if (slots == 1)
            return 0;
    }
    groups = tilemm__div_up(stays->strips, slots);
    const double k = (double)args->k, of_k = k * FLOAT;
    /* Groups are walked there and back: two strips of the passing side stay at a turn. */
    const double again = (double)tilemm__max((passes->strips - passes->slots) * passing, 0);
    /* One strip of a side goes up at a time, and one rectangle of C comes down. */
    const double row_stays = stays->rows ? of_k : (double)strip * FLOAT;
    const double row_passes = passes->rows ? of_k : (double)passing * FLOAT;
    const double up =
        (stays->moves ? link_time((double)stays->lines * of_k, row_stays) : 0) +
        (passes->moves
             ? link_time(((double)passes->lines + again * (double)(groups - 1)) * of_k, row_passes)
             : 0);
    const double down = c_moves ? link_time((double)args->m * (double)args->n * FLOAT,
                                            (double)(held ? slots * strip : passing) * FLOAT)
                                : 0;
    /* Two turns of a group have a step for each of its strips. Kernels prepare a group's lines
     * once, and the passing ones each time that they come. */
    const double turns = (double)groups * (double)passes->strips;
    const double steps = turns + 2 * (double)groups * (double)(slots - 1);
    const double lines = (double)stays->lines + turns * (double)passing;
    const double product =
        ((double)args->m * (double)args->n + steps * idle_of_step(places->sm_count)) * k / work +
        2 * lines * of_k / memory_of(places);
    const double link = up > down ? up : down;
    /* Nothing is multiplied before the first strips are up; and while a group's strips come, each
     * of them meets one strip of the other side alone. */
    const double strip_up = stays->moves ? link_time((double)strip * of_k, row_stays) : 0;
    const double first_up =
        strip_up + (passes->moves ? link_time((double)passing * of_k, row_passes) : 0);
    const double waits = strip_up - (double)strip * (double)passing * k / work;
    return (link > product ? link : product) + first_up + up / 8 +
           (waits > 0 ? waits * (double)(groups * (slots - 1)) : 0);
}

/* Squares of C as large as leaves room for parts of least_k: their side decides what is moved. */
static int try_parts(const tilemm__sgemm_args_t *args, size_t memory, int c_moves, int64_t least_k,
                     tilemm__pipeline_plan_t *plan)
{
    enum { MOST_SIDE = 8192 };
    for (int64_t side = MOST_SIDE; side >= UNIT; side -= UNIT) {
        for (int s = 0; s < 2; s++)
            cut(&plan->side[s], tilemm__even_size(plan->side[s].lines, side, UNIT), 2, least_k);
        plan->way = TILEMM__PIPELINE_K_PARTS;
        const int64_t slot = c_moves ? c_elements(plan->side[0].strip, plan->side[1].strip) : 0;
        int64_t k = tilemm__min(args->k, least_k);
        for (int s = 0; s < 2; s++) {
            plan->side[s].slots = 2;
            plan->side[s].ld = columns_ld(plan->side[s].rows ? k : 2 * plan->side[s].strip);
        }
        add_up(plan, k, slot);
        if (plan->bytes > memory / 4 * 3)
            continue;
        /* The longest parts for which there is room. */
        const size_t fixed = (size_t)(slot * TILEMM__PIPELINE_C_SLOTS * FLOAT);
        const int64_t of_k = 2 * (plan->side[0].strip + plan->side[1].strip) * FLOAT;
        k = tilemm__min(tilemm__max((int64_t)((memory - fixed) / (size_t)of_k) / least_k - 1, 1) *
                            least_k,
                        args->k);
        for (int s = 0; s < 2; s++)
            if (plan->side[s].rows)
                plan->side[s].ld = columns_ld(k);
        add_up(plan, k, slot);
        if (plan->bytes <= memory)
            return 1;
    }
    return 0;
}

/* ---- planes that stay ----------------------------------------------------------------------- */

/* Whether the strips of a side, `kept` of which stay, begin where planes may begin. */
static int64_t may_keep(const tilemm__pipeline_side_t *side, int64_t kept)
{
    return side->strip % PLANES_UNIT == 0 || side->strips == 1 ? kept : 0;
}

int tilemm__pipeline_keep(tilemm__pipeline_plan_t *plan, tilemm__pipeline_keep_t keep)
{
    const int stays = plan->way == TILEMM__PIPELINE_HELD ? plan->held : 0;
    tilemm__pipeline_side_t *const many = &plan->side[stays], *const one = &plan->side[!stays];
    if (plan->way == TILEMM__PIPELINE_K_PARTS)
        keep = TILEMM__PIPELINE_KEEP_NONE;
    /* With one slice of the other side none of `many` is multiplied again. */
    many->kept = keep == TILEMM__PIPELINE_KEEP_MANY && one->strips > plan->first
                     ? may_keep(many, many->slots)
                     : 0;
    one->kept = keep != TILEMM__PIPELINE_KEEP_NONE ? may_keep(one, plan->first) : 0;
    return many->kept > 0 || one->kept > 0;
}

tilemm__sgemm_kept_t tilemm__pipeline_kept(const tilemm__pipeline_side_t *side,
                                           const tilemm__pipeline_step_t *step, int s)
{
    if (side->kept == 0)
        return (tilemm__sgemm_kept_t){0};
    return (tilemm__sgemm_kept_t){.room = tilemm__round_up(side->kept * side->strip, PLANES_UNIT),
                                  .place = step->begin[s] % side->kept * side->strip,
                                  .is_there = step->are_there[s]};
}

/* ---- the walk ------------------------------------------------------------------------------- */

void tilemm__pipeline_begin(tilemm__pipeline_walk_t *walk)
{
    memset(walk->at, 0, sizeof walk->at);
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < TILEMM__PIPELINE_STRIPS; i++)
            walk->inside[s][i] = walk->prepared[s][i] = -1;
}

static void rectangle(tilemm__pipeline_step_t *step, int64_t a0, int64_t a1, int64_t b0, int64_t b1)
{
    step->begin[0] = a0;
    step->end[0] = a1;
    step->begin[1] = b0;
    step->end[1] = b1;
}

/* at: the slice's first strip, and the strips of op(A)'s rows by which it has been multiplied. */
static int next_whole(const tilemm__pipeline_plan_t *plan, int64_t *at,
                      tilemm__pipeline_step_t *step)
{
    const int64_t strips = plan->side[0].strips;
    if (at[0] == plan->side[1].strips)
        return 0;
    const int64_t end = tilemm__min(at[1] + strips_at_once(plan, at[0], at[1]), strips);
    const int64_t slice_end = at[0] + slice_strips(plan, at[0]);
    rectangle(step, at[1], end, at[0], slice_end);
    at[1] = end;
    if (end == strips) {
        at[1] = 0;
        at[0] = slice_end;
    }
    return 1;
}

/* at: the group, the passing strips so far, and the strips of the group that are done. Strips come
 * one by one when a group comes, and when it goes and makes room. */
static int next_held(const tilemm__pipeline_plan_t *plan, int64_t *at,
                     tilemm__pipeline_step_t *step)
{
    const tilemm__pipeline_side_t *const stays = &plan->side[plan->held];
    const tilemm__pipeline_side_t *const passes = &plan->side[!plan->held];
    const int64_t first = at[0] * stays->slots;
    const int64_t end = tilemm__min(first + stays->slots, stays->strips);
    if (first >= stays->strips)
        return 0;
    const int64_t turn = at[0] % 2 ? passes->strips - 1 - at[1] : at[1];
    const int one_by_one = at[1] == 0 || (at[1] == passes->strips - 1 && end < stays->strips);
    const int64_t from = first + at[2], to = one_by_one ? from + 1 : end;
    if (plan->held == 0)
        rectangle(step, from, to, turn, turn + 1);
    else
        rectangle(step, turn, turn + 1, from, to);
    at[2] += to - from;
    if (to == end) {
        at[2] = 0;
        if (++at[1] == passes->strips) {
            at[1] = 0;
            at[0]++;
        }
    }
    return 1;
}

static int next_part(const tilemm__pipeline_plan_t *plan, int64_t *at,
                     tilemm__pipeline_step_t *step)
{
    if (at[0] == plan->side[0].strips)
        return 0;
    rectangle(step, at[0], at[0] + 1, at[1], at[1] + 1);
    step->part = at[2];
    if (++at[2] == plan->parts) {
        at[2] = 0;
        if (++at[1] == plan->side[1].strips) {
            at[1] = 0;
            at[0]++;
        }
    }
    return 1;
}

/* Whether the planes of all strips of a step are there; from now on they are. */
static int find_planes(const tilemm__pipeline_side_t *side, int64_t begin, int64_t end,
                       int64_t *prepared)
{
    int are_there = side->kept > 0;
    for (int64_t i = begin; i < end && side->kept > 0; i++) {
        int64_t *const place = &prepared[i % side->kept];
        are_there &= *place == i;
        *place = i;
    }
    return are_there;
}

int tilemm__pipeline_next(const tilemm__pipeline_plan_t *plan, tilemm__pipeline_walk_t *walk,
                          tilemm__pipeline_step_t *step)
{
    step->part = 0;
    if (!(plan->way == TILEMM__PIPELINE_WHOLE  ? next_whole(plan, walk->at, step)
          : plan->way == TILEMM__PIPELINE_HELD ? next_held(plan, walk->at, step)
                                               : next_part(plan, walk->at, step)))
        return 0;
    for (int s = 0; s < 2; s++) {
        const tilemm__pipeline_side_t *side = &plan->side[s];
        step->up[s] = -1;
        step->ups[s] = 0;
        for (int64_t i = step->begin[s]; i < step->end[s] && side->moves; i++) {
            const int64_t what = i * plan->parts + step->part;
            int64_t *const slot = &walk->inside[s][what % side->slots];
            if (*slot == what)
                continue;
            if (step->ups[s]++ == 0)
                step->up[s] = what;
            *slot = what;
        }
        step->are_there[s] = find_planes(side, step->begin[s], step->end[s], walk->prepared[s]);
    }
    return 1;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static void count_bytes(const tilemm__sgemm_args_t *args, int c_moves,
                        tilemm__pipeline_plan_t *plan)
{
    tilemm__pipeline_walk_t walk;
    tilemm__pipeline_step_t step;
    tilemm__pipeline_begin(&walk);
    const size_t c = c_moves ? (size_t)(args->m * args->n) * FLOAT : 0;
    plan->up = args->beta != 0 ? c : 0;
    plan->down = c;
    while (tilemm__pipeline_next(plan, &walk, &step))
        for (int s = 0; s < 2; s++) {
            const int64_t strip = step.up[s] / plan->parts;
            if (step.ups[s] > 0)
                plan->up +=
                    (size_t)(tilemm__pipeline_lines(&plan->side[s], strip, strip + step.ups[s]) *
                             tilemm__pipeline_depth(plan, args->k, step.part) * FLOAT);
        }
}

int tilemm__plan_pipeline(const tilemm__sgemm_args_t *args, const tilemm__pipeline_places_t *places,
                          tilemm__pipeline_plan_t *plan)
{
    const int c_moves = places->on_host[2];
    memset(plan, 0, sizeof *plan);
    plan->parts = 1;
    plan->side[0] = (tilemm__pipeline_side_t){.lines = args->m,
                                              .host_ld = args->lda,
                                              .rows = !args->trans_a,
                                              .moves = places->on_host[0]};
    plan->side[1] = (tilemm__pipeline_side_t){
        .lines = args->n, .host_ld = args->ldb, .rows = args->trans_b, .moves = places->on_host[1]};
    plan->first = 1;
    try_whole(args, places, plan);
    if (plan->bytes > places->memory) {
        tilemm__pipeline_plan_t best = *plan;
        double least = 0;
        plan->first = 1;
        for (int held = 0; held < 2; held++)
            for (int64_t strip = 4096; strip >= UNIT; strip /= 2)
                for (int64_t passing = 8192; passing >= UNIT; passing /= 2) {
                    const double cost = try_held(args, places, held, strip, passing, plan);
                    if (cost > 0 && (least == 0 || cost < least)) {
                        least = cost;
                        best = *plan;
                    }
                }
        if (least > 0)
            *plan = best;
        else if (!try_parts(args, places->memory, c_moves, LONG_K, plan) &&
                 !try_parts(args, places->memory, c_moves, UNIT, plan))
            return TILEMM_OUT_OF_MEMORY;
    }
    plan->parts = tilemm__div_up(args->k, plan->k_part);
    count_bytes(args, c_moves, plan);
    return TILEMM_SUCCESS;
}
