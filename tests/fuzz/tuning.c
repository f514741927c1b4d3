/* tuning.c - fuzz target: the reader of texts of tuning. A text is read, with constants within
 * their bounds, and what is written of them is read again; or it is left aside or refused, in
 * printable words, and nothing has changed.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "lib/tuning.h"

#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] = "version 1.2.3\nprocessor A chip\ninstruction-set avx2\n"
                               "cache-sizes 32768 524288 16777216\nnumber-of-processors 2\n";
    static const tilemm__cpu_traits_t traits = {
        .name = "A chip", .l1d_bytes = 32768, .l2_bytes = 524288, .l3_bytes = 1 << 24};
    const tilemm__cpu_tuning_t built_in = tilemm__default_tuning(&traits);
    tilemm__cpu_tuning_t tuning = built_in, again = built_in;
    char why[128], text[TILEMM__TUNING_WRITTEN];
    const tilemm__tuning_status_t status =
        tilemm__read_tuning((const char *)data, size, head, &tuning, why, sizeof why);
    FUZZ_CHECK(strlen(why) < sizeof why && (status == TILEMM__TUNING_READ) == !*why, "%s", why);
    for (const char *c = why; *c; c++)
        FUZZ_CHECK(*c >= ' ' && *c <= '~', "byte %d in the words", *c);
    if (status != TILEMM__TUNING_READ) {
        FUZZ_CHECK(memcmp(&tuning, &built_in, sizeof tuning) == 0, "something has changed");
        return 0;
    }
#define CONSTANT(name, least, most)                                                                \
    FUZZ_CHECK(tuning.name >= (least) && tuning.name <= (most), #name " = %lld",                   \
               (long long)tuning.name);
    TILEMM__TUNING_CONSTANTS(CONSTANT)
#undef CONSTANT
    tilemm__write_tuning(head, "again", &tuning, text);
    FUZZ_CHECK(tilemm__read_tuning(text, strlen(text), head, &again, why, sizeof why) ==
                       TILEMM__TUNING_READ &&
                   memcmp(&tuning, &again, sizeof tuning) == 0,
               "what was written: %s", why);
    return 0;
}
