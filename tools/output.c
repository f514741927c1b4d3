/* output.c - files that the command writes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE, faccessat's AT_EACCESS */
#endif
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

/* Who may change temporary names: nobody at work, the command between hold() and release(), or a
 * handler, after which the process ends. Any thread may get the signal. */
enum { FREE, HELD, ENDING };
static atomic_int names = FREE, waiting_signal;
static output_t *unfinished;

/* Returns 0 where names are held, or another handler is here. */
static int end_names(void)
{
    int was = FREE;
    if (!atomic_compare_exchange_strong(&names, &was, ENDING))
        return 0;
    for (const output_t *output = unfinished; output; output = output->next)
        unlink(output->temporary);
    return 1;
}

void output_abandon(void)
{
    end_names();
}

/* End as if the signal had not been caught; where names are held, release() raises it again. */
static void on_signal(int number)
{
    sigset_t this_one;
    atomic_store(&waiting_signal, number);
    if (!end_names())
        return;
    sigemptyset(&this_one);
    sigaddset(&this_one, number);
    pthread_sigmask(SIG_UNBLOCK, &this_one, NULL);
    for (;;) { /* another thread may be at catch_signals() */
        signal(number, SIG_DFL);
        raise(number);
    }
}

static void hold(void)
{
    for (int was = FREE; !atomic_compare_exchange_strong(&names, &was, HELD); was = FREE)
        pause(); /* another thread ends the process */
}

static void release(void)
{
    atomic_store(&names, FREE);
    const int number = atomic_load(&waiting_signal);
    if (number)
        raise(number);
}

/* Catch what ends a process, unless it is ignored or caught already. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
    sigfillset(&action.sa_mask);
    for (int number = 1; number <= SIGRTMAX; number++)
        switch (number) {
        case SIGCHLD:
        case SIGCONT:
        case SIGTSTP:
        case SIGTTIN:
        case SIGTTOU:
        case SIGURG:
        case SIGWINCH: break;
        default:
            if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
                sigaction(number, &action, NULL);
        }
}

static int output_error(const output_t *output)
{
    return command_error("%s: cannot be written: %s", output->path, strerror(errno));
}

/* The length of a path's folder, with its last slash; 0 if it has none. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* Where a file really goes, through symbolic links. What is there and is read-only, for root too,
 * or no regular file is refused, and is not opened. */
static int name_output(output_t *output, const char *path)
{
    struct stat *old = &output->old;
    char resolved[PATH_MAX];
    int failed = lstat(path, old) != 0;
    output->path = path;
    output->temporary[0] = '\0';
    output->replaces = !failed;
    if (!failed && S_ISLNK(old->st_mode)) {
        failed = !realpath(path, resolved) || stat(resolved, old) != 0;
        path = resolved;
    } else if (failed) {
        failed = errno != ENOENT;
    }
    if (failed)
        return command_error("%s: %s", output->path, strerror(errno));
    if (output->replaces && !S_ISREG(old->st_mode))
        return command_error("%s: exists and is not a regular file", output->path);
    if (output->replaces &&
        (!(old->st_mode & 0222) || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0))
        return command_error("%s: exists and is read-only", output->path);
    if (!path[folder_length(path)])
        return command_error("%s: not a file's name", output->path);
    if ((size_t)snprintf(output->target, PATH_MAX, "%s", path) >= PATH_MAX - 16)
        return command_error("%s: %s", output->path, strerror(ENAMETOOLONG));
    return 0;
}

static void folder_of(const output_t *output, char *folder)
{
    const int length = folder_length(output->target);
    snprintf(folder, PATH_MAX, "%.*s", length ? length : 1, length ? output->target : ".");
}

int output_check(const char *path)
{
    output_t output;
    char folder[PATH_MAX];
    if (name_output(&output, path) != 0)
        return -1;
    folder_of(&output, folder);
    return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0 ? -output_error(&output) : 0;
}

/* What replaces a file is nobody else's to read until it has that file's permissions. */
static mode_t first_mode(const output_t *output)
{
    return output->replaces ? 0600 : 0666;
}

