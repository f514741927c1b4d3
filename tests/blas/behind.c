/* behind.c - the BLAS drop-in hands calls to the BLAS behind where it should, and nowhere else.
 * Each case is a process of its own, for TILEMM_BLAS is read once.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "names.h"
#include "other.h"

enum { SIZE = 600, LENGTH = 300000 };
static float a[SIZE * SIZE], c[SIZE * SIZE], x[LENGTH];
static const sizes_t large = {SIZE, SIZE, SIZE, SIZE, SIZE, SIZE}, small = {3, 3, 3, 3, 3, 3};
static const names_t *const plain = &all_names[0], *const scipy_64 = &all_names[4];

static void check_ones(const char *what, int64_t size)
{
    CHECK(c[0] == (float)size && c[size * size - 1] == (float)size, "%s: %g, not %lld", what,
          (double)c[0], (long long)size);
    for (int i = 0; i < SIZE * SIZE; i++)
        c[i] = NAN;
}

static void all_go_behind(void)
{
    call_sgemm(plain, "N", "N", &small, 1, a, a, 0, c);
    CHECK(other_calls == 1 && other_m == 3, "%d calls", other_calls);
    call_cblas_sgemm(plain, COL, TRANS, NO_TRANS, &large, 1, a, a, 0, c);
    CHECK(other_calls == 3, "%d calls", other_calls); /* it calls sgemm_ */
    CHECK(call_sdot(plain, 0, 9, x, 1, x, 1) == 1234, "sdot was not handed on");
    /* what the other BLAS does not have is computed here */
    call_cblas_sgemm(scipy_64, COL, TRANS, NO_TRANS, &small, 1, a, a, 0, c);
    check_ones("scipy_cblas_sgemm64_", 3);
    CHECK(call_sdot(plain, 1, 9, x, 1, x, 1) == 9, "cblas_sdot");
    CHECK(other_calls == 4, "%d calls", other_calls);
}

static void nothing_goes_behind(void)
{
    call_sgemm(plain, "N", "N", &large, 1, a, a, 0, c);
    check_ones("sgemm_", SIZE);
    call_cblas_sgemm(plain, ROW, NO_TRANS, TRANS, &small, 1, a, a, 0, c);
    check_ones("cblas_sgemm", 3);
    CHECK(call_sdot(plain, 0, LENGTH, x, 1, x, 1) == LENGTH, "sdot");
    CHECK(other_calls == 0, "%d calls", other_calls);
}

/* Products that are to be invariant are computed in one place, however fast the other is. */
static void invariant_stays(void)
{
    setenv("TILEMM_INVARIANCE", "batch", 1);
    call_sgemm(plain, "N", "N", &large, 1, a, a, 0, c);
    check_ones("sgemm_", SIZE);
    call_cblas_sgemm(plain, ROW, NO_TRANS, TRANS, &large, 1, a, a, 0, c);
    check_ones("cblas_sgemm", SIZE);
    CHECK(other_calls == 0, "%d calls", other_calls);
}

/* It returns at once: what is large goes there, what is small does not. */
static void faster_is_taken(void)
{
    call_sgemm(plain, "N", "N", &small, 1, a, a, 0, c);
    check_ones("sgemm_", 3);
    CHECK(other_calls == 0, "%d calls", other_calls);
    c[0] = 7;
    call_sgemm(plain, "N", "N", &large, 1, a, a, 0, c);
    CHECK(other_calls > 1 && other_m == SIZE && c[0] == 7, "%d calls", other_calls);
    const int measured = other_calls;
    call_sgemm(plain, "N", "N", &large, 1, a, a, 0, c);
    CHECK(other_calls == measured + 1, "%d calls after %d", other_calls, measured);
    CHECK(call_sdot(plain, 0, LENGTH, x, 1, x, 1) == 1234, "sdot was not handed on");
}

static void slower_is_left(void)
{
    other_microseconds = 100000;
    call_sgemm(plain, "N", "N", &large, 1, a, a, 0, c);
    check_ones("sgemm_", SIZE);
    CHECK(call_sdot(plain, 0, LENGTH, x, 1, x, 1) == LENGTH, "sdot");
    const int measured = other_calls;
    CHECK(measured > 0 && measured < 20, "%d calls", measured);
    call_sgemm(plain, "N", "N", &large, 1, a, a, 0, c);
    check_ones("sgemm_ again", SIZE);
    CHECK(other_calls == measured, "%d calls after %d", other_calls, measured);
}

/* Names without a suffix take 64-bit integers where the BLAS behind does, as Debian's libblas64. */
static names_t wide_names(void)
{
    names_t names = all_names[0];
    names.wide = 1;
    other_is_wide = 1;
    return names;
}

static void width_of_other(void)
{
    const names_t names = wide_names();
    const int64_t long_ld = INT64_C(1) << 32;
    const sizes_t s = {1, 1, 1, long_ld, long_ld, long_ld};
    call_sgemm(&names, "N", "N", &s, 1, a, a, 0, c);
    check_ones("sgemm_ with 64-bit integers", 1);
    call_cblas_sgemm(&names, ROW, NO_TRANS, TRANS, &s, 1, a, a, 0, c);
    check_ones("cblas_sgemm with 64-bit integers", 1);
    CHECK(call_isamax(&names, 0, 4, x, 1) == 1, "isamax");
}

static void width_handed_on(void)
{
    const names_t names = wide_names();
    const sizes_t s = {1, 1, 1, INT64_C(1) << 32, 1, 1};
    call_sgemm(&names, "N", "N", &s, 1, a, a, 0, c);
    CHECK(other_calls == 1 && other_lda == s.lda, "lda %lld", (long long)other_lda);
}

int main(void)
{
    static const struct {
        const char *mode;
        void (*run)(void);
    } cases[] = {{"off", all_go_behind},    {"cpu", nothing_goes_behind}, {"auto", faster_is_taken},
                 {"auto", invariant_stays}, {"auto", slower_is_left},     {"cpu", width_of_other},
                 {"off", width_handed_on}};
    for (int i = 0; i < SIZE * SIZE; i++)
        a[i] = 1;
    for (int i = 0; i < LENGTH; i++)
        x[i] = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = -1;
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            check_count = check_failures = 0;
            setenv("TILEMM_BLAS", cases[i].mode, 1);
            cases[i].run();
            exit(check_exit());
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "case %d", (int)i);
    }
    return check_exit();
}
