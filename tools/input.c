/* input.c - files that the command reads.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "command.h"

static int is_shell_pipe(const char *path, mode_t mode)
{
    struct statfs system;
    return S_ISFIFO(mode) && statfs(path, &system) == 0 && system.f_type == PIPEFS_MAGIC;
}

int input_open(const char *path, int pipes)
{
    struct stat before, info;
    if (stat(path, &before) != 0)
        return -command_error("%s: %s", path, strerror(errno));
    if (!S_ISREG(before.st_mode) && !(pipes && is_shell_pipe(path, before.st_mode)))
        return -command_error("%s: not a regular file", path);
    /* What takes its place meanwhile must not make open() wait. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -command_error("%s: %s", path, strerror(errno));
    if (fstat(fd, &info) == 0 && info.st_dev == before.st_dev && info.st_ino == before.st_ino) {
        if (S_ISFIFO(info.st_mode))
            fcntl(fd, F_SETFL, O_RDONLY);
        return fd;
    }
    close(fd);
    return -command_error("%s: was replaced while it was opened", path);
}
