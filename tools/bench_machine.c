/* bench_machine.c - where `tilemm bench` works: context, peers, memory, data.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "gpu.h"
#include "host.h"

static buffer_t kept[MAX_BUFFERS]; /* the last problem's operands */

static void buffer_close(buffer_t *buffer)
{
    if (buffer->host && buffer->memory == MEMORY_PINNED)
        gpu_free_host(buffer->host);
    else if (buffer->host != buffer->device) /* managed memory is one */
        free(buffer->host);
    gpu_free(buffer->device);
    buffer->host = buffer->device = NULL;
}

int bench_devices(const bench_options_t *options, int devices[MAX_DEVICES])
{
    const context_options_t *context = &options->context;
    int count = 0;
    devices[count++] = context->device;
    for (int i = 1; i < context->device_count; i++) {
        int j = 0;
        while (j < count && devices[j] != context->devices[i])
            j++;
        if (j == count)
            devices[count++] = context->devices[i];
    }
    return count;
}

static int open_gpu(machine_t *machine, const context_options_t *context)
{
    const int device = context->device;
    gpu_traits_t traits;
    if (gpu_open(device) != 0)
        return command_error("%s", gpu_error());
    machine->stream = gpu_stream_create();
    machine->start = gpu_event_create();
    machine->end = gpu_event_create();
    if (!machine->stream || !machine->start || !machine->end)
        return command_error("cannot create a stream and events on CUDA device %d", device);
    if (check_ours(machine, tilemm_set_stream(machine->ctx, machine->stream)) != 0)
        return EXIT_FAILED;
    if (gpu_count() > 0 && gpu_describe(device, &traits) == 0)
        snprintf(machine->device, sizeof machine->device, "cuda, %s", traits.name);
    for (int i = 0; i < context->device_count; i++)
        append(machine->device, sizeof machine->device, "%s%d", i ? "," : ", devices ",
               context->devices[i]);
    return EXIT_OK;
}

static int find_peers(machine_t *machine, int vs)
{
    if (vs == VS_NONE)
        return EXIT_OK;
    if (machine->on_gpu) {
        machine->cublas = reference_cublas();
        machine->cub = reference_cub();
        if (machine->cublas &&
            check_peer(machine->cublas->name, machine->cublas->set_stream(machine->stream)) != 0)
            return EXIT_FAILED;
        if (vs == VS_CUBLAS && !machine->cublas)
            return command_error("cuBLAS was not found (libcublas.so, in CUDA_HOME too)");
    } else {
        machine->blas = reference_blas();
        if (machine->blas && machine->blas->set_threads)
            machine->blas->set_threads(machine->threads);
        if (vs == VS_OPENBLAS && !machine->blas)
            return command_error("OpenBLAS was not found (libopenblas.so.0; TILEMM_REFERENCE_BLAS "
                                 "names another file)");
    }
    return EXIT_OK;
}

int machine_open(machine_t *machine, const bench_options_t *options)
{
    tilemm_backend_t backend;
    int status = EXIT_OK;
    *machine = (machine_t){.log = options->log};
    machine->ctx = command_context(&options->context);
    if (!machine->ctx)
        return EXIT_FAILED;
    tilemm_get_backend(machine->ctx, &backend);
    machine->on_gpu = backend == TILEMM_BACKEND_CUDA;
    machine->threads = options->context.threads ? options->context.threads : host_threads();
    snprintf(machine->device, sizeof machine->device, "cpu, %d thread%s", machine->threads,
             machine->threads == 1 ? "" : "s");
    if (!machine->on_gpu && options->memory) {
        machine_close(machine);
        return command_error("--memory %s is for a GPU, and there is none to compute on",
                             word_of(memory_words, options->memory));
    }
    tilemm_set_threads(machine->ctx, machine->threads);
    if (options->math >= 0)
        tilemm_set_math(machine->ctx, (tilemm_math_t)options->math);
    if (options->invariance >= 0 &&
        tilemm_set_invariance(machine->ctx, (tilemm_invariance_t)options->invariance) !=
            TILEMM_SUCCESS) {
        status = command_error("%s", tilemm_last_error(machine->ctx));
        machine_close(machine);
        return status;
    }
    tilemm_set_nan_policy(machine->ctx, (tilemm_nan_t)options->nan);
    if (machine->on_gpu)
        status = open_gpu(machine, &options->context);
    if (status == EXIT_OK)
        status = find_peers(machine, options->vs);
    if (status != EXIT_OK)
        machine_close(machine);
    return status;
}

