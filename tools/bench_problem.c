/* bench_problem.c - parts of a problem that all verbs of `tilemm bench` have: who does it, and
 * where its operands lie.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "bench.h"

const word_t memory_words[] = {{"device", MEMORY_DEVICE},
                               {"pinned", MEMORY_PINNED},
                               {"pageable", MEMORY_PAGEABLE},
                               {"managed", MEMORY_MANAGED},
                               {0}};

void append_memory(const bench_options_t *options, char *text, size_t size)
{
    static const char *const units[] = {"", " KiB", " MiB", " GiB", " TiB"};
    int64_t amount = options->device_memory;
    int unit = 0;
    if (options->memory)
        append(text, size, ", %s", word_of(memory_words, options->memory));
    while (amount && amount % 1024 == 0 && unit < 4) {
        amount /= 1024;
        unit++;
    }
    if (amount)
        append(text, size, ", at most %lld%s of the device's", (long long)amount, units[unit]);
}

contender_t *add_contender(bench_problem_t *p, const char *name,
                           int (*run)(const machine_t *machine, void *problem))
{
    contender_t *added = &p->contenders[p->count++];
    *added = (contender_t){.name = name, .run = run, .norm_error = (double)NAN};
    return added;
}
