/* choices_cuda.c - see choices_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "choices_cuda.h"

static int place_of(const void *pointer, const void *array)
{
    return array ? -1 : (int)((uintptr_t)pointer % 16);
}

static tilemm__sgemm_choice_t problem_of(const tilemm__sgemm_args_t *args,
                                         const tilemm__limits_t *limits)
{
    const int one = args->batch_count == 1; /* strides do not count */
    tilemm__sgemm_choice_t p = {
        .m = args->m,
        .n = args->n,
        .k = args->k,
        .batch_count = args->batch_count,
        .lda = args->lda,
        .ldb = args->ldb,
        .ldc = args->ldc,
        .stride_a = one ? 0 : args->stride_a,
        .stride_b = one ? 0 : args->stride_b,
        .stride_c = one ? 0 : args->stride_c,
        .place_a = place_of(args->a, args->a_array),
        .place_b = place_of(args->b, args->b_array),
        .place_c = place_of(args->c, args->c_array),
        .trans_a = args->trans_a,
        .trans_b = args->trans_b,
        .exchanged = args->exchanged,
        .reads_c = args->beta != 0.0f,
        .keeps = limits->kept != NULL,
        .math = limits->math,
        .workspace = limits->workspace,
    };
    for (int i = 0; limits->kept && i < 2; i++)
        p.kept[i] = limits->kept[i];
    return p;
}

static int is_same_kept(const tilemm__sgemm_kept_t *p, const tilemm__sgemm_kept_t *q)
{
    return p->room == q->room && p->place == q->place && p->is_there == q->is_there;
}

static int is_same(const tilemm__sgemm_choice_t *p, const tilemm__sgemm_choice_t *q)
{
    return p->m == q->m && p->n == q->n && p->k == q->k && p->batch_count == q->batch_count &&
           p->lda == q->lda && p->ldb == q->ldb && p->ldc == q->ldc && p->stride_a == q->stride_a &&
           p->stride_b == q->stride_b && p->stride_c == q->stride_c && p->place_a == q->place_a &&
           p->place_b == q->place_b && p->place_c == q->place_c && p->trans_a == q->trans_a &&
           p->trans_b == q->trans_b && p->exchanged == q->exchanged && p->reads_c == q->reads_c &&
           p->keeps == q->keeps && p->math == q->math && p->workspace == q->workspace &&
           is_same_kept(&p->kept[0], &q->kept[0]) && is_same_kept(&p->kept[1], &q->kept[1]);
}

/* The place of a problem's choice. */
static tilemm__sgemm_choice_t *place_in(struct tilemm__sgemm_choices *choices,
                                        const tilemm__sgemm_choice_t *problem)
{
    enum { PLACES = sizeof choices->at / sizeof *choices->at };
    const int64_t numbers[] = {problem->m,
                               problem->n,
                               problem->k,
                               problem->batch_count,
                               problem->lda ^ problem->ldb << 20 ^ problem->ldc << 40,
                               problem->trans_a * 2 + problem->trans_b + problem->reads_c * 4 +
                                   problem->math * 8};
    uint64_t hash = 0;
    for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++) {
        hash = (hash ^ (uint64_t)numbers[i]) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / 1.618... */
        hash ^= hash >> 32;
    }
    return &choices->at[hash % PLACES];
}

const tilemm__sgemm_trial_t *tilemm__sgemm_chosen(const tilemm__sgemm_args_t *args,
                                                  const tilemm__limits_t *limits)
{
    if (!limits->choices || *limits->variant)
        return NULL;
    const tilemm__sgemm_choice_t problem = problem_of(args, limits);
    const tilemm__sgemm_choice_t *const at = place_in(limits->choices, &problem);
    return is_same(at, &problem) ? &at->choice : NULL;
}

void tilemm__sgemm_remember(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                            const tilemm__sgemm_trial_t *choice)
{
    if (!limits->choices || *limits->variant)
        return;
    tilemm__sgemm_choice_t problem = problem_of(args, limits);
    problem.choice = *choice;
    *place_in(limits->choices, &problem) = problem;
}
