/* command.h - what the verbs of the `tilemm` command share.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_COMMAND_H
#define TILEMM_TOOLS_COMMAND_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "message.h"
#include "tilemm.h"
#include "words.h"

#define COUNT_OF(array) (int)(sizeof(array) / sizeof((array)[0]))

/* The verbs: argv[0] is the verb. They return the status to exit with. */
int command_info(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_tune(int argc, char **argv);
int command_gemm(int argc, char **argv);
int command_transpose(int argc, char **argv);
int command_reduce(int argc, char **argv);
int command_banks(int argc, char **argv);
int command_coalescing(int argc, char **argv);

/* Parsers of option values: 0, or -1 where text is not such a value (nothing is printed). */
int parse_int64(const char *text, int64_t low, int64_t high, int64_t *value);

extern const word_t backend_words[];    /* auto cpu cuda */
extern const word_t math_words[];       /* fp32 strict tf32 */
extern const word_t invariance_words[]; /* none batch across */
extern const word_t nan_words[];        /* propagate ignore */
extern const word_t axis_words[];       /* rows cols */
extern const word_t layout_words[];     /* row col */
extern const word_t size_words[];       /* 1 2 4 8 16 */

/* The reductions that the command names: tilemm_reduce_t, and these. The last four return
 * positions.
 */
enum { REDUCE_DOT = TILEMM_AMIN + 1, REDUCE_IMAX, REDUCE_IMIN, REDUCE_IAMAX, REDUCE_IAMIN };

extern const word_t reduce_words[]; /* dot first: the others take one vector */

/* For an index reduction, the reduction whose position it is; for others, the reduction itself. */
tilemm_reduce_t reduce_value_op(int op);
int reduce_is_index(int op);

enum { MAX_DEVICES = 64 };

/* Options that every verb with a context takes. */
typedef struct {
    int backend; /* tilemm_backend_t */
    int device, device_given;
    int threads;                            /* 0: the library's default */
    int device_count, devices[MAX_DEVICES]; /* --devices; 0: it was not given */
} context_options_t;

/* Create a context as the options say, or print why not and return NULL. Prints, too, why a device
 * that was asked for is not used. */
tilemm_t command_context(const context_options_t *options);
int parse_device(const char *text, void *context_options);
int parse_devices(const char *text, void *context_options); /* "0,1": also one more than once */

/* One option of a verb: its name, what kind of value it takes, and where that goes. */
typedef enum {
    OPTION_FLAG,     /* int: 1 where it is given */
    OPTION_TEXT,     /* const char *, at least `low` characters; one of `words`, if there are any */
    OPTION_FILE,     /* const char *: a file's name */
    OPTION_WORD,     /* int: a word's value */
    OPTION_INT,      /* int from `low` to `high` */
    OPTION_INT64,    /* int64_t likewise */
    OPTION_FLOAT,    /* float */
    OPTION_PARSED,   /* what `parse` makes of it: 0, or -1 where it is wrong */
    OPTION_ARGUMENT, /* int: no option, but the first argument, a word's value */
    OPTION_OPERANDS  /* no option: tells that other arguments are files */
} option_kind_t;

typedef struct {
    const char *name;
    option_kind_t kind;
    void *value;
    const word_t *words; /* of OPTION_PARSED: the words that completion offers */
    int64_t low, high;
    int (*parse)(const char *text, void *value);
    const char *takes; /* for the message: "--cc takes ..."; NULL where the kind tells */
    char letter;       /* the short form, or '\0' */
    int only;          /* bits 1 << value of the argument that it is an option of; 0: all */
    int given;         /* set by command_options */
} command_option_t;

#define CONTEXT_OPTIONS(context)                                                                   \
    {"backend", OPTION_WORD, &(context).backend, .words = backend_words},                          \
        {"device", OPTION_PARSED, &(context), .parse = parse_device, .takes = "a number from 0"},  \
    {                                                                                              \
        "threads", OPTION_INT, &(context).threads, .high = INT_MAX                                 \
    }
#define CONTEXT_HELP                                                                               \
    "      --backend auto|cpu|cuda  where to compute (auto)\n"                                     \
    "      --device N               which CUDA device (0)\n"                                       \
    "      --threads N              how many CPU threads (TILEMM_NUM_THREADS, or one a core)\n"

/* Take the options of a verb, argv[0], and store their values; --help prints `help`, and
 * --complete, the first word, what may stand in place of the last. Returns 0 and in *first the
 * index of the first word that is neither option nor OPTION_ARGUMENT, or -1 - the status to exit
 * with. */
int command_options(int argc, char **argv, const char *help, command_option_t *options, int count,
                    int *first);

void command_cpu_name(char *name, size_t size); /* the processor's name, or "" */

#endif