void machine_close(machine_t *machine)
{
    tilemm_destroy(machine->ctx);
    if (machine->cublas)
        machine->cublas->set_stream(NULL);
    for (int i = 0; i < MAX_BUFFERS; i++)
        buffer_close(&kept[i]);
    gpu_event_destroy(machine->start);
    gpu_event_destroy(machine->end);
    gpu_stream_destroy(machine->stream);
    *machine = (machine_t){0};
}

int check_ours(const machine_t *machine, tilemm_status_t status)
{
    return status == TILEMM_SUCCESS ? 0
                                    : -command_error("%s: %s", tilemm_status_string(status),
                                                     tilemm_last_error(machine->ctx));
}

int check_peer(const char *name, int status)
{
    return status == 0 ? 0 : -command_error("%s failed with status %d", name, status);
}

static int has_room(const machine_t *machine, const buffer_t *buffers, int count, int memory)
{
    const int on_device = machine->on_gpu && !is_on_host(memory) && memory != MEMORY_MANAGED;
    const double gib = 1024.0 * 1024.0 * 1024.0;
    double needed = 0, room = (double)host_free_memory("");
    size_t device_free, device_total;
    const char *where = "";
    for (int i = 0; i < count; i++)
        needed += (double)buffers[i].bytes;
    if (needed <= room) {
        if (!on_device || gpu_memory(&device_free, &device_total) != 0 ||
            needed <= (double)device_free)
            return 1;
        where = "device ";
        room = (double)device_free;
    }
    command_error("this needs %.1f GiB of %smemory, %.1f GiB are free", needed / gib, where,
                  room / gib);
    return 0;
}

int buffer_open(const machine_t *machine, buffer_t *buffer)
{
    const size_t bytes = (buffer->bytes + 63) / 64 * 64 + 64;
    const int memory = machine->on_gpu ? buffer->memory : MEMORY_PAGEABLE;
    buffer->memory = memory;
    buffer->device = NULL;
    buffer->host = memory == MEMORY_PINNED    ? gpu_malloc_host(bytes)
                   : memory == MEMORY_MANAGED ? gpu_malloc_managed(bytes)
                                              : aligned_alloc(64, bytes);
    if (buffer->host && !is_on_host(memory))
        buffer->device = memory == MEMORY_MANAGED ? buffer->host : gpu_malloc(bytes);
    if (buffer->host && (buffer->device || is_on_host(memory)))
        return 0;
    return -command_error("no %s memory for %zu bytes",
                          buffer->host      ? "device"
                          : machine->on_gpu ? word_of(memory_words, memory)
                                            : "host",
                          buffer->bytes);
}

/* Whether all operands among the buffers, at least one, are what the last problem left: normal
 * numbers, which do not depend on the shape. */
static int can_reuse(const machine_t *machine, const buffer_t *buffers, int count, int memory)
{
    int operands = 0;
    for (int i = 0; i < count; i++) {
        if (buffers[i].seed && (!kept[i].host || kept[i].bytes != buffers[i].bytes ||
                                kept[i].seed != buffers[i].seed || kept[i].family ||
                                buffers[i].family || (machine->on_gpu && kept[i].memory != memory)))
            return 0;
        operands += buffers[i].seed != 0;
    }
    return operands > 0;
}

/* Matrix by matrix; gaps between lines are zeros. */
static void fill_operand(const buffer_t *buffer)
{
    const int across = buffer->across;
    if (buffer->family == DATA_NORMAL) {
        fill_normal(buffer->host, buffer->bytes / sizeof(float), buffer->seed);
        return;
    }
    memset(buffer->host, 0, buffer->bytes);
    for (int64_t i = 0; i < buffer->batch; i++)
        data_fill(buffer->family, buffer->of_b, buffer->seed + (uint64_t)i,
                  across ? buffer->length : buffer->lines, across ? buffer->lines : buffer->length,
                  buffer_matrix(buffer, i), across ? 1 : buffer->ld, across ? buffer->ld : 1);
}

