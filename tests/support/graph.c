/* graph.c - see graph.h. The driver is loaded at run time, so that no CUDA header is needed.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "graph.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* CUDA_KERNEL_NODE_PARAMS_v2 */
typedef struct {
    void *function;
    unsigned grid[3], threads[3], shared_bytes;
    void **parameters, **extra;
    void *kernel, *context;
} kernel_node_t;

/* Functions of the driver as X(member, symbol, parameters). */
#define GRAPH_FUNCTIONS(X)                                                                         \
    X(capture_end, "cuStreamEndCapture", (void *stream, void **graph))                             \
    X(nodes, "cuGraphGetNodes", (void *graph, void **nodes, size_t *count))                        \
    X(node_type, "cuGraphNodeGetType", (void *node, int *type))                                    \
    X(kernel_node, "cuGraphKernelNodeGetParams_v2", (void *node, kernel_node_t *params))           \
    X(function_name, "cuFuncGetName", (const char **name, void *function))                         \
    X(kernel_name, "cuKernelGetName", (const char **name, void *kernel))                           \
    X(graph_free, "cuGraphDestroy", (void *graph))

static struct {
#define MEMBER(name, symbol, parameters) int(*name) parameters;
    GRAPH_FUNCTIONS(MEMBER)
#undef MEMBER
} driver;

int graph_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return -1;
#define LOAD(name, symbol, parameters)                                                             \
    *(void **)&driver.name = dlsym(library, symbol);                                               \
    if (!driver.name)                                                                              \
        return -1;
    GRAPH_FUNCTIONS(LOAD)
#undef LOAD
    return 0;
}

/* The function's name in a mangled one: "_Z7functioni", or "_ZL7functioni" if it is static. */
static void plain_name(const char *mangled, char (*name)[KERNEL_NAME])
{
    const char *from = mangled;
    size_t length = strlen(mangled);
    if (!strncmp(mangled, "_Z", 2)) {
        char *end;
        from += 2 + (mangled[2] == 'L');
        length = strtoul(from, &end, 10);
        from = end;
    }
    snprintf(*name, sizeof *name, "%.*s", (int)(length < KERNEL_NAME ? length : KERNEL_NAME - 1),
             from);
}

int graph_capture_end(void *stream, void **graph)
{
    *graph = NULL;
    return driver.capture_end(stream, graph);
}

void graph_free(void *graph)
{
    if (graph)
        driver.graph_free(graph);
}

int graph_kernels(void *graph, char (**names)[KERNEL_NAME], size_t *count)
{
    enum { KERNEL_NODE = 0 };
    size_t nodes = 0;
    int error = driver.nodes(graph, NULL, &nodes);
    void **node = test_need(malloc((nodes + 1) * sizeof *node));
    *names = test_need(malloc((nodes + 1) * sizeof **names));
    *count = 0;
    if (!error && nodes)
        error = driver.nodes(graph, node, &nodes);
    for (size_t i = 0; !error && i < nodes; i++) {
        kernel_node_t kernel;
        const char *mangled = NULL;
        int type = -1;
        error = driver.node_type(node[i], &type);
        if (error || type != KERNEL_NODE)
            continue;
        memset(&kernel, 0, sizeof kernel);
        error = driver.kernel_node(node[i], &kernel);
        if (!error)
            error = kernel.function ? driver.function_name(&mangled, kernel.function)
                                    : driver.kernel_name(&mangled, kernel.kernel);
        if (!error)
            plain_name(mangled, &(*names)[(*count)++]);
    }
    free(node);
    return error;
}
