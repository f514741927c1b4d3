/* multi_run.c - the operations of a context over several devices. What lies on the host is divided
 * among all members; what lies on one device is done there, but for products that are worth
 * sending, and among the members of that device.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "lib/reduce/join.h"
#include "lib/reduce/plan_pieces_cuda.h"
#include "lib/sgemm/pipeline_cuda.h"
#include "lib/size.h"
#include "multi.h"

/* Where a call's operands lie, all together. */
typedef struct {
    int host;   /* some lie on the host */
    int device; /* the device of the others, or TILEMM__ANYWHERE */
    int mixed;  /* they lie on several devices */
} places_t;

/* Count an operand in. Returns 0 if it lies on a device that is not the context's. */
static int add_place(tilemm_t ctx, const char *what, const void *pointer, places_t *places)
{
    const int place = pointer ? tilemm__multi_place(ctx, pointer) : (int)TILEMM__ANYWHERE;
    if (place >= 0 && tilemm__multi_member_on(ctx, place) < 0)
        return tilemm__refuse(ctx,
                              "%s: %p is in the memory of device %d, must be in that of the "
                              "context's devices or in host memory",
                              what, pointer, place);
    places->host |= place == TILEMM__ON_HOST;
    if (place >= 0) {
        places->mixed |= places->device >= 0 && places->device != place;
        if (places->device < 0)
            places->device = place;
    }
    return 1;
}

static int is_capturing(tilemm_t ctx)
{
    return tilemm__cuda_is_capturing(tilemm__cuda(tilemm__multi(ctx)->member[0].ctx)->stream);
}

/* The members among which things are divided that lie so: all, or those on the one device. */
static tilemm__multi_devices_t members_for(tilemm_t ctx, const places_t *places)
{
    tilemm__multi_devices_t devices = tilemm__multi(ctx)->devices;
    for (int i = 0; i < devices.count && places->device >= 0; i++)
        if (devices.ordinal[i] != places->device)
            devices.rate[i] = 0;
    return devices;
}

static void who_works(const tilemm__multi_devices_t *devices, const int64_t *begin, char *works)
{
    for (int i = 0; i < devices->count; i++)
        works[i] = begin[i + 1] > begin[i];
}

/* The member on whose device a call is done that is not divided; in a capture it is the first. */
static tilemm_status_t run_at(tilemm_t ctx, const char *what, int place, tilemm__part_t part,
                              void *data)
{
    const int number = tilemm__multi_member_on(ctx, place);
    if (number > 0 && is_capturing(ctx))
        return tilemm__fail(ctx, TILEMM_NOT_SUPPORTED,
                            "%s: the operands are on device %d, must be on device %d, the "
                            "context's first, where a graph is captured",
                            what, place, tilemm__multi(ctx)->devices.ordinal[0]);
    return tilemm__multi_run_one(ctx, number, part, data);
}

/* Work that operands on one device wait for is divided among its members from this time on. */
static int is_worth(const tilemm__multi_devices_t *devices, double seconds)
{
    return seconds > 4 * devices->start;
}

/* ---- products ----------------------------------------------------------------------------- */

typedef struct {
    const tilemm__sgemm_args_t *args;
    const tilemm__multi_sgemm_plan_t *plan; /* of one product, */
    const int64_t *begin;                   /* or the ranges of a batch; or neither */
    double peer_link;
    tilemm__relay_t *relay;
} sgemm_t;

static tilemm_status_t whole_sgemm(tilemm_t member, int number, void *data)
{
    const sgemm_t *const call = data;
    (void)number;
    return tilemm__cuda_staged_sgemm(member, call->args);
}

static tilemm_status_t part_of_product(tilemm_t member, int number, void *data)
{
    const sgemm_t *const call = data;
    const tilemm__sgemm_args_t part = tilemm__multi_sgemm_part(call->args, call->plan, number);
    return tilemm__cuda_sgemm_part(member, &part, call->args, call->peer_link, call->relay, number);
}

