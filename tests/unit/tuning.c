/* tuning.c - the text of a tuning: what is written is read again; what is for another machine or
 * version is left aside; what is broken is refused in words, with the line, and changes nothing.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "lib/tuning.h"
#include "machines.h"
#include "tests/support/check.h"
#include "tests/support/random.h"
#include "tilemm.h"

#define HEAD                                                                                       \
    "version 1.2.3\nprocessor A chip at 3 GHz\ninstruction-set avx2\ncache-sizes 1 2 3\n"          \
    "number-of-processors 4\n"
#define START "tilemm tuning 1\n" HEAD

static char why[256];

static tilemm__tuning_status_t read_bytes(const char *text, size_t size,
                                          tilemm__cpu_tuning_t *tuning)
{
    *tuning = tilemm__default_tuning(&cpus[1]);
    return tilemm__read_tuning(text, size, HEAD, tuning, why, sizeof why);
}

static void good(void)
{
    tilemm__cpu_tuning_t tuning;
    CHECK(read_bytes(START, strlen(START), &tuning) == TILEMM__TUNING_READ, "%s", why);
    CHECK(tuning.sgemm_parts == 8, "%lld parts", (long long)tuning.sgemm_parts);
    const char all[] = "tilemm tuning 1\n# a remark\n\n" HEAD "   \n#\nsgemm_parts   16 \n"
                       "transpose_far_bytes 1125899906842624\nsgemm_thread_work 0001024\n";
    CHECK(read_bytes(all, strlen(all), &tuning) == TILEMM__TUNING_READ, "%s", why);
    CHECK(tuning.sgemm_parts == 16 && tuning.transpose_far_bytes == (int64_t)1 << 50 &&
              tuning.sgemm_thread_work == 1024 && tuning.sgemm_vector_work == 1 << 18,
          "other numbers");
}

static void broken(void)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "line 1: must be 'tilemm tuning 1'"},
        {"tilemm tuning 1", "line 1: the end of the line"},
        {"\n" START, "line 1: must be 'tilemm tuning 1'"},
        {"tilemm tuning 2\n" HEAD, "line 1: must be"},
        {"\x7f"
         "ELF\n",
         "line 1: byte 127, must be a printable character"},
        {START "sgemm_parts\t8\n", "line 7: byte 9, must be"},
        {START "sgemm_parts 8\r\n", "line 7: byte 13, must be"},
        {START "# \xc3\xa4\n", "line 7: byte 195, must be"},
        {"tilemm tuning 1\n", "line 2: 'version ...' is missing"},
        {"tilemm tuning 1\nversion 1.2.3\n", "line 3: 'processor ...' is missing"},
        {"tilemm tuning 1\nprocessor x\n", "'version ...' is missing"},
        {"tilemm tuning 1\nsgemm_parts 8\n", "'version ...' is missing"},
        {START "sgemm_part 8\n", "line 7: 'sgemm_part' is no constant of this version"},
        {START "sgemm_partss 8\n", "line 7: 'sgemm_partss' is no constant"},
        {START " sgemm_parts 8\n", "line 7: '' is no constant"},
        {START HEAD, "line 7: 'version' is no constant"},
        {START "sgemm_parts\n", "line 7: sgemm_parts = , must be a number from 1 to 64"},
        {START "#\nsgemm_parts 0\n", "line 8: sgemm_parts = 0, must be a number from 1 to 64"},
        {START "sgemm_parts 65\n", "line 7: sgemm_parts = 65, must be a number from 1 to 64"},
        {START "sgemm_parts -1\n", "sgemm_parts = -1, must be"},
        {START "sgemm_parts +1\n", "sgemm_parts = +1, must be"},
        {START "sgemm_parts 1e1\n", "sgemm_parts = 1e1, must be"},
        {START "sgemm_parts 0x8\n", "sgemm_parts = 0x8, must be"},
        {START "sgemm_parts 8 8\n", "sgemm_parts = 8 8, must be"},
        {START "sgemm_parts = 8\n", "sgemm_parts = = 8, must be"},
        {START "sgemm_parts 8.0\n", "sgemm_parts = 8.0, must be"},
        {START "sgemm_thread_work 99999999999999999999999999\n", "must be a number from 1024 to"},
        {START "sgemm_thread_work 1125899906842625\n", "must be a number from 1024 to"},
        {START "sgemm_parts 8\namx_percent 90\nsgemm_parts 8\n",
         "line 9: sgemm_parts is there for the second time"},
        {START "sgemm_parts 8\namx_percent 9", "line 8: the end of the line is missing"},
    };
    static char large[TILEMM__TUNING_BYTES + 2];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tilemm__cpu_tuning_t tuning, built_in = tilemm__default_tuning(&cpus[1]);
        const tilemm__tuning_status_t status =
            read_bytes(cases[i].text, strlen(cases[i].text), &tuning);
        CHECK(status == TILEMM__TUNING_BROKEN, "case %zu is taken", i);
        CHECK(strstr(why, cases[i].why), "'%s', must be '%s'", why, cases[i].why);
        CHECK(memcmp(&tuning, &built_in, sizeof tuning) == 0, "case %zu changes something", i);
    }
    /* as large as can be, and larger */
    tilemm__cpu_tuning_t tuning;
    strcpy(large, START);
    memset(large + strlen(START), '#', sizeof large - strlen(START));
    large[TILEMM__TUNING_BYTES - 1] = large[TILEMM__TUNING_BYTES] = '\n';
    CHECK(read_bytes(large, TILEMM__TUNING_BYTES, &tuning) == TILEMM__TUNING_READ, "%s", why);
    CHECK(read_bytes(large, TILEMM__TUNING_BYTES + 1, &tuning) == TILEMM__TUNING_BROKEN &&
              strstr(why, "8192"),
          "%s", why);
    CHECK(read_bytes("tilemm tuning 1\n\0\n", 18, &tuning) == TILEMM__TUNING_BROKEN, "a zero");
}

