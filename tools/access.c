/* access.c - a warp's access as the command line gives it.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "access.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "expr.h"
#include "input.h"

enum { LANES = 32, MOST_EDGE = 1 << 20, MOST_TEXT = 1 << 20 };

/* What the options say, before it becomes addresses. */
typedef struct {
    const char *verb, *expr, *file;
    int64_t stride; /* -1: not given */
    int64_t at[2];  /* row, column; -1: not given */
    int64_t i, base;
    int vector;
} options_t;

/* Two numbers with a character between them. */
static int parse_pair(const char *text, char between, int64_t low, int64_t high, int64_t *first,
                      int64_t *second)
{
    char copy[64], *middle;
    snprintf(copy, sizeof copy, "%s", text);
    middle = strchr(copy, between);
    if (!middle || strlen(text) >= sizeof copy)
        return -1;
    *middle = '\0';
    return parse_int64(copy, low, high, first) || parse_int64(middle + 1, low, high, second);
}

/* The compute capabilities of the chips that there are. */
static const word_t chips[] = {{"1.0", 10},   {"1.1", 11},   {"1.2", 12},   {"1.3", 13},
                               {"2.0", 20},   {"2.1", 21},   {"3.0", 30},   {"3.2", 32},
                               {"3.5", 35},   {"3.7", 37},   {"5.0", 50},   {"5.2", 52},
                               {"5.3", 53},   {"6.0", 60},   {"6.1", 61},   {"6.2", 62},
                               {"7.0", 70},   {"7.2", 72},   {"7.5", 75},   {"8.0", 80},
                               {"8.6", 86},   {"8.7", 87},   {"8.8", 88},   {"8.9", 89},
                               {"9.0", 90},   {"10.0", 100}, {"10.1", 101}, {"10.3", 103},
                               {"11.0", 110}, {"12.0", 120}, {"12.1", 121}, {0}};

/* 90, or 9.0. */
static int parse_cc(const char *text, void *value)
{
    int64_t number;
    if (parse_int64(text, 10, 9999, &number) != 0)
        return parse_word(text, chips, value);
    *(int *)value = (int)number;
    return strcmp(word_of(chips, (int)number), "?") == 0 ? -1 : 0;
}

static int parse_walk(const char *text, void *value)
{
    tilemm_tile_access_t *walk = value;
    int64_t high = 1, wide = LANES;
    if (strcmp(text, "column") == 0) {
        high = LANES;
        wide = 1;
    } else if (strcmp(text, "row") != 0 &&
               (parse_pair(text, 'x', 1, LANES, &high, &wide) != 0 || high * wide > LANES)) {
        return -1;
    }
    walk->high = (int)high;
    walk->wide = (int)wide;
    return 0;
}

static int parse_mask(const char *text, void *value)
{
    char *end;
    text += strncmp(text, "0x", 2) == 0 ? 2 : 0;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 16);
    if (!isxdigit((unsigned char)*text) || *end || errno || number > UINT32_MAX)
        return -1;
    *(uint32_t *)value = (uint32_t)number;
    return 0;
}

/* The words of a line, blanks and commas between them, the rest after # left out: each an address,
 * 0x... or decimal, or a dot. */
static int read_line(const char *name, int number, char *line, int *lanes,
                     tilemm_warp_access_t *access)
{
    line[strcspn(line, "#")] = '\0';
    for (char *rest, *word = strtok_r(line, " \t\r,", &rest); word;
         word = strtok_r(NULL, " \t\r,", &rest)) {
        char *end;
        if (*lanes == LANES)
            return command_error("%s: line %d: more than %d addresses", name, number, LANES);
        errno = 0;
        access->addr[*lanes] = strtoull(word, &end, strncmp(word, "0x", 2) == 0 ? 16 : 10);
        if (strcmp(word, ".") == 0)
            access->active &= ~(1u << *lanes);
        else if (!isdigit((unsigned char)*word) || errno || *end)
            return command_error("%s: line %d: '%s' is not an address (a number from 0, or a dot)",
                                 name, number, word);
        ++*lanes;
    }
    return EXIT_OK;
}

/* At most MOST_TEXT bytes of text: input without an end is refused. */
static int read_addresses(const char *name, FILE *file, tilemm_warp_access_t *access)
{
    static char text[MOST_TEXT + 2];
    const size_t length = fread(text, 1, MOST_TEXT + 1, file);
    int lanes = 0, number = 0;
    if (ferror(file))
        return command_error("%s: cannot be read: %s", name, strerror(errno));
    if (memchr(text, '\0', length))
        return command_error("%s: not a text: it holds a NUL", name);
    if (length > MOST_TEXT)
        return command_error("%s: more than %d bytes", name, MOST_TEXT);
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;)
        if (read_line(name, ++number, line, &lanes, access) != EXIT_OK)
            return EXIT_FAILED;
    if (!lanes)
        return command_error("%s: holds no address", name);
    if (lanes < LANES)
        access->active &= (1u << lanes) - 1;
    return EXIT_OK;
}

