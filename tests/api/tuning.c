/* tuning.c - the file of tuning: which one a context reads, what it refuses and what it leaves
 * aside; contexts of many threads while the file is replaced; and that no constant changes a bit of
 * a sum, of a transpose or of a strict product.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mkdtemp */
#endif
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/tuning.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

enum { PATH = 256 };

static char folder[] = "/tmp/tilemm-tuning-XXXXXX";
static char head[TILEMM__TUNING_WRITTEN]; /* of this machine */
static rng_t rng = {3};

static void write_file(const char *name, const char *format, const char *start)
{
    char path[PATH], temporary[PATH + 8];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = test_need(fopen(temporary, "w"));
    fprintf(file, format, start);
    if (fclose(file) != 0 || rename(temporary, path) != 0)
        test_give_up("a file cannot be written");
}

/* TILEMM_TUNING and the like as a file in the folder, or as they are. */
static void set(const char *variable, const char *name)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s%s%s", *name == '=' ? "" : folder, *name == '=' ? "" : "/",
             *name == '=' ? name + 1 : name);
    setenv(variable, path, 1);
}

/* A context; NULL where the file is refused. */
static tilemm_t create(void)
{
    tilemm_t ctx = NULL;
    const tilemm_status_t status = tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0);
    CHECK(status == (ctx ? TILEMM_SUCCESS : TILEMM_INVALID_ARGUMENT), "status %d", (int)status);
    return ctx;
}

/* A context has this line in its tuning. */
static void has(const char *line, const char *when)
{
    tilemm_t ctx = create();
    CHECK(ctx && strstr(tilemm_tuning(ctx), line), "%s: no '%s' in %s%s", when, line,
          ctx ? tilemm_tuning(ctx) : "", tilemm_create_error());
    tilemm_destroy(ctx);
}

static void refused(const char *why, const char *when)
{
    tilemm_t ctx = create();
    CHECK(!ctx && strstr(tilemm_create_error(), why), "%s: no '%s' in '%s'", when, why,
          tilemm_create_error());
    tilemm_destroy(ctx);
}

/* Which file is read. */
static void precedence(void)
{
    char path[PATH];
    write_file("named", "%ssgemm_parts 11\n", head);
    write_file("config/tilemm/tuning", "%ssgemm_parts 12\n", head);
    write_file("home/.config/tilemm/tuning", "%ssgemm_parts 13\n", head);
    unsetenv("TILEMM_TUNING");
    unsetenv("XDG_CONFIG_HOME");
    set("HOME", "nobody");
    has("\n# built in\n", "no file");
    set("HOME", "home");
    has("\nsgemm_parts 13\n", "HOME");
    set("XDG_CONFIG_HOME", "=relative");
    has("\nsgemm_parts 13\n", "a relative folder counts as none");
    set("XDG_CONFIG_HOME", "config");
    has("\nsgemm_parts 12\n", "XDG_CONFIG_HOME");
    set("TILEMM_TUNING", "=");
    has("\nsgemm_parts 12\n", "TILEMM_TUNING is empty");
    set("TILEMM_TUNING", "named");
    has("\nsgemm_parts 11\n", "TILEMM_TUNING");
    snprintf(path, sizeof path, "\n# %s/named\n", folder);
    has(path, "TILEMM_TUNING");
    set("TILEMM_TUNING", "=none");
    has("\n# built in\n", "none");
    has("\nsgemm_parts 8\n", "none");
    set("XDG_CONFIG_HOME", "nobody");
    unsetenv("TILEMM_TUNING");
    has("\n# built in\n", "no file in XDG_CONFIG_HOME, though in HOME");
}