static void descriptor_path(int fd, char *path)
{
    snprintf(path, 32, "/proc/self/fd/%d", fd);
}

static int open_unnamed(const output_t *output)
{
#ifdef O_TMPFILE
    char folder[PATH_MAX], path[32];
    folder_of(output, folder);
    const int fd = open(folder, O_TMPFILE | O_RDWR, first_mode(output));
    descriptor_path(fd, path);
    if (fd < 0 || access(path, F_OK) == 0) /* without /proc it could never get a name */
        return fd;
    close(fd);
#endif
    return -1;
}

/* Give the file a temporary name in its folder: create it there, or link the file `from`, which has
 * none. Returns a descriptor, or 0; -1 where it fails. Names are held. */
static int make_temporary(output_t *output, const char *from)
{
    int result = -1;
    for (int tries = 0; tries < 100 && result < 0; tries++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(output->temporary, PATH_MAX, "%.*s.tilemm-%06x", folder_length(output->target),
                 output->target,
                 ((unsigned)now.tv_nsec * 2654435761u ^ (unsigned)getpid() * 40503u) & 0xffffff);
        result = from ? linkat(AT_FDCWD, from, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW)
                      : open(output->temporary, O_CREAT | O_EXCL | O_RDWR, first_mode(output));
        if (result < 0 && errno != EEXIST)
            break;
    }
    if (result < 0)
        output->temporary[0] = '\0';
    return result;
}

static int open_named(output_t *output)
{
    hold();
    const int fd = make_temporary(output, NULL);
    if (fd >= 0) {
        output->next = unfinished;
        unfinished = output;
    }
    release();
    return fd;
}

/* Remove the temporary name. Names are held. */
static void forget(output_t *output)
{
    output_t **at = &unfinished;
    while (*at && *at != output)
        at = &(*at)->next;
    if (*at)
        *at = output->next;
    if (output->temporary[0])
        unlink(output->temporary);
}

static int open_stream(output_t *output, int fd)
{
    const int reason = errno;
    output->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (output->file)
        return 0;
    errno = fd < 0 ? reason : errno;
    output_error(output);
    if (fd >= 0)
        close(fd);
    hold();
    forget(output);
    release();
    return -1;
}

int output_open_named(output_t *output, const char *path)
{
    if (name_output(output, path) != 0)
        return -1;
    catch_signals();
    return open_stream(output, open_named(output));
}

int output_open(output_t *output, const char *path)
{
    if (name_output(output, path) != 0)
        return -1;
    catch_signals();
    const int fd = open_unnamed(output);
    return open_stream(output, fd >= 0 ? fd : open_named(output));
}

/* Owner, group and permissions of the file that is replaced, where that is allowed: a group that is
 * not the old one gets what others have. */
static void keep_permissions(const output_t *output)
{
    const int fd = fileno(output->file);
    const struct stat *old = &output->old;
    mode_t mode = old->st_mode & 0777;
    if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0)
        mode = (mode & 0707) | (mode & 07) << 3;
    fchmod(fd, mode);
}

/* A file without a name gets its own at once if that is free. Names are held. */
static int give_name(output_t *output)
{
    char path[32];
    descriptor_path(fileno(output->file), path);
    if (!output->temporary[0]) {
        if (linkat(AT_FDCWD, path, AT_FDCWD, output->target, AT_SYMLINK_FOLLOW) == 0)
            return 0;
        if (errno != EEXIST || make_temporary(output, path) != 0)
            return -1;
    }
    if (rename(output->temporary, output->target) != 0)
        return -1;
    output->temporary[0] = '\0';
    return 0;
}

int output_close(output_t *output, int status)
{
    if (status == EXIT_OK &&
        (ferror(output->file) || fflush(output->file) != 0 || fsync(fileno(output->file)) != 0))
        status = output_error(output);
    if (status == EXIT_OK && output->replaces)
        keep_permissions(output);
    hold();
    if (status == EXIT_OK && give_name(output) != 0)
        status = output_error(output);
    forget(output);
    release();
    fclose(output->file);
    return status;
}