static int take_file(const options_t *o, access_request_t *request)
{
    const int is_input = strcmp(o->file, "-") == 0;
    const char *name = is_input ? "standard input" : o->file;
    const int fd = is_input ? STDIN_FILENO : input_open(o->file, 1);
    if (fd < 0)
        return EXIT_FAILED;
    FILE *file = is_input ? stdin : fdopen(fd, "r");
    if (!file)
        return command_error("%s: %s", name, strerror(errno));
    const int status = read_addresses(name, file, &request->access);
    if (!is_input)
        fclose(file);
    snprintf(request->what, sizeof request->what, "addresses from ");
    append_escaped(request->what, sizeof request->what, name);
    return status;
}

/* The element of one lane by the tile, the stride or the expression. */
static int take_element(const options_t *o, access_request_t *request, int lane)
{
    expr_variables_t v = {.lane = lane, .i = o->i};
    int64_t index;
    char message[160];
    v.row = o->at[0] + lane / request->walk.wide;
    v.col = o->at[1] + lane % request->walk.wide * o->vector;
    if (lane >= request->walk.high * request->walk.wide ||
        (request->rows && (v.row >= request->rows || v.col + o->vector > request->cols))) {
        request->access.active &= ~(1u << lane);
        return EXIT_OK;
    }
    if (!(request->access.active >> lane & 1))
        return EXIT_OK;
    if (o->expr) {
        if (expr_value(o->expr, &v, &index, message, sizeof message) != 0)
            return command_usage_error(o->verb, "--expr '%s', %s (lane %d)", o->expr, message,
                                       lane);
    } else {
        index = o->stride >= 0 ? lane * o->stride : v.row * request->cols + v.col;
    }
    if (index < 0 || index > INT64_MAX / 64)
        return command_usage_error(o->verb, "lane %d accesses element %lld, must be 0 to 2^57",
                                   lane, (long long)index);
    request->access.addr[lane] = (uint64_t)index * (unsigned)request->elem_bytes;
    return EXIT_OK;
}

static void describe(const options_t *o, access_request_t *request)
{
    char walk[64], where[64] = "", elements[64], *what = request->what;
    const size_t size = sizeof request->what;
    const char *how = request->walk.wide == LANES   ? "along a row"
                      : request->walk.high == LANES ? "down a column"
                                                    : walk;
    snprintf(walk, sizeof walk, "%d rows by %d columns", request->walk.high, request->walk.wide);
    snprintf(elements, sizeof elements, "%d-byte elements", request->elem_bytes);
    if (o->vector > 1)
        append(elements, sizeof elements, ", %d at once", o->vector);
    if (o->at[0] || o->at[1])
        snprintf(where, sizeof where, " from (%lld, %lld)", (long long)o->at[0],
                 (long long)o->at[1]);
    if (o->expr)
        snprintf(what, size, "element %.100s, %s, %s%s", o->expr, elements, how, where);
    else if (o->stride >= 0)
        snprintf(what, size, "stride %lld, %s", (long long)o->stride, elements);
    else
        snprintf(what, size, "tile of %d x %d, %s, %s%s", request->rows, request->cols, elements,
                 how, where);
}

static int make_access(options_t *o, access_request_t *request)
{
    const int walks = o->expr || request->rows;
    const int inputs = (o->file != NULL) + (o->stride >= 0) + walks;
    char message[160];
    int status = EXIT_OK;
    if (!inputs)
        return command_usage_error(o->verb, "which addresses? --tile, --stride, --expr or a file");
    if (inputs > 1)
        return command_usage_error(o->verb, "one of --tile, --stride, --expr and a file, not two");
    if (o->vector > 16 / request->elem_bytes || (o->vector & (o->vector - 1)))
        return command_usage_error(
            o->verb, "--vector %d of %d bytes; a lane takes 1, 2, 4, 8 or 16 bytes at once",
            o->vector, request->elem_bytes);
    if ((request->walk.high || o->at[0] >= 0) && !walks)
        return command_usage_error(o->verb, "--access and --at need --tile or --expr");
    if (!request->walk.high)
        request->walk = (tilemm_tile_access_t){1, LANES, 1};
    if (o->at[0] < 0)
        o->at[0] = o->at[1] = 0;
    if (request->rows && (o->at[0] >= request->rows || o->at[1] >= request->cols))
        return command_usage_error(o->verb, "--at %lld,%lld is not in a tile of %d x %d",
                                   (long long)o->at[0], (long long)o->at[1], request->rows,
                                   request->cols);
    request->walk.vector = o->vector;
    request->access.elem_bytes = request->elem_bytes * o->vector;
    if (o->file)
        status = take_file(o, request);
    for (int lane = 0; lane < LANES && !o->file && status == EXIT_OK; lane++)
        status = take_element(o, request, lane);
    if (status != EXIT_OK)
        return status;
    if (!o->file)
        describe(o, request);
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t *addr = &request->access.addr[lane];
        if (!(request->access.active >> lane & 1))
            *addr = 0;
        else if (__builtin_add_overflow(*addr, (uint64_t)o->base, addr) || *addr > UINT64_MAX - 256)
            return command_error("lane %d: the address is too large", lane);
    }
    if (tilemm_model_check(request->cc, &request->access, message, sizeof message) !=
        TILEMM_SUCCESS)
        return o->file ? command_error("%s", message) : command_usage_error(o->verb, "%s", message);
    return EXIT_OK;
}

