/* main.c - a fuzz target without a fuzzer: replays files and, with -runs=N, mutations of them.
 *
 * Usage: TARGET [-runs=N] [-seed=N] FILE|FOLDER...
 * An input that fails is left in the file fuzz-failure.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tests/support/random.h"

enum { MOST_BYTES = 4096, MOST_SEEDS = 1000 };

typedef struct {
    uint8_t bytes[MOST_BYTES];
    size_t size;
} input_t;

static input_t seeds[MOST_SEEDS], current;
static int seed_count, is_running;

static void keep_failure(void)
{
    FILE *file = is_running ? fopen("fuzz-failure", "wb") : NULL;
    if (file) {
        fwrite(current.bytes, 1, current.size, file);
        fclose(file);
    }
}

static void on_abort(int number)
{
    keep_failure();
    signal(number, SIG_DFL);
    raise(number);
}

/* Of the sanitizers, where they are linked. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void run(const input_t *input)
{
    uint8_t *exact = malloc(input->size ? input->size : 1); /* sanitizers watch its end */
    current = *input;
    if (!exact)
        exit(1);
    memcpy(exact, input->bytes, input->size);
    is_running = 1;
    LLVMFuzzerTestOneInput(exact, input->size);
    is_running = 0;
    free(exact);
}

static void read_seeds(const char *path)
{
    DIR *folder = opendir(path);
    if (folder) {
        for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            char name[4096];
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            if (entry->d_name[0] != '.')
                read_seeds(name);
        }
        closedir(folder);
        return;
    }
    FILE *file = fopen(path, "rb");
    if (!file || seed_count == MOST_SEEDS) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    seeds[seed_count].size = fread(seeds[seed_count].bytes, 1, MOST_BYTES, file);
    seed_count++;
    fclose(file);
}

static void mutate(input_t *input, rng_t *rng)
{
    static const uint8_t values[] = {0, 1, 127, 128, 255, '0', '9', '(', ')', ',', '\'', '\n'};
    const input_t *other = &seeds[rng_range(rng, 0, seed_count - 1)];
    const size_t at = (size_t)rng_range(rng, 0, (int64_t)input->size);
    const size_t rest = input->size - at;
    size_t count = (size_t)rng_range(rng, 1, 8);
    switch (rng_range(rng, 0, 5)) {
    case 0:
        if (rest)
            input->bytes[at] ^= (uint8_t)(1 << rng_range(rng, 0, 7));
        return;
    case 1:
        if (rest)
            input->bytes[at] = values[rng_range(rng, 0, sizeof values - 1)];
        return;
    case 2: /* insert */
        count = count < MOST_BYTES - input->size ? count : MOST_BYTES - input->size;
        memmove(input->bytes + at + count, input->bytes + at, rest);
        rng_bytes(rng, input->bytes + at, count);
        input->size += count;
        return;
    case 3: /* remove */
        count = count < rest ? count : rest;
        memmove(input->bytes + at, input->bytes + at + count, rest - count);
        input->size -= count;
        return;
    case 4: /* go on as another seed */
        if (at <= other->size) {
            memcpy(input->bytes + at, other->bytes + at, other->size - at);
            input->size = other->size;
        }
        return;
    default: rng_bytes(rng, input->bytes + at, count < rest ? count : rest);
    }
}

int main(int argc, char **argv)
{
    long runs = 0;
    rng_t rng = {1};
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "-runs=", 6) == 0)
            runs = atol(argv[i] + 6);
        else if (strncmp(argv[i], "-seed=", 6) == 0)
            rng.state = strtoull(argv[i] + 6, NULL, 10);
        else
            read_seeds(argv[i]);
    if (!seed_count) {
        fprintf(stderr, "Usage: %s [-runs=N] [-seed=N] FILE|FOLDER...\n", argv[0]);
        return 1;
    }
    atexit(keep_failure);
    signal(SIGABRT, on_abort);
    signal(SIGSEGV, on_abort);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(keep_failure);
    for (int i = 0; i < seed_count; i++)
        run(&seeds[i]);
    for (long i = 0; i < runs; i++) {
        input_t input = seeds[rng_range(&rng, 0, seed_count - 1)];
        for (int64_t times = rng_range(&rng, 1, 6); times > 0; times--)
            mutate(&input, &rng);
        run(&input);
    }
    printf("%d seeds and %ld mutations\n", seed_count, runs);
    return 0;
}