/* Matrices [first, first + count) of a batch. */
static tilemm__sgemm_args_t range_of(const tilemm__sgemm_args_t *args, int64_t first, int64_t count)
{
    tilemm__sgemm_args_t part = *args;
    part.batch_count = count;
    part.c += first * args->stride_c;
    if (args->c_array)
        part.c_array += first;
    if (args->k == 0)
        return part;
    part.a += first * args->stride_a;
    part.b += first * args->stride_b;
    if (args->a_array)
        part.a_array += first;
    if (args->b_array)
        part.b_array += first;
    return part;
}

static tilemm_status_t part_of_batch(tilemm_t member, int number, void *data)
{
    const sgemm_t *const call = data;
    const int64_t *const begin = &call->begin[number];
    const tilemm__sgemm_args_t part = range_of(call->args, begin[0], begin[1] - begin[0]);
    char variant[sizeof member->variant];
    memcpy(variant, member->variant, sizeof variant);
    tilemm__cuda_choose_kernel(member, call->args);
    const tilemm_status_t status = tilemm__cuda_staged_sgemm(member, &part);
    memcpy(member->variant, variant, sizeof variant);
    return status;
}

static tilemm_status_t product(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    const tilemm__multi_t *multi = tilemm__multi(ctx);
    const void *const operands[] = {args->k > 0 ? args->a : NULL, args->k > 0 ? args->b : NULL,
                                    args->c};
    places_t together = {.device = TILEMM__ANYWHERE};
    int places[3];
    tilemm__multi_sgemm_plan_t plan;
    char works[TILEMM__MOST_DEVICES] = {0};
    sgemm_t call = {
        .args = args, .plan = &plan, .peer_link = tilemm__multi_peer_link(&multi->devices)};
    for (int i = 0; i < 3; i++) {
        if (!add_place(ctx, "sgemm", operands[i], &together))
            return TILEMM_INVALID_ARGUMENT;
        places[i] = operands[i] ? tilemm__multi_place(ctx, operands[i]) : (int)TILEMM__ANYWHERE;
    }
    if (args->k == 0 || is_capturing(ctx))
        return run_at(ctx, "sgemm", together.device, whole_sgemm, &call);
    tilemm__plan_multi_sgemm(args, &multi->devices, places, &plan);
    who_works(&multi->devices, plan.begin, works);
    if (plan.used == 1 && !together.mixed) {
        int number = 0;
        while (!works[number])
            number++;
        if (together.device < 0 || multi->devices.ordinal[number] == together.device)
            return tilemm__multi_run_one(ctx, number, whole_sgemm, &call);
    }
    call.relay = plan.relay ? tilemm__relay_create(!plan.side) : NULL;
    for (int i = 0, index = 0; i < multi->devices.count && call.relay; i++)
        call.relay->index[i] = works[i] ? index++ : 0;
    const tilemm_status_t status = tilemm__multi_run(ctx, works, together.host || *ctx->timeline,
                                                     part_of_product, &call, call.relay);
    tilemm__relay_destroy(call.relay);
    return status;
}

/* Each matrix by itself, divided. */
static tilemm_status_t products(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    tilemm_status_t status = TILEMM_SUCCESS;
    for (int64_t i = 0; i < args->batch_count && status == TILEMM_SUCCESS; i++) {
        tilemm__sgemm_args_t one = range_of(args, i, 1);
        if (args->c_array) {
            one.a = args->k > 0 ? args->a_array[i] : NULL;
            one.b = args->k > 0 ? args->b_array[i] : NULL;
            one.c = args->c_array[i];
            one.a_array = one.b_array = NULL;
            one.c_array = NULL;
        }
        status = product(ctx, &one);
    }
    return status;
}

/* Where the matrices of a batch lie; of arrays on a device it is that device. Returns 0 where one
 * lies on a device that is not the context's. */
