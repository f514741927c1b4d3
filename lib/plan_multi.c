/* plan_multi.c - see plan_multi.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "plan_multi.h"

#include <string.h>

#include "lib/size.h"

/* Bytes and multiply-adds a second of a GPU of compute capability 9.0 on PCIe 5 with NVLink, and of
 * copies between GPUs by way of the host: they settle whether a problem is divided, and how. */
static const double host_link = 50e9, peer_link = 300e9, through_host = 12e9,
                    multiply_adds = 150e12;

enum { FLOAT = sizeof(float) };

static double link_of(const tilemm__multi_devices_t *devices)
{
    return devices->peers ? peer_link : through_host;
}

double tilemm__multi_peer_link(const tilemm__multi_devices_t *devices)
{
    return link_of(devices) / host_link;
}

void tilemm__multi_shares(const tilemm__multi_devices_t *devices, int64_t total, int64_t unit,
                          int64_t begin[TILEMM__MOST_DEVICES + 1])
{
    double sum = 0, before = 0;
    for (int i = 0; i < devices->count; i++)
        sum += devices->rate[i];
    begin[0] = 0;
    for (int i = 0; i < devices->count; i++) {
        before += devices->rate[i];
        const double ideal = (double)total * (before / sum);
        begin[i + 1] = tilemm__max(
            begin[i], tilemm__clamp(ideal / (double)unit + 0.5, 0, total / unit) * unit);
    }
    begin[devices->count] = total;
}

/* All of it is member i's. */
static void give_all(const tilemm__multi_devices_t *devices, int64_t total, int i, int64_t *begin)
{
    for (int j = 0; j <= devices->count; j++)
        begin[j] = j > i ? total : 0;
}

static int count_used(const tilemm__multi_devices_t *devices, const int64_t *begin)
{
    int used = 0;
    for (int i = 0; i < devices->count; i++)
        used += begin[i + 1] > begin[i];
    return used;
}

int tilemm__plan_multi_host(const tilemm__multi_devices_t *devices, int64_t total, int64_t unit,
                            double bytes, int64_t begin[TILEMM__MOST_DEVICES + 1])
{
    const double alone = bytes / host_link;
    tilemm__multi_shares(devices, total, unit, begin);
    const int used = count_used(devices, begin);
    if (used > 1 && alone / used + devices->start < alone)
        return used;
    give_all(devices, total, 0, begin);
    return 1;
}

/* ---- products ------------------------------------------------------------------------------- */

/* Bytes that a member's part moves: up, down, and from or to other GPUs. */
typedef struct {
    double up, down, between;
} traffic_t;

static void add_operand(traffic_t *t, int place, int ordinal, double bytes)
{
    if (place == TILEMM__ON_HOST)
        t->up += bytes;
    else if (place != TILEMM__ANYWHERE && place != ordinal)
        t->between += bytes;
}

static traffic_t traffic_of(const tilemm__sgemm_args_t *args, int ordinal, const int places[3],
                            double m, double n)
{
    traffic_t t = {0, 0, 0};
    const double k = (double)args->k, c = m * n * FLOAT;
    if (m == 0 || n == 0)
        return t;
    add_operand(&t, places[0], ordinal, m * k * FLOAT);
    add_operand(&t, places[1], ordinal, n * k * FLOAT);
    if (args->beta != 0)
        add_operand(&t, places[2], ordinal, c);
    if (places[2] == TILEMM__ON_HOST)
        t.down = c;
    else
        add_operand(&t, places[2], ordinal, c);
    return t;
}

/* The bytes and the time of the plan as it is divided. */
static void estimate(const tilemm__sgemm_args_t *args, const tilemm__multi_devices_t *devices,
                     const int places[3], tilemm__multi_sgemm_plan_t *plan)
{
    const int other = !plan->side;
    const double whole = (double)(other ? args->n : args->m) * (double)args->k * FLOAT;
    const double link = link_of(devices);
    double best = 0, fastest = 0, up = 0, down = 0, between = 0;
    plan->used = count_used(devices, plan->begin);
    plan->relay = plan->used > 1 && devices->peers && places[other] == TILEMM__ON_HOST && whole > 0;
    for (int i = 0; i < devices->count; i++)
        fastest = devices->rate[i] > fastest ? devices->rate[i] : fastest;
    for (int i = 0; i < devices->count; i++) {
        const double lines = (double)(plan->begin[i + 1] - plan->begin[i]);
        const double m = plan->side ? (double)args->m : lines;
        const double n = plan->side ? lines : (double)args->n;
        traffic_t t = traffic_of(args, devices->ordinal[i], places, m, n);
        if (lines == 0)
            continue;
        if (plan->relay) { /* its share goes up, the rest comes from the others */
            t.up -= whole * (plan->used - 1) / plan->used;
            t.between += whole * (plan->used - 1) / plan->used;
        }
        const double times[] = {m * n * (double)args->k * fastest /
                                    (devices->rate[i] * multiply_adds),
                                t.up / host_link, t.down / host_link, t.between / link};
        for (int j = 0; j < 4; j++)
            best = times[j] > best ? times[j] : best;
        up += t.up;
        down += t.down;
        between += t.between;
    }
    /* What comes from one GPU leaves it by one link. */
    if (!plan->relay && between / link > best)
        best = between / link;
    plan->up = (size_t)(up + 0.5);
    plan->down = (size_t)(down + 0.5);
    plan->between = (size_t)(between + 0.5);
    plan->seconds = best + (plan->used > 1 ? devices->start : 0);
}

/* Tiles of parts are whole and aligned where there are enough of them. */
static int64_t unit_of(int64_t lines, int count)
{
    int64_t unit = 128;
    while (unit > 1 && lines / unit < 4 * (int64_t)count)
        unit /= 2;
    return unit;
}

void tilemm__plan_multi_sgemm(const tilemm__sgemm_args_t *args,
                              const tilemm__multi_devices_t *devices, const int places[3],
                              tilemm__multi_sgemm_plan_t *plan)
{
    tilemm__multi_sgemm_plan_t trial;
    memset(plan, 0, sizeof *plan);
    for (int i = 0; i < devices->count; i++) { /* alone */
        memset(&trial, 0, sizeof trial);
        give_all(devices, args->m, i, trial.begin);
        estimate(args, devices, places, &trial);
        if (i == 0 || trial.seconds < plan->seconds)
            *plan = trial;
    }
    for (int side = 0; side < 2; side++) {
        const int64_t lines = side ? args->n : args->m;
        memset(&trial, 0, sizeof trial);
        trial.side = side;
        tilemm__multi_shares(devices, lines, unit_of(lines, devices->count), trial.begin);
        estimate(args, devices, places, &trial);
        if (trial.used > 1 && trial.seconds < plan->seconds)
            *plan = trial;
    }
}