static int parse_tile(const char *text, void *value)
{
    access_request_t *request = value;
    int64_t rows, cols;
    if (parse_pair(text, 'x', 1, MOST_EDGE, &rows, &cols) != 0)
        return -1;
    request->rows = (int)rows;
    request->cols = (int)cols;
    return 0;
}

static int parse_at(const char *text, void *value)
{
    int64_t *at = value;
    return parse_pair(text, ',', 0, MOST_EDGE, &at[0], &at[1]);
}

int access_parse(int argc, char **argv, const char *help, access_request_t *request)
{
    *request =
        (access_request_t){.cc = 90, .color = -1, .elem_bytes = 4, .access.active = UINT32_MAX};
    static const word_t colors[] = {{"auto", -1}, {"never", 0}, {"always", 1}, {0}};
    options_t o = {.verb = argv[0], .vector = 1, .stride = -1, .at = {-1, -1}};
    const int coalescing = strcmp(o.verb, "coalescing") == 0;
    int first, status, not_cached = 0;
    command_option_t table[] = {
        {"tile", OPTION_PARSED, request, .parse = parse_tile,
         .takes = "rows x columns of 1 to 1048576, as 32x33"},
        {"stride", OPTION_INT64, &o.stride, .high = INT_MAX, .takes = "a number from 0"},
        {"access", OPTION_PARSED, &request->walk, .parse = parse_walk,
         .takes = "row, column or HxW of at most 32 lanes"},
        {"at", OPTION_PARSED, o.at, .parse = parse_at,
         .takes = "a row and a column from 0, as 0,5"},
        {"expr", OPTION_TEXT, &o.expr, .low = 1, .takes = "an expression"},
        {"i", OPTION_INT64, &o.i, .low = INT_MIN, .high = INT_MAX, .takes = "a number"},
        {"elem", OPTION_WORD, &request->elem_bytes, .words = size_words},
        {"vector", OPTION_WORD, &o.vector, .words = size_words},
        {"base", OPTION_INT64, &o.base, .high = INT64_MAX, .takes = "a number from 0"},
        {"active", OPTION_PARSED, &request->access.active, .parse = parse_mask,
         .takes = "a hexadecimal number of at most 32 bits"},
        {"cc", OPTION_PARSED, &request->cc, .parse = parse_cc, .words = chips},
        {"color", OPTION_WORD, &request->color, .words = colors},
        {"svg", OPTION_FILE, .value = &request->svg},
        {"FILE", .kind = OPTION_OPERANDS},
        {"json", OPTION_FLAG, .value = &request->json},
        {"store", OPTION_FLAG, .value = &request->is_store},
        {"no-l1", OPTION_FLAG, .value = &not_cached}, /* the last: of coalescing alone */
    };
    status = command_options(argc, argv, help, table, COUNT_OF(table) - !coalescing, &first);
    if (status)
        return status;
    if (argc - first > 1)
        return -1 - command_usage_error(o.verb, "takes one file of addresses at most");
    if (argc > first)
        o.file = argv[first];
    request->cached_in_l1 = !not_cached;
    status = make_access(&o, request);
    return status ? -1 - status : 0;
}

void access_print_json(const access_request_t *request)
{
    printf("  \"cc\": %d,\n  \"elem_bytes\": %d,\n  \"active\": \"%08" PRIx32 "\",\n  \"addr\": [",
           request->cc, request->access.elem_bytes, request->access.active);
    for (int lane = 0; lane < LANES; lane++) {
        fputs(lane ? ", " : "", stdout);
        if (request->access.active >> lane & 1)
            printf("%" PRIu64, request->access.addr[lane]);
        else
            fputs("null", stdout);
    }
    puts("],");
}
