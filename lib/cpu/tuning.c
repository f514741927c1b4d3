/* tuning.c - the file that `tilemm tune` writes: where it is, and whether it is for this machine.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h> /* _GNU_SOURCE, for secure_getenv */
#endif

#include "lib/tuning.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

enum { SHOWN = 400 }; /* of a path, in a remark */

/* The file's name, "" for none: the user's own, whose name must be absolute, where TILEMM_TUNING
 * names none. A program with more rights than its user reads no file of the user's choice. */
static const char *find_path(int *is_named, char path[PATH_MAX])
{
    const char *named = secure_getenv("TILEMM_TUNING");
    const char *config = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME");
    int length = 0;
    *path = '\0';
    *is_named = named && *named;
    if (*is_named)
        return strcmp(named, "none") ? named : "";
    if (config && *config == '/')
        length = snprintf(path, PATH_MAX, "%s/tilemm/tuning", config);
    else if (home && *home == '/')
        length = snprintf(path, PATH_MAX, "%s/.config/tilemm/tuning", home);
    return length < PATH_MAX ? path : "";
}

/* All of a regular file, or as much as shows that it is too long. Returns its bytes, or -1 where it
 * cannot be read, and why. */
static int64_t read_file(const char *path, char text[TILEMM__TUNING_BYTES + 1], const char **why)
{
    struct stat status;
    int64_t size = 0;
    ssize_t got = 0;
    /* A pipe is not waited for. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        *why = errno == ENOENT || errno == ENOTDIR ? "there is no such file"
               : errno == EACCES                   ? "it may not be read"
                                                   : "it cannot be opened";
        return -1;
    }
    const int is_file = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    do {
        if (is_file)
            got = read(file, text + size, (size_t)(TILEMM__TUNING_BYTES + 1 - size));
        size += got > 0 ? got : 0;
    } while (is_file && (got > 0 || (got < 0 && errno == EINTR)) && size <= TILEMM__TUNING_BYTES);
    close(file);
    *why = is_file ? "it cannot be read" : "it is no regular file";
    return is_file && got >= 0 ? size : -1;
}

static int processors_online(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT_MAX ? (int)online : 1;
}

tilemm_status_t tilemm__cpu_find_tuning(tilemm_t ctx, tilemm__cpu_state_t *state)
{
    char own[PATH_MAX], head[512], text[TILEMM__TUNING_BYTES + 1], words[256];
    char remark[SHOWN + 300] = "built in";
    const char *why = words;
    int is_named;
    const char *const path = find_path(&is_named, own);
    tilemm__tuning_head(&state->traits, state->kernels->isa, processors_online(), head,
                        sizeof head);
    state->tuning = tilemm__default_tuning(&state->traits);
    const int64_t size = *path ? read_file(path, text, &why) : -1;
    if (size >= 0) {
        const tilemm__tuning_status_t status =
            tilemm__read_tuning(text, (size_t)size, head, &state->tuning, words, sizeof words);
        if (status == TILEMM__TUNING_BROKEN)
            return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT, "create: tuning, %s (%s%s)", words,
                                is_named ? "TILEMM_TUNING = " : "", path);
        if (status == TILEMM__TUNING_OTHER)
            snprintf(remark, sizeof remark, "built in; %.*s is for %s", SHOWN, path, words);
        else
            snprintf(remark, sizeof remark, "%.*s", SHOWN, path);
    } else if (*path && is_named) {
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                            "create: TILEMM_TUNING = %s, must be a file that tilemm tune wrote, or "
                            "none: %s",
                            path, why);
    } else if (*path && access(path, F_OK) == 0) {
        /* The user's own, where a program without the user's rights may not look. */
        snprintf(remark, sizeof remark, "built in; %.*s: %s", SHOWN, path, why);
    }
    tilemm__write_tuning(head, remark, &state->tuning, state->tuning_text);
    return TILEMM_SUCCESS;
}