static int batch_places(tilemm_t ctx, const tilemm__sgemm_args_t *args, places_t *places)
{
    const int used = args->k > 0;
    if (!args->c_array)
        return add_place(ctx, "sgemm", used ? args->a : NULL, places) &&
               add_place(ctx, "sgemm", used ? args->b : NULL, places) &&
               add_place(ctx, "sgemm", args->c, places);
    const void *const *const arrays[] = {used ? (const void *const *)args->a_array : NULL,
                                         used ? (const void *const *)args->b_array : NULL,
                                         (const void *const *)args->c_array};
    for (int i = 0; i < 3; i++) {
        places_t of_array = {.device = TILEMM__ANYWHERE};
        if (!add_place(ctx, "sgemm_batched", arrays[i], &of_array))
            return 0;
        places->host |= of_array.host;
        if (!of_array.host) /* nobody looks into it */
            return add_place(ctx, "sgemm_batched", arrays[i], places);
        for (int64_t j = 0; j < args->batch_count; j++)
            if (!add_place(ctx, "sgemm_batched", arrays[i][j], places))
                return 0;
    }
    return 1;
}

static int has_array_on_device(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    return args->c_array &&
           (tilemm__multi_place(ctx, args->c_array) != TILEMM__ON_HOST ||
            (args->k > 0 && (tilemm__multi_place(ctx, args->a_array) != TILEMM__ON_HOST ||
                             tilemm__multi_place(ctx, args->b_array) != TILEMM__ON_HOST)));
}

tilemm_status_t tilemm__multi_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    /* From this on a matrix alone is worth dividing. */
    const double large = 0x1p33, count = (double)args->batch_count;
    const double work = (double)args->m * (double)args->n * (double)args->k;
    const double bytes = ((double)args->m * (double)args->k + (double)args->k * (double)args->n +
                          (double)args->m * (double)args->n * (args->beta != 0 ? 2 : 1)) *
                         (double)sizeof(float) * count;
    places_t places = {.device = TILEMM__ANYWHERE};
    int64_t begin[TILEMM__MOST_DEVICES + 1];
    char works[TILEMM__MOST_DEVICES] = {0};
    sgemm_t call = {.args = args, .begin = begin};
    tilemm_status_t status = tilemm__multi_begin(ctx);
    if (status != TILEMM_SUCCESS)
        return status;
    if (args->batch_count == 1 && !args->c_array)
        return product(ctx, args);
    if (!batch_places(ctx, args, &places))
        return TILEMM_INVALID_ARGUMENT;
    if (is_capturing(ctx) || has_array_on_device(ctx, args))
        return run_at(ctx, "sgemm", places.device, whole_sgemm, &call);
    if (places.mixed || work >= large)
        return products(ctx, args);
    const tilemm__multi_devices_t devices = members_for(ctx, &places);
    int used = 1;
    if (places.host)
        used = tilemm__plan_multi_host(&devices, args->batch_count, 1, bytes, begin);
    else if (is_worth(&devices, work * count / 100e12 + bytes / 3e12))
        tilemm__multi_shares(&devices, args->batch_count, 1, begin), used = 2;
    if (used == 1)
        return run_at(ctx, "sgemm", places.device, whole_sgemm, &call);
    who_works(&devices, begin, works);
    return tilemm__multi_run(ctx, works, places.host, part_of_batch, &call, NULL);
}

/* ---- transposes and copies ---------------------------------------------------------------- */

typedef struct {
    const tilemm__transpose_args_t *args;
    const int64_t *begin;
    int along; /* 0: the batch is divided; 1: src's rows; 2: its columns */
} transpose_t;

static tilemm_status_t whole_transpose(tilemm_t member, int number, void *data)
{
    (void)number;
    return tilemm__cuda_staged_transpose(member, ((const transpose_t *)data)->args);
}

static tilemm_status_t whole_inplace(tilemm_t member, int number, void *data)
{
    (void)number;
    return tilemm__cuda_staged_transpose_inplace(member, ((const transpose_t *)data)->args);
}

static tilemm_status_t whole_copy(tilemm_t member, int number, void *data)
{
    (void)number;
    return tilemm__cuda_copy(member, ((const transpose_t *)data)->args);
}

