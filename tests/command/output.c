/* output.c - what is left when the command is killed while it writes a file: nothing, by each
 * signal that can be caught, and by SIGKILL where the file system has files without a name; and the
 * file of that name is whole, or not there.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#include "tools/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/program.h"
#include "tests/support/random.h"
#include "tests/support/sweep.h"
#include "tools/command.h"

enum { BYTES = 20000 };

typedef struct {
    int number;
    int is_named, replaces, is_other_thread;
} trial_t;

static void *write_files(void *argument)
{
    const trial_t *trial = argument;
    static char bytes[BYTES];
    static output_t output;
    for (;;) {
        if (!trial->replaces)
            unlink("file");
        if ((trial->is_named ? output_open_named : output_open)(&output, "file") != 0)
            _exit(EXIT_FAILED);
        for (int i = 0; i < 10; i++)
            fwrite(bytes, 1, BYTES / 10, output.file);
        if (output_close(&output, EXIT_OK) != EXIT_OK)
            _exit(EXIT_FAILED);
    }
    return NULL;
}

static int count_left(void)
{
    int left = 0;
    DIR *folder = opendir(".");
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        if (strncmp(entry->d_name, ".tilemm-", 8) == 0) {
            left++;
            unlink(entry->d_name);
        }
    closedir(folder);
    return left;
}

/* Whether a processor raises it. AddressSanitizer takes some of these for crashes; emulators do
 * too, and may end the process before its handler runs. */
static int is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGTRAP;
}

static void run(trial_t trial)
{
    struct stat info;
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        if (trial.is_other_thread && pthread_create(&thread, NULL, write_files, &trial) == 0)
            for (;;)
                pause();
        write_files(&trial);
    }
    usleep((useconds_t)pick(4000));
    kill(child, trial.number);
    for (int i = 0; i < 10000 && waitpid(child, &status, WNOHANG) == 0; i++)
        usleep(1000);
    if (kill(child, SIGKILL) == 0) /* it goes on */
        waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == trial.number,
          "signal %d: ended with status 0x%x", trial.number, (unsigned)status);
    CHECK(count_left() == 0, "signal %d, named %d, replaces %d, other thread %d: a file is left",
          trial.number, trial.is_named, trial.replaces, trial.is_other_thread);
    CHECK(stat("file", &info) != 0 || info.st_size == BYTES, "signal %d: a part of a file",
          trial.number);
}

int main(void)
{
    const int numbers[] = {SIGHUP,    SIGINT,       SIGQUIT, SIGILL,    SIGTRAP, SIGABRT, SIGBUS,
                           SIGFPE,    SIGUSR1,      SIGSEGV, SIGUSR2,   SIGPIPE, SIGALRM, SIGTERM,
                           SIGXCPU,   SIGXFSZ,      SIGPROF, SIGVTALRM, SIGIO,   SIGSYS,
#ifdef SIGPWR
                           SIGPWR,
#endif
#ifdef SIGSTKFLT
                           SIGSTKFLT,
#endif
                           SIGRTMIN,  SIGRTMIN + 5, SIGKILL};
    char folder[] = "/tmp/tilemm-output-XXXXXX";
    for (int i = 0; i < COUNT_OF(numbers); i++)
        signal(numbers[i], SIG_DFL); /* jobs in the background ignore some */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (!mkdtemp(folder) || chdir(folder) != 0)
        test_give_up("no folder");
    const int faults_are_taken = TEST_SANITIZED || test_is_run_by_another();
    const int unnamed = open(".", O_TMPFILE | O_WRONLY, 0600);
    for (int round = 0; round < (test_quick() ? 1 : 3); round++)
        for (int i = 0; i < COUNT_OF(numbers); i++)
            for (int way = 0; way < 8; way++) {
                const trial_t trial = {numbers[i], way & 1, way >> 1 & 1, way >> 2};
                if (trial.number == SIGKILL ? unnamed >= 0 && !trial.is_named && !trial.replaces
                                            : !(is_fault(trial.number) && faults_are_taken))
                    run(trial);
            }
    unlink("file");
    if (chdir("/") != 0 || rmdir(folder) != 0)
        test_give_up("the folder is not empty");
    return check_exit();
}