int buffers_open(const machine_t *machine, buffer_t *buffers, int count, int memory)
{
    const int reuse = can_reuse(machine, buffers, count, memory);
    for (int i = 0; !reuse && i < MAX_BUFFERS; i++)
        buffer_close(&kept[i]);
    if (!reuse && !has_room(machine, buffers, count, memory))
        return -1;
    for (int i = 0; i < count; i++) {
        buffers[i].memory = memory;
        if (reuse && buffers[i].seed) {
            buffers[i].host = kept[i].host;
            buffers[i].device = kept[i].device;
            buffers[i].memory = kept[i].memory;
            kept[i].host = kept[i].device = NULL;
        } else if (buffer_open(machine, &buffers[i]) != 0) {
            return -1;
        } else if (buffers[i].seed) {
            fill_operand(&buffers[i]);
            if (buffer_send(machine, &buffers[i]) != 0)
                return -1;
        }
    }
    return 0;
}

void buffers_close(buffer_t *buffers)
{
    for (int i = 0; i < MAX_BUFFERS; i++) {
        if (buffers[i].seed && buffers[i].host) {
            buffer_close(&kept[i]);
            kept[i] = buffers[i];
            buffers[i].host = buffers[i].device = NULL;
        }
        buffer_close(&buffers[i]);
    }
}

/* Whether the device's copy is another one than the host's. */
static int has_copy(const buffer_t *buffer)
{
    return buffer->device && buffer->device != buffer->host;
}

int buffer_send(const machine_t *machine, const buffer_t *buffer)
{
    (void)machine;
    if (!has_copy(buffer))
        return 0;
    /* The stream does not wait for the copy, nor the copy for the stream. */
    if (check_peer("the device", gpu_synchronize()) != 0 ||
        check_peer("a copy to the device",
                   gpu_to_device(buffer->device, buffer->host, buffer->bytes)) != 0)
        return -1;
    return check_peer("the device", gpu_synchronize());
}

int buffer_fetch(const machine_t *machine, const buffer_t *buffer)
{
    if (!machine->on_gpu)
        return 0;
    if (check_peer("the device", gpu_stream_synchronize(machine->stream)) != 0)
        return -1;
    if (!has_copy(buffer))
        return 0;
    return check_peer("a copy from the device",
                      gpu_to_host(buffer->host, buffer->device, buffer->bytes));
}

int buffer_poison(const machine_t *machine, const buffer_t *buffer)
{
    memset(buffer->host, 0xff, buffer->bytes);
    if (!has_copy(buffer))
        return 0;
    return check_peer("filling device memory",
                      gpu_fill_async(buffer->device, 0xff, buffer->bytes, machine->stream));
}

int multiply_sizes(int64_t a, int64_t b, int64_t *result)
{
    return __builtin_mul_overflow(a, b, result) || *result > PTRDIFF_MAX / 16 ? -1 : 0;
}

int buffer_shape(buffer_t *buffer, int64_t lines, int64_t length, int64_t ld, int64_t stride,
                 int64_t batch, size_t elem_size)
{
    int64_t span = 0, distance = 0;
    ld = ld == NOT_GIVEN ? tilemm__max(length, 1) : ld;
    if (stride == NOT_GIVEN && multiply_sizes(lines, ld, &stride) != 0)
        return -1;
    if (lines > 0 && length > 0 && batch > 0 &&
        (multiply_sizes(lines - 1, ld, &span) != 0 || __builtin_add_overflow(span, length, &span) ||
         multiply_sizes(batch - 1, stride < 0 ? -stride : stride, &distance) != 0 ||
         __builtin_add_overflow(span, distance, &span) || span > PTRDIFF_MAX / 16))
        return -1;
    *buffer = (buffer_t){.bytes = (size_t)span * elem_size,
                         .elem_size = elem_size,
                         .lines = lines,
                         .length = length,
                         .ld = ld,
                         .stride = stride,
                         .batch = batch,
                         .first = stride < 0 ? distance : 0};
    return 0;
}