static tilemm_status_t part_of_transpose(tilemm_t member, int number, void *data)
{
    const transpose_t *const call = data;
    tilemm__transpose_args_t part = *call->args;
    const int64_t first = call->begin[number], count = call->begin[number + 1] - first;
    const int64_t size = (int64_t)part.elem_size;
    int64_t src = first * part.stride_src, dst = first * part.stride_dst;
    if (call->along == 0) {
        part.batch_count = count;
    } else if (call->along == 1) {
        src = first * part.ld_src;
        dst = part.trans ? first : first * part.ld_dst;
        part.rows = count;
    } else {
        src = first;
        dst = part.trans ? first * part.ld_dst : first;
        part.cols = count;
    }
    if (part.src)
        part.src = (const char *)part.src + src * size;
    part.dst = (char *)part.dst + dst * size;
    return tilemm__cuda_staged_transpose(member, &part);
}

tilemm_status_t tilemm__multi_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    const tilemm__multi_t *multi = tilemm__multi(ctx);
    const int reads = !args->scaled || args->alpha != 0.0f;
    const double bytes = (double)args->rows * (double)args->cols * (double)args->batch_count *
                         (double)args->elem_size;
    places_t places = {.device = TILEMM__ANYWHERE};
    int64_t begin[TILEMM__MOST_DEVICES + 1];
    char works[TILEMM__MOST_DEVICES] = {0};
    transpose_t call = {.args = args, .begin = begin};
    const tilemm_status_t status = tilemm__multi_begin(ctx);
    if (status != TILEMM_SUCCESS)
        return status;
    if (!add_place(ctx, "transpose", reads ? args->src : NULL, &places) ||
        !add_place(ctx, "transpose", args->dst, &places))
        return TILEMM_INVALID_ARGUMENT;
    if (args->batch_count < multi->devices.count)
        call.along = args->rows >= args->cols ? 1 : 2;
    const int64_t lines = call.along == 0   ? args->batch_count
                          : call.along == 1 ? args->rows
                                            : args->cols;
    const int64_t unit = call.along == 0 ? 1 : 64;
    if (places.device >= 0 || !places.host || is_capturing(ctx) ||
        (call.along && args->batch_count > 1) ||
        tilemm__plan_multi_host(&multi->devices, lines, unit, bytes, begin) == 1)
        return run_at(ctx, "transpose", places.device, whole_transpose, &call);
    who_works(&multi->devices, begin, works);
    return tilemm__multi_run(ctx, works, 1, part_of_transpose, &call, NULL);
}

/* Moves are done as a whole, on the device of one of the operands. */
static tilemm_status_t move_whole(tilemm_t ctx, const char *what,
                                  const tilemm__transpose_args_t *args, tilemm__part_t part)
{
    places_t places = {.device = TILEMM__ANYWHERE};
    transpose_t call = {.args = args};
    const tilemm_status_t status = tilemm__multi_begin(ctx);
    if (status != TILEMM_SUCCESS)
        return status;
    if (!add_place(ctx, what, args->src, &places) || !add_place(ctx, what, args->dst, &places))
        return TILEMM_INVALID_ARGUMENT;
    return run_at(ctx, what, places.device, part, &call);
}

tilemm_status_t tilemm__multi_transpose_inplace(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    return move_whole(ctx, "transpose", args, whole_inplace);
}

tilemm_status_t tilemm__multi_copy(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    return move_whole(ctx, "copy_matrix", args, whole_copy);
}

/* ---- reductions --------------------------------------------------------------------------- */

typedef struct {
    const tilemm__reduce_args_t *args;
    const tilemm__segments_args_t *segments;
    const int64_t *begin;
    void *partials; /* of a vector that is divided */
} reduce_t;

/* A vector is divided at multiples of this number of elements. */
enum { UNIT = 32 * TILEMM__KEPT_ELEMENTS };

static tilemm_status_t whole_reduce(tilemm_t member, int number, void *data)
{
    (void)number;
    return tilemm__cuda_staged_reduce(member, ((const reduce_t *)data)->args);
}

