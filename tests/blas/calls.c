/* calls.c - a few calls of each kind, for environment.sh: exits with 0 if all results are right.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "names.h"

enum { SIZE = 500 };
static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];

static int calls(void)
{
    const names_t *plain = &all_names[0], *wide = &all_names[1];
    const sizes_t small = {4, 4, 4, 4, 4, 4}, large = {SIZE, SIZE, SIZE, SIZE, SIZE, SIZE};
    const sizes_t none = {0, 4, 4, 4, 4, 4};
    int wrong = 0;
    for (int i = 0; i < SIZE * SIZE; i++)
        a[i] = 1;
    for (int i = 0; i < 3; i++) {
        call_sgemm(plain, "N", "N", &small, 1, a, a, 0, c);
        wrong += c[0] != 4;
    }
    call_cblas_sgemm(wide, ROW, NO_TRANS, TRANS, &large, 1, a, a, 0, c);
    wrong += c[0] != SIZE || c[SIZE * SIZE - 1] != SIZE;
    call_sgemm(plain, "N", "N", &none, 1, a, a, 0, c);
    call_batch(plain, COL, TRANS, NO_TRANS, &small, a, 16, a, 0, 0, c, 16, 5);
    wrong += c[0] != 4 || c[79] != 4;
    for (int i = 0; i < 2; i++)
        wrong += call_sdot(plain, 0, 10, a, 1, a, 2) != 10;
    wrong += call_sdot(plain, 1, 10, a, 0, a, 1) != 10;
    wrong += call_norm(plain, 0, "sasum", 100, a, 1) != 100;
    wrong += call_norm(wide, 1, "snrm2", 100, a, 1) != 10;
    wrong += call_isamax(plain, 0, 100, a, 1) != 1;
    call_copy(plain, ROW, TRANS, 3, 4, 2, a, 4, b, 3);
    call_copy(plain, ROW, TRANS, 3, 4, 2, b, 4, NULL, 3);
    wrong += b[0] != 4;
    return wrong;
}

/* "fork": a child makes the calls too, and exits. */
int main(int argc, char **argv)
{
    int status = 0;
    const int wrong = calls();
    if (argc > 1 && strcmp(argv[1], "fork") == 0) {
        const pid_t child = fork();
        if (child == 0)
            return calls() != 0;
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 1;
    }
    return wrong || status || check_failures;
}