/* A line of the head with another value, and then what would be refused. */
static void others(void)
{
    static const char *const cases[] = {
        "tilemm tuning 1\nversion 1.2.4\n\nnonsense\n",
        "tilemm tuning 1\nversion 1.2.3\nprocessor A chip at 3 GHz and more\n",
        "tilemm tuning 1\nversion 1.2.3\nprocessor A chip at 3 GH\n",
        "tilemm tuning 1\nversion 1.2.3\nprocessor A chip at 3 GHz\ninstruction-set avx512\n",
        "tilemm tuning 1\nversion 1.2.3\nprocessor A chip at 3 GHz\ninstruction-set avx2\n"
        "cache-sizes 1 2 4\n",
        "tilemm tuning 1\nversion 1.2.3\nprocessor A chip at 3 GHz\ninstruction-set avx2\n"
        "cache-sizes 1 2 3\nnumber-of-processors 40\nsgemm_parts 0\n"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tilemm__cpu_tuning_t tuning;
        CHECK(read_bytes(cases[i], strlen(cases[i]), &tuning) == TILEMM__TUNING_OTHER, "%s: %s",
              cases[i], why);
        CHECK(strncmp(why, "another ", 8) == 0, "%s", why);
    }
}

/* What is written for a machine is read there, and on no other. */
static void written(void)
{
    char heads[CPUS + 1][512], text[TILEMM__TUNING_WRITTEN];
    tilemm__cpu_traits_t odd = cpus[0];
    memcpy(odd.name, "\x01 odd\n\xff  ", 10);
    for (int i = 0; i <= CPUS; i++)
        tilemm__tuning_head(i < CPUS ? &cpus[i] : &odd, "generic", 4, heads[i], sizeof heads[i]);
    for (int i = 0; i <= CPUS; i++)
        for (int j = 0; j <= CPUS; j++) {
            tilemm__cpu_tuning_t tuning = tilemm__default_tuning(&cpus[i % CPUS]), again = {0};
            tuning.sgemm_thread_work = 1024 + pick(1 << 30);
            tuning.amx_thread_cycles = (int64_t)1 << 50;
            tilemm__write_tuning(heads[i], "/a\npath", &tuning, text);
            const tilemm__tuning_status_t status =
                tilemm__read_tuning(text, strlen(text), heads[j], &again, why, sizeof why);
            CHECK(status == (i == j ? TILEMM__TUNING_READ : TILEMM__TUNING_OTHER), "%d, %d: %s", i,
                  j, why);
            CHECK(i != j || memcmp(&tuning, &again, sizeof tuning) == 0, "%d differs", i);
        }
}

/* Mutations: never anything but one of the three, within the bounds, in printable words. */
static void mutated(void)
{
    static const char start[] = START "sgemm_parts 16\nsgemm_a_bytes 65536\namx_percent 120\n";
    rng_t rng = {7};
    for (int i = 0; i < 200000; i++) {
        char text[sizeof start];
        tilemm__cpu_tuning_t tuning;
        memcpy(text, start, sizeof start);
        for (int64_t times = rng_range(&rng, 1, 3); times > 0; times--)
            text[rng_range(&rng, 0, sizeof start - 2)] =
                (char)(rng_bits(&rng) % 3 ? rng_range(&rng, ' ', '~') : rng_range(&rng, 0, 255));
        const size_t size = (size_t)rng_range(&rng, 0, 9)
                                ? sizeof start - 1
                                : (size_t)rng_range(&rng, 0, sizeof start - 1);
        const tilemm__tuning_status_t status = read_bytes(text, size, &tuning);
        CHECK(status <= TILEMM__TUNING_BROKEN && (status == TILEMM__TUNING_READ) == !*why, "%s",
              why);
        for (const char *c = why; *c; c++)
            CHECK(*c >= ' ' && *c <= '~', "byte %d in the words", *c);
#define CONSTANT(name, least, most)                                                                \
    CHECK(tuning.name >= (least) && tuning.name <= (most), #name " %lld", (long long)tuning.name);
        TILEMM__TUNING_CONSTANTS(CONSTANT)
#undef CONSTANT
    }
}

int main(void)
{
    good();
    broken();
    others();
    written();
    mutated();
    return check_exit();
}