static tilemm_status_t part_of_vectors(tilemm_t member, int number, void *data)
{
    const reduce_t *const call = data;
    tilemm__reduce_args_t part = *call->args;
    const int64_t first = call->begin[number];
    part.count = call->begin[number + 1] - first;
    part.x += first * part.vstride;
    if (part.out)
        part.out += first * part.out_stride;
    if (part.index_out)
        part.index_out += first * part.out_stride;
    return tilemm__cuda_staged_reduce(member, &part);
}

static tilemm_status_t units_of_vector(tilemm_t member, int number, void *data)
{
    const reduce_t *const call = data;
    const int64_t *const begin = &call->begin[number];
    return tilemm__cuda_reduce_range(member, call->args, begin[0] * UNIT,
                                     tilemm__min(begin[1] * UNIT, call->args->n), call->partials);
}

/* The result to wherever it is wanted. */
static tilemm_status_t store_result(tilemm_t ctx, void *to, const void *result, size_t bytes)
{
    const tilemm_t first = tilemm__multi(ctx)->member[0].ctx;
    const cudaStream_t stream = tilemm__cuda(first)->stream;
    const tilemm__cuda_thread_t before = tilemm__cuda_enter(first);
    cudaError_t error = cudaMemcpyAsync(to, result, bytes, cudaMemcpyDefault, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return tilemm__cuda_leave(first, before,
                              error == cudaSuccess ? TILEMM_SUCCESS
                                                   : tilemm__cuda_fail(ctx, "reduce", error));
}

/* The result of a vector's partial results: 0, or -1 if host memory ran out. */
static int join(const reduce_t *call, int64_t entries, float *value, int64_t *index)
{
    const tilemm__reduce_args_t *const p = call->args;
    const tilemm__partials_t partials = tilemm__part_of(p, entries, call->partials);
    tilemm__join_t all = {0};
    int error = tilemm__join_begin(&all, p->op, p->nan_ignore, p->index_out != NULL, 1);
    if (!error)
        error = tilemm__join_add(&all, &partials, entries);
    if (!error)
        tilemm__join_finish(&all, p->n, value, p->index_out ? index : NULL, 1);
    tilemm__join_end(&all);
    return error;
}

/* One vector on the host, divided. Returns 0 where that is not worth while or has no memory. */
static int divide_vector(tilemm_t ctx, const tilemm__reduce_args_t *args, tilemm_status_t *status)
{
    const tilemm__multi_t *multi = tilemm__multi(ctx);
    const int is_dot = args->op == TILEMM__DOT;
    const double bytes = (double)args->n * (double)sizeof(float) * (is_dot ? 2 : 1);
    const int64_t units = tilemm__div_up(args->n, UNIT);
    const int64_t entries = tilemm__div_up(args->n, TILEMM__KEPT_ELEMENTS);
    int64_t begin[TILEMM__MOST_DEVICES + 1], index = 0;
    char works[TILEMM__MOST_DEVICES] = {0};
    reduce_t call = {.args = args, .begin = begin};
    float value = 0;
    if (args->count != 1 || args->istride != 1 || (is_dot && args->y_istride != 1) || units < 2 ||
        tilemm__plan_multi_host(&multi->devices, units, 1, bytes, begin) == 1)
        return 0;
    call.partials = malloc(tilemm__part_bytes(args, entries));
    if (!call.partials)
        return 0;
    who_works(&multi->devices, begin, works);
    *status = tilemm__multi_run(ctx, works, 1, units_of_vector, &call, NULL);
    if (*status == TILEMM_SUCCESS && join(&call, entries, &value, &index))
        *status = tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY, "reduce: host memory ran out");
    free(call.partials);
    if (*status == TILEMM_SUCCESS && args->out)
        *status = store_result(ctx, args->out, &value, sizeof value);
    if (*status == TILEMM_SUCCESS && args->index_out)
        *status = store_result(ctx, args->index_out, &index, sizeof index);
    return 1;
}

