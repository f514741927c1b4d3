/* simulated_sgemm.c - products on the simulated CUDA runtime (simulated_cuda.h), and what of their
 * operands stays prepared in the workspace.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "simulated_cuda.h"

static void multiply_one(const tilemm__sgemm_args_t *p)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < p->k; l++)
                sum += (double)p->a[p->trans_a ? l * p->lda + i : i * p->lda + l] *
                       (double)p->b[p->trans_b ? j * p->ldb + l : l * p->ldb + j];
            float *const c = &p->c[i * p->ldc + j];
            *c = p->alpha * (float)sum + (p->beta != 0 ? p->beta * *c : 0);
        }
}

void multiply(const tilemm__sgemm_args_t *p)
{
    tilemm__sgemm_args_t one = *p;
    for (int64_t i = 0; i < p->batch_count; i++) {
        one.a = p->a + i * p->stride_a;
        one.b = p->b + i * p->stride_b;
        one.c = p->c + i * p->stride_c;
        multiply_one(&one);
    }
}

static void multiply_late(const void *args)
{
    multiply(args);
}

tilemm_status_t tilemm__cuda_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    simulated.sgemm_device = tilemm__cuda(ctx)->device;
    if (args->m != 2048) /* which is measured: multi.c */
        simulated_call(tilemm__cuda(ctx)->stream, multiply_late, args, sizeof(*args));
    return TILEMM_SUCCESS;
}

/* ---- prepared operands: copies of their lines, in the workspace -------------------------------
 */

typedef struct {
    tilemm__sgemm_args_t args;
    tilemm__sgemm_kept_t kept[2];
    float *copies[2];
} kept_product_t;

static const float *element_of(const tilemm__sgemm_args_t *p, int s, int64_t line, int64_t l)
{
    const int along_k = s ? p->trans_b : !p->trans_a;
    const int64_t ld = s ? p->ldb : p->lda;
    return (s ? p->b : p->a) + (along_k ? line * ld + l : l * ld + line);
}

/* From the copies; a copy that is not made anew must equal what the operand still is. */
static void multiply_kept(const void *args)
{
    kept_product_t x = *(const kept_product_t *)args;
    tilemm__sgemm_args_t p = x.args;
    int differ = 0;
    for (int s = 0; s < 2; s++) {
        const tilemm__sgemm_kept_t *kept = &x.kept[s];
        const int64_t lines = s ? p.n : p.m;
        float *const copy = x.copies[s] + kept->place * p.k;
        if (kept->room == 0)
            continue;
        EXPECT(kept->place >= 0 && kept->place + lines <= kept->room, "%lld lines at %lld of %lld",
               (long long)lines, (long long)kept->place, (long long)kept->room);
        for (int64_t i = 0; i < lines; i++)
            for (int64_t l = 0; l < p.k; l++) {
                if (!kept->is_there)
                    copy[i * p.k + l] = *element_of(&x.args, s, i, l);
                differ += copy[i * p.k + l] != *element_of(&x.args, s, i, l);
            }
        simulated.kept += kept->is_there ? (int)lines : 0;
        if (s) {
            p.b = copy;
            p.ldb = p.k;
            p.trans_b = 1;
        } else {
            p.a = copy;
            p.lda = p.k;
            p.trans_a = 0;
        }
    }
    EXPECT(differ == 0, "%d elements of what stays are others", differ);
    multiply(&p);
}

/* As the library's, it is made for what a product reads. */
size_t tilemm__cuda_sgemm_workspace(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    (void)ctx;
    return (size_t)((args->m + args->n) * args->k) * sizeof(float);
}

static size_t copies_of(const tilemm__sgemm_kept_t *kept, const tilemm__sgemm_args_t *args, int s)
{
    return (size_t)((kept[s].room ? kept[s].room
                     : s          ? args->n
                                  : args->m) *
                    args->k) *
           sizeof(float);
}

/* Some products have a kernel that prepares nothing. */
size_t tilemm__cuda_sgemm_kept_workspace(tilemm_t ctx, const tilemm__sgemm_args_t *args,
                                         const tilemm__sgemm_kept_t *kept)
{
    (void)ctx;
    return args->k % 5 == 0 ? 0 : copies_of(kept, args, 0) + copies_of(kept, args, 1);
}

tilemm_status_t tilemm__cuda_sgemm_kept(tilemm_t ctx, const tilemm__sgemm_args_t *args,
                                        const tilemm__sgemm_kept_t *kept)
{
    size_t got;
    if (!kept)
        return tilemm__cuda_sgemm(ctx, args);
    const size_t want = tilemm__cuda_sgemm_kept_workspace(ctx, args, kept);
    char *const workspace = tilemm__cuda_workspace(ctx, want, &got);
    EXPECT(got >= want && want > 0, "a workspace of %zu bytes, not %zu", got, want);
    kept_product_t x = {.args = *args, .kept = {kept[0], kept[1]}};
    x.copies[!kept[0].room] = (float *)(void *)workspace; /* what stays comes first */
    x.copies[kept[0].room > 0] =
        (float *)(void *)(workspace + copies_of(kept, args, !kept[0].room));
    simulated.sgemm_device = tilemm__cuda(ctx)->device;
    simulated_call(tilemm__cuda(ctx)->stream, multiply_kept, &x, sizeof(x));
    return TILEMM_SUCCESS;
}