static void refusals(void)
{
    static char large[20000];
    char fifo[PATH];
    set("TILEMM_TUNING", "missing");
    refused("/missing, must be a file that tilemm tune wrote, or none: there is no such file",
            "missing");
    set("TILEMM_TUNING", "config");
    refused("it is no regular file", "a folder");
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    if (mkfifo(fifo, 0600) == 0) {
        set("TILEMM_TUNING", "fifo");
        refused("it is no regular file", "a pipe");
    }
    set("TILEMM_TUNING", "named");
    if (geteuid() != 0) {
        char path[PATH];
        snprintf(path, sizeof path, "%s/named", folder);
        chmod(path, 0);
        refused("it may not be read", "no permission");
    }
    write_file("named", "%ssgemm_parts 8\nsgemm_part 9\n", head);
    refused("create: tuning, line 9: 'sgemm_part' is no constant of this version (TILEMM_TUNING = ",
            "an unknown constant");
    write_file("named", "%ssgemm_parts 0\n", head);
    refused("line 8: sgemm_parts = 0, must be a number from 1 to 64 (TILEMM_TUNING", "a bound");
    memset(large, '#', sizeof large - 2);
    large[sizeof large - 2] = '\n';
    write_file("named", "%s", large);
    refused("the file must have at most 8192 bytes", "a large file");
    write_file("named", "%s", "");
    refused("line 1: must be 'tilemm tuning 1'", "an empty file");
    /* the user's own file, too */
    unsetenv("TILEMM_TUNING");
    set("XDG_CONFIG_HOME", "config");
    write_file("config/tilemm/tuning", "%s\001\n", head);
    refused("byte 1, must be a printable character (/tmp", "the user's own file");
    write_file("config/tilemm/tuning", "tilemm tuning 1\nversion 99.%s\n", "1");
    has("is for another version: 99.1\n", "another version");
    has("\nsgemm_parts 8\n", "another version");
    write_file("config/tilemm/tuning", "%ssgemm_parts 12\n", head);
    setenv("TILEMM_ARCH", "generic", 1);
    if (!strstr(head, "instruction-set generic"))
        has("is for another instruction-set", "another instruction set");
    unsetenv("TILEMM_ARCH");
    set("TILEMM_TUNING", "=none");
    CHECK(strcmp(tilemm_tuning(NULL), "") == 0, "the tuning of no context");
}

/* ---- bits --------------------------------------------------------------------------------- */

enum { SIDE = 300, ELEMENTS = 600 * 600 };

static float a[ELEMENTS], b[ELEMENTS];
static int64_t offsets[1001];

static uint64_t fold(uint64_t digest, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        digest = (digest ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
    return digest;
}

/* Of products, sums and transposes in a context with `threads` threads. */
static uint64_t bits(tilemm_t ctx, int threads)
{
    static const int64_t shapes[][3] = {{SIDE, SIDE, 600}, {1, 600, 600}, {600, 3, 500},
                                        {20, 500, 600},    {64, 64, 64},  {150, 150, 30}};
    static float out[ELEMENTS];
    uint64_t digest = 0xcbf29ce484222325;
    CHECK_OK(ctx, tilemm_set_threads(ctx, threads));
    CHECK_OK(ctx, tilemm_set_math(ctx, TILEMM_MATH_FP32_STRICT));
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t m = shapes[i][0], n = shapes[i][1], k = shapes[i][2];
        CHECK_OK(ctx, tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, n, k,
                                   1, a, 600, b, 600, 0, out, n));
        digest = fold(digest, out, (size_t)(m * n) * sizeof *out);
    }
    for (int64_t n = 1000; n <= ELEMENTS; n = 3 * n + 7) {
        CHECK_OK(ctx, tilemm_ssum(ctx, n, a, 1, out));
        CHECK_OK(ctx, tilemm_sdot(ctx, n, a, 1, b, 1, out + 1));
        CHECK_OK(ctx, tilemm_snrm2(ctx, n / 3, b, 3, out + 2));
        digest = fold(digest, out, 3 * sizeof *out);
    }
    for (int axis = 0; axis < 2; axis++) {
        CHECK_OK(ctx, tilemm_sreduce(ctx, TILEMM_SUM, (tilemm_axis_t)axis, TILEMM_ROW_MAJOR, 1500,
                                     200, a, 200, out, 1));
        digest = fold(digest, out, (axis ? 1500 : 200) * sizeof *out);
    }
    CHECK_OK(ctx, tilemm_sreduce_segments(ctx, TILEMM_MEAN, 1000, a, offsets, out));
    digest = fold(digest, out, 1000 * sizeof *out);
    CHECK_OK(ctx, tilemm_transpose(ctx, 592, 600, sizeof *a, a, 600, out, 592));
    return fold(digest, out, (size_t)592 * 600 * sizeof *out);
}