tilemm_status_t tilemm__multi_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    const tilemm__multi_t *multi = tilemm__multi(ctx);
    const double bytes = (double)args->count * (double)args->n * (double)sizeof(float);
    places_t places = {.device = TILEMM__ANYWHERE};
    int64_t begin[TILEMM__MOST_DEVICES + 1];
    char works[TILEMM__MOST_DEVICES] = {0};
    reduce_t call = {.args = args, .begin = begin};
    tilemm_status_t status = tilemm__multi_begin(ctx);
    if (status != TILEMM_SUCCESS)
        return status;
    /* x is first: it says where a reduction is done. */
    if (!add_place(ctx, "reduce", args->n > 0 ? args->x : NULL, &places) ||
        !add_place(ctx, "reduce", args->op == TILEMM__DOT && args->n > 0 ? args->y : NULL, &places))
        return TILEMM_INVALID_ARGUMENT;
    const int on_host = places.host && places.device < 0;
    if (!add_place(ctx, "reduce", args->out, &places) ||
        !add_place(ctx, "reduce", args->index_out, &places))
        return TILEMM_INVALID_ARGUMENT;
    if (on_host && !is_capturing(ctx) && divide_vector(ctx, args, &status))
        return status;
    if (!on_host || args->count == 1 || is_capturing(ctx) ||
        tilemm__plan_multi_host(&multi->devices, args->count, args->vstride == 1 ? 64 : 1, bytes,
                                begin) == 1)
        return run_at(ctx, "reduce", places.device, whole_reduce, &call);
    who_works(&multi->devices, begin, works);
    return tilemm__multi_run(ctx, works, 1, part_of_vectors, &call, NULL);
}

static tilemm_status_t whole_segments(tilemm_t member, int number, void *data)
{
    (void)number;
    return tilemm__cuda_staged_segments(member, ((const reduce_t *)data)->segments);
}

static tilemm_status_t part_of_segments(tilemm_t member, int number, void *data)
{
    const reduce_t *const call = data;
    tilemm__segments_args_t part = *call->segments;
    const int64_t first = call->begin[number];
    part.segments = call->begin[number + 1] - first;
    part.offsets += first;
    part.out += first;
    return tilemm__cuda_staged_segments(member, &part);
}

/* The first segment that begins at this element of x, or after it. */
static int64_t segment_at(const tilemm__segments_args_t *args, int64_t element)
{
    int64_t low = 0, high = args->segments;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (args->offsets[middle] < element)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

tilemm_status_t tilemm__multi_segments(tilemm_t ctx, const tilemm__segments_args_t *args)
{
    const tilemm__multi_t *multi = tilemm__multi(ctx);
    places_t places = {.device = TILEMM__ANYWHERE}, of_x = places, of_offsets = places;
    int64_t begin[TILEMM__MOST_DEVICES + 1];
    char works[TILEMM__MOST_DEVICES] = {0};
    reduce_t call = {.segments = args, .begin = begin};
    const tilemm_status_t status = tilemm__multi_begin(ctx);
    if (status != TILEMM_SUCCESS)
        return status;
    if (!add_place(ctx, "reduce", args->x, &of_x) ||
        !add_place(ctx, "reduce", args->offsets, &of_offsets) ||
        !add_place(ctx, "reduce", args->x, &places) ||
        !add_place(ctx, "reduce", args->offsets, &places) ||
        !add_place(ctx, "reduce", args->out, &places))
        return TILEMM_INVALID_ARGUMENT;
    int used = 1;
    if (of_x.host && of_offsets.host && !is_capturing(ctx)) {
        const int64_t start = args->offsets[0], elements = args->offsets[args->segments] - start;
        used = tilemm__plan_multi_host(&multi->devices, elements, 1,
                                       (double)elements * (double)sizeof(float), begin);
        for (int i = 1; i < multi->devices.count; i++)
            begin[i] = segment_at(args, start + begin[i]);
        begin[multi->devices.count] = args->segments;
    }
    if (used == 1)
        return run_at(ctx, "reduce", places.device, whole_segments, &call);
    who_works(&multi->devices, begin, works);
    return tilemm__multi_run(ctx, works, 1, part_of_segments, &call, NULL);
}
