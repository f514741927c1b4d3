/* access_sweep.c - the memory model against the profiler's counts for the same accesses on GPUs:
 * access_sweep.csv, which access_sweep.sh measured. Needs no GPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 * Environment: SWEEP, the file (default: tests/unit/access_sweep.csv of the source tree). */
#include <stdlib.h>

#include "access_patterns.h"
#include "strided.h"

static pattern_t patterns[PATTERN_MOST];

/* The table is large enough, holds nothing twice, and only accesses that a block can make. */
static void check_table(int count)
{
    char message[128];
    CHECK(count >= 300 && count < PATTERN_MOST, "%d patterns", count);
    for (int i = 0; i < count; i++) {
        const tilemm_warp_access_t *access = &patterns[i].access;
        CHECK(tilemm_model_check(90, access, message, sizeof message) == TILEMM_SUCCESS, "%s: %s",
              patterns[i].name, message);
        CHECK(strlen(patterns[i].name) + 1 < sizeof patterns[i].name && access->active, "%s",
              patterns[i].name);
        for (int lane = 0; lane < 32; lane++)
            CHECK(access->addr[lane] + (unsigned)access->elem_bytes <= PATTERN_MOST_BYTES,
                  "%s: lane %d", patterns[i].name, lane);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(patterns[i].name, patterns[j].name), "'%s' is there twice",
                  patterns[i].name);
    }
}

/* One measurement. Shared memory: wavefronts and conflicts; global memory: sectors and requests. */
static void compare(const pattern_t *pattern, int cc, int first, int second)
{
    if (pattern->is_global) {
        tilemm_global_cost_t cost;
        CHECK(tilemm_model_global(cc, 1, pattern->is_store, &pattern->access, &cost) ==
                      TILEMM_SUCCESS &&
                  cost.transactions == first && second == 1,
              "cc %d, %s: %d sectors, measured %d in %d requests", cc, pattern->name,
              cost.transactions, first, second);
    } else {
        const tilemm_shared_cost_t cost = shared_cost(cc, !pattern->is_store, &pattern->access);
        CHECK(cost.wavefronts == first && cost.conflicts == second,
              "cc %d, %s: %d wavefronts, %d conflicts; measured %d, %d", cc, pattern->name,
              cost.wavefronts, cost.conflicts, first, second);
    }
}

/* Lines are CC,NUMBER,HASH,FIRST,SECOND,NAME; lines that begin with # are comments. */
static void check_measured(FILE *file, int count)
{
    char line[256], name[128];
    int lines = 0, measured = 0, cc, number, first, second;
    unsigned hash;
    while (fgets(line, sizeof line, file)) {
        lines++;
        if (line[0] == '#')
            continue;
        const int is_row = sscanf(line, "%d,%d,%x,%d,%d,%127[^\n]", &cc, &number, &hash, &first,
                                  &second, name) == 6 &&
                           number >= 0 && number < count;
        CHECK(is_row, "line %d is no measurement of the table: %s", lines, line);
        if (!is_row)
            return;
        CHECK(!strcmp(name, patterns[number].name) && hash == pattern_hash(&patterns[number]),
              "line %d measured another access than '%s': measure again", lines,
              patterns[number].name);
        compare(&patterns[number], cc, first, second);
        measured++;
    }
    CHECK(measured >= count, "%d measurements of %d patterns", measured, count);
}

int main(void)
{
    const char *name = getenv("SWEEP");
    const int count = make_patterns(patterns);
    check_table(count);
    FILE *file = fopen(name ? name : TEST_DATA "/access_sweep.csv", "r");
    if (file) {
        check_measured(file, count);
        fclose(file);
        printf("%d patterns\n", count);
    } else if (!check_failures) {
        printf("skipped: %d patterns, not yet measured on a GPU (tests/unit/access_sweep.sh)\n",
               count);
        return CHECK_SKIPPED;
    }
    return check_exit();
}