static void write_random(void)
{
    char text[TILEMM__TUNING_WRITTEN + 1000];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", head);
    /* the largest: often as small as can be */
#define CONSTANT(name, least, most)                                                                \
    if (pick(3))                                                                                   \
        used += (size_t)snprintf(                                                                  \
            text + used, sizeof text - used, #name " %lld\n",                                      \
            (long long)rng_range(&rng, least,                                                      \
                                 pick(2) ? (least) + ((most) - (least)) / 64 : (least)));
    TILEMM__TUNING_CONSTANTS(CONSTANT)
#undef CONSTANT
    write_file("random", "%s", text);
}

/* Fewer where a program watches, as instructions then take a hundred times as long. */
static void same_bits(void)
{
    const int is_slow = test_is_run_by_another();
    const int sets = is_slow ? 1 : test_quick() ? 4 : 20, most = is_slow ? 2 : 4;
    for (int64_t i = 0; i < ELEMENTS; i++) {
        a[i] = rng_float(&rng, FAMILY_WIDE);
        b[i] = rng_float(&rng, FAMILY_NORMAL);
    }
    for (int i = 0; i <= 1000; i++)
        offsets[i] = 300 * i;
    for (const char *const *arch = test_archs(TILEMM_BACKEND_CPU); *arch; arch++) {
        set("TILEMM_TUNING", "=none");
        tilemm_t ctx = test_context(TILEMM_BACKEND_CPU, *arch);
        const uint64_t digest = bits(ctx, 1);
        snprintf(head, sizeof head, "%s", tilemm_tuning(ctx));
        *(strstr(head, "sgemm_thread_work")) = '\0';
        CHECK(digest == bits(ctx, 3), "%s: three threads", *arch);
        tilemm_destroy(ctx);
        set("TILEMM_TUNING", "random");
        for (int i = 0; i < sets; i++) {
            write_random();
            ctx = test_context(TILEMM_BACKEND_CPU, *arch);
            CHECK(strstr(tilemm_tuning(ctx), "/random\n"), "%s: %s", *arch, tilemm_tuning(ctx));
            for (int threads = 1; threads <= most; threads++)
                CHECK(digest == bits(ctx, threads), "%s, %d threads, with %s", *arch, threads,
                      tilemm_tuning(ctx));
            tilemm_destroy(ctx);
        }
    }
}

/* ---- many threads ------------------------------------------------------------------------- */

static void *create_often(void *failures)
{
    for (int i = 0; i < 200; i++) {
        tilemm_t ctx = NULL;
        float sum = 0;
        const float x[3] = {1, 2, 3};
        if (tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) != TILEMM_SUCCESS ||
            !strstr(tilemm_tuning(ctx), "\nsgemm_parts 1") ||
            tilemm_ssum(ctx, 3, x, 1, &sum) != TILEMM_SUCCESS || sum != 6)
            ++*(int *)failures;
        tilemm_destroy(ctx);
    }
    return NULL;
}

static void many_threads(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int failures[THREADS] = {0};
    set("TILEMM_TUNING", "named");
    write_file("named", "%ssgemm_parts 10\n", head);
    unsetenv("TILEMM_ARCH");
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, create_often, &failures[i]) != 0)
            test_give_up("no thread");
    for (int i = 0; i < 100; i++)
        write_file("named", i % 2 ? "%ssgemm_parts 10\n" : "%ssgemm_parts 16\n", head);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(failures[i] == 0, "%d failures", failures[i]);
    }
}

int main(void)
{
    static const char *const below[] = {"config", "config/tilemm", "home", "home/.config",
                                        "home/.config/tilemm"};
    char path[PATH + 16];
    test_begin(TILEMM_BACKEND_CPU);
    if (!mkdtemp(folder))
        test_give_up("no temporary folder");
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, below[i]);
        mkdir(path, 0700);
    }
    tilemm_t ctx = create();
    snprintf(head, sizeof head, "%s", tilemm_tuning(ctx));
    tilemm_destroy(ctx);
    if (!strstr(head, "sgemm_thread_work"))
        test_give_up("no tuning");
    *strstr(head, "sgemm_thread_work") = '\0';
    precedence();
    refusals();
    many_threads();
    same_bits();
    snprintf(path, sizeof path, "rm -rf '%s'", folder);
    return system(path) == 0 ? check_exit() : 1;
}
