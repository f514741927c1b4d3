/* plan_planes_cuda.c - plans of SGEMM on tensor cores from planes that a pass makes: the tile, how
 * much of k and of a batch is taken at a time, the schedules, and where all lies in the workspace.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "candidates_cuda.h"

enum {
    BLOCK = TILEMM__SGEMM_PLANES_BLOCK,
    ALIGN_MN = TILEMM__SGEMM_PLANES_ALIGN_MN,
    ALIGN_K = TILEMM__SGEMM_PLANES_ALIGN_K,
    SM90_FIRST = TILEMM__sgemm_planes_sm90_128x128x64_p3_1x2,
    SM90_END = TILEMM__sgemm_half_planes_sm90_128x128x64,
    SM90_K = 64, /* a k-step */
    PAIR = TILEMM__SGEMM_STREAM_K_PAIR,
    /* The shortest k: below, the planes' last bit shows beside a plain FP32 sum. One plane has
     * TF32's bits whatever k is. */
    LEAST_K = 128,
    LEAST_K_OF_ONE = 16,
    /* Up to this k, lo lo is added too: there are too few products for it to average out. */
    LONGEST_K_OF_FOUR = 512,
    /* Up to this k, the wide tile's one sum over all of k truncates no more than TF32's rounding
     * shows; and that of sm80's tile without promotion. */
    LONGEST_K_UNSUMMED = 16384,
    LONGEST_K_UNSUMMED_SM80 = 8192
};

/* ---- the workspace --------------------------------------------------------------------------- */

/* Coordinates of the copy engine, and the kernels' tile counts. */
static const int64_t most = INT32_MAX / 2;

static size_t take(size_t *at, int64_t bytes)
{
    const size_t begin = *at;
    *at += (size_t)tilemm__round_up(bytes, 1024);
    return begin;
}

static int64_t groups_of(int64_t lines)
{
    return tilemm__div_up(lines, TILEMM__SGEMM_ROUTE_LINES);
}

/* Planes of `depth` along k and their notes, of `lines` lines or of the kept lines. If `bf16`, BF16
 * planes of hard tiles have room in their place. */
static void lay_out_planes(int64_t lines, const tilemm__sgemm_kept_t *kept, int products, int bf16,
                           int64_t depth, size_t *at, tilemm__sgemm_planes_places_t *places)
{
    const int64_t blocks = tilemm__div_up(depth, BLOCK), word = sizeof(unsigned);
    const int stays = kept && kept->room > 0;
    const int64_t room = stays ? kept->room : lines, first = stays ? kept->place : 0;
    const size_t begin = (size_t)(first * depth * 2);
    places->hi = take(at, room * depth * 2) + begin;
    places->lo = take(at, products > 1 ? room * depth * 2 : 0) + begin;
    places->bf16 = places->hi;
    take(at, bf16 ? room * depth * (TILEMM__SGEMM_HARD_BYTES - (products > 1 ? 4 : 2)) : 0);
    places->notes = take(at, room * blocks * word) + (size_t)(first * word);
}

/* Lay out the planes of a part of k of a group of matrices: first those that stay, whose places do
 * not depend on what does not. Returns the bytes. */
static size_t lay_out(const tilemm__sgemm_args_t *args, const tilemm__sgemm_kept_t *kept,
                      int products, int bf16, int64_t k_part, int64_t batch_group,
                      tilemm__sgemm_planes_cuda_plan_t *plan)
{
    const int64_t lines_a = tilemm__round_up(args->m, ALIGN_MN) * batch_group;
    const int64_t lines_b = tilemm__round_up(args->n, ALIGN_MN) * batch_group;
    const int64_t depth = tilemm__round_up(k_part, ALIGN_K);
    const int64_t word = sizeof(unsigned), group_bytes = sizeof(tilemm__sgemm_group_t);
    const int64_t made_bytes =
        (1 + tilemm__div_up(k_part, TILEMM__SGEMM_HARD_CHUNK) * batch_group) * word;
    const int b_first = kept && kept[0].room == 0;
    size_t at = 0;
    plan->k_part = k_part;
    plan->batch_group = batch_group;
    for (int i = 0; i < 2; i++) {
        const int of_b = i != b_first;
        lay_out_planes(of_b ? lines_b : lines_a, kept ? &kept[of_b] : NULL, products, bf16 && !kept,
                       depth, &at, of_b ? &plan->b : &plan->a);
    }
    if (bf16 && kept) {
        plan->a.bf16 = take(&at, lines_a * depth * TILEMM__SGEMM_HARD_BYTES);
        plan->b.bf16 = take(&at, lines_b * depth * TILEMM__SGEMM_HARD_BYTES);
    }
    plan->a.exact = take(&at, lines_a * word);
    plan->b.exact = take(&at, lines_b * word);
    plan->a.groups = take(&at, groups_of(args->m) * batch_group * group_bytes);
    plan->b.groups = take(&at, groups_of(args->n) * batch_group * group_bytes);
    plan->density = take(&at, 2 * sizeof(tilemm__sgemm_density_t) + word + bf16 * made_bytes);
    return at;
}

/* The most groups of matrices, or else the longest parts of k of one matrix, that fit: the largest
 * `count` up to `high` for which lay_out() takes no more than `room`; 0 if there is none. */
static int64_t most_that_fit(const tilemm__sgemm_args_t *args, int products, int of_k, int64_t high,
                             size_t room, tilemm__sgemm_planes_cuda_plan_t *plan)
{
    int64_t low = 0;
    while (low < high) { /* low fits, and what is above high does not */
        const int64_t middle = high - (high - low) / 2;
        if (lay_out(args, NULL, products, 0, of_k ? middle * BLOCK : args->k, of_k ? 1 : middle,
                    plan) <= room)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The largest parts that fit: whole problems, then groups of matrices, then parts of k of one
 * matrix, much the same in size. Returns their bytes, or 0 if not even the smallest part fits.
 * Planes that stay are of whole problems. */
static size_t fit(const tilemm__sgemm_args_t *args, const tilemm__sgemm_kept_t *kept, int products,
                  size_t room, tilemm__sgemm_planes_cuda_plan_t *plan)
{
    size_t bytes = lay_out(args, kept, products, 0, args->k, args->batch_count, plan);
    if (kept)
        return bytes <= room ? bytes : 0;
    if (bytes > room) {
        int64_t count = most_that_fit(args, products, 0, args->batch_count - 1, room, plan);
        if (count > 0) {
            bytes = lay_out(args, NULL, products, 0, args->k, count, plan);
        } else {
            if (args->a_array || args->b_array) /* addresses to which nothing can be added */
                return 0;
            count = most_that_fit(args, products, 1, (args->k - 1) / BLOCK, room, plan);
            if (count == 0)
                return 0;
            bytes = lay_out(args, NULL, products, 0,
                            tilemm__even_size(args->k, count * BLOCK, BLOCK), 1, plan);
        }
    }
    const int64_t side = tilemm__max(tilemm__round_up(tilemm__max(args->m, args->n), ALIGN_MN),
                                     tilemm__round_up(plan->k_part, ALIGN_K));
    while (plan->batch_group > 1 && (double)plan->batch_group * (double)side > (double)most)
        bytes = lay_out(args, NULL, products, 0, plan->k_part, plan->batch_group / 2, plan);
    return bytes;
}

/* ---- the tile -------------------------------------------------------------------------------- */

/* Bytes of what the pieces of shared tiles of clusters of `blocks` blocks are added up from, and of
 * their counters. */
static size_t partial_bytes_of(const tilemm__sgemm_row_t *row, int64_t shared, int blocks,
                               int sm_count)
{
    if (shared == 0)
        return 0;
    /* A last part with fewer steps may have more layers. */
    return (size_t)(shared * (sm_count / blocks / shared + TILEMM__SGEMM_STREAM_K_TAILS) * blocks *
                    row->m * row->n * (int64_t)sizeof(float));
}

static int64_t counter_bytes_of(int64_t shared, int blocks)
{
    return shared * blocks * TILEMM__SGEMM_STREAM_K_COUNTERS * (int64_t)sizeof(unsigned);
}

/* The best row of sm90 for a part of k, and which of its tiles share k out, for which there are
 * `room` bytes. The variant stays as it is if none is allowed. */
static void choose_sm90(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                        int products, size_t room, tilemm__sgemm_trial_t *trial)
{
    const int64_t clusters = limits->cuda->sm_count / PAIR;
    const int64_t steps = tilemm__div_up(trial->k_split, SM90_K);
    double best = 0;
    for (int v = SM90_FIRST; v < SM90_END; v++) {
        const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[v];
        const int64_t pairs = tilemm__sgemm_pairs(row, args->m, args->n, trial->batch_group);
        const int64_t rest = pairs % clusters;
        int64_t shared = 0;
        if (row->products != products || (row->n == 256 && trial->k_split > LONGEST_K_UNSUMMED) ||
            !tilemm__sgemm_is_allowed(limits, v))
            continue;
        double cycles = tilemm__sgemm_stream_k_estimate(v, pairs, clusters, steps, 0);
        if (rest > 0 && tilemm__sgemm_may_divide_k(limits) &&
            partial_bytes_of(row, rest, PAIR, limits->cuda->sm_count) +
                    (size_t)counter_bytes_of(rest, PAIR) + 1024 <=
                room) {
            const double with = tilemm__sgemm_stream_k_estimate(v, pairs, clusters, steps, rest);
            if (with * TILEMM__SGEMM_STREAM_K_WORTH <= cycles) {
                cycles = with;
                shared = rest;
            }
        }
        if (trial->variant < 0 || cycles < best) {
            best = cycles;
            trial->variant = v;
            trial->shared = shared;
        }
    }
}

static int64_t waves(const tilemm__sgemm_args_t *args, int64_t side, int sm_count)
{
    return tilemm__div_up(tilemm__div_up(args->m, side) * tilemm__div_up(args->n, side) *
                              args->batch_count,
                          sm_count);
}

/* The row of sm80 for a part; another that can do it if limits->variant forbids that. A tile of
 * 64 x 64 takes 0.3 of the time of 128 x 128. Deep stages need data-centre chips' shared memory. */
static int best_sm80(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits, int products)
{
    const int sms = limits->cuda->sm_count;
    const int deep =
        limits->cuda->shared_per_block >= tilemm__sgemm_planes_sm80_shared(3, 128, 128, 64, 3);
    const int small = waves(args, 64, sms) * 6 < waves(args, 128, sms) * 20;
    const int promoted = args->k > LONGEST_K_UNSUMMED_SM80;
    const int best = products == 4   ? TILEMM__sgemm_planes_sm80_64x64x32_p4
                     : products == 1 ? (promoted ? TILEMM__sgemm_planes_sm80_128x128x32_p1_promoted
                                                 : TILEMM__sgemm_planes_sm80_128x128x32_p1 + deep)
                     : small         ? TILEMM__sgemm_planes_sm80_64x64x32_p3 + deep
                                     : TILEMM__sgemm_planes_sm80_128x128x32_p3 + deep;
    if (tilemm__sgemm_is_allowed(limits, best))
        return best;
    for (int v = TILEMM__sgemm_planes_sm80_128x128x32_p1; v < SM90_FIRST; v++) {
        const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[v];
        if (row->products == products && (deep || row->k == 32) &&
            (products > 1 || !promoted || row->facet) && tilemm__sgemm_is_allowed(limits, v))
            return v;
    }
    return -1;
}

/* ---- hard tiles ------------------------------------------------------------------------------ */

/* Whether hard tiles may be computed as such, or their exact lines one by one: tiles that leave
 * most multiprocessors idle are no faster, unless they may share k out, for which they need memory,
 * as they have beside BF16 planes (`bf16`). */
static int may_be_hard(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits, int bf16)
{
    return (bf16 && tilemm__sgemm_may_divide_k(limits)) ||
           (double)tilemm__div_up(args->m, 128) * (double)tilemm__div_up(args->n, 64) *
                   (double)args->batch_count * 2 >=
               limits->cuda->sm_count;
}

/* How sm90 computes hard tiles if all of a product's are hard: the variant, its tiles, and how many
 * of the last ones share k out. */
typedef struct {
    int variant;
    int64_t rows, cols, shared;
} hard_choice_t;

static hard_choice_t choose_hard(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits)
{
    const int variant = TILEMM__sgemm_rest_sm90_128x128x32_nn + tilemm__sgemm_transposes(args);
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[variant];
    const int64_t blocks = limits->cuda->sm_count, steps = tilemm__div_up(args->k, row->k);
    hard_choice_t choice = {.variant = variant,
                            .rows = tilemm__div_up(args->m, row->m),
                            .cols = tilemm__div_up(args->n, row->n)};
    const int64_t tiles = choice.rows * choice.cols * args->batch_count, rest = tiles % blocks;
    if (rest > 0 && tilemm__sgemm_may_divide_k(limits) &&
        tilemm__sgemm_stream_k_estimate(variant, tiles, blocks, steps, rest) <
            tilemm__sgemm_stream_k_estimate(variant, tiles, blocks, steps, 0))
        choice.shared = rest;
    return choice;
}

/* Cycles of a part of a product of planes on sm90, and of the same if all of its tiles are hard. */
static void estimate_product(const tilemm__sgemm_args_t *part, const tilemm__limits_t *limits,
                             const tilemm__sgemm_trial_t *trial, double *planes, double *hard)
{
    const int64_t sms = limits->cuda->sm_count;
    const hard_choice_t choice = choose_hard(part, limits);
    *planes =
        tilemm__sgemm_stream_k_estimate(trial->variant,
                                        tilemm__sgemm_pairs(&tilemm__sgemm_rows[trial->variant],
                                                            part->m, part->n, part->batch_count),
                                        sms / PAIR, tilemm__div_up(part->k, SM90_K), trial->shared);
    *hard = tilemm__sgemm_stream_k_estimate(
        choice.variant, choice.rows * choice.cols * part->batch_count, sms,
        tilemm__div_up(part->k, TILEMM__SGEMM_HARD_K), choice.shared);
}

/* Whether hard tiles would make a product of planes slower than multiply-adds, which take `plain`
 * cycles. */
static int may_be_slow(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                       const tilemm__sgemm_trial_t *trial, double plain)
{
    const double FIRST_PLANES = 17500; /* cycles until tiles have planes, unless k is long */
    const double parts = (double)tilemm__div_up(args->k, trial->k_split) *
                         (double)tilemm__div_up(args->batch_count, trial->batch_group);
    const double cycles = tilemm__sgemm_cuda_estimate(trial, args, limits->cuda);
    tilemm__sgemm_args_t part = *args;
    double planes, hard;
    part.k = tilemm__min(args->k, trial->k_split);
    part.batch_count = trial->batch_group;
    estimate_product(&part, limits, trial, &planes, &hard);
    return may_be_hard(&part, limits, 1) && cycles + (hard - planes + FIRST_PLANES) * parts > plain;
}

void tilemm__sgemm_try_planes(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                              double plain, tilemm__sgemm_trial_t *best)
{
    const int products = limits->math == TILEMM_MATH_TF32 ? 1
                         : args->k <= LONGEST_K_OF_FOUR   ? 4
                                                          : 3;
    /* A call never takes more than an eighth of the device's memory, or 64 MiB. */
    const size_t most_bytes =
        (size_t)tilemm__max((int64_t)(limits->cuda->memory_bytes / 8), 64 << 20);
    const size_t room = limits->workspace < most_bytes ? limits->workspace : most_bytes;
    tilemm__sgemm_planes_cuda_plan_t plan;
    if (limits->math == TILEMM_MATH_FP32_STRICT || limits->cuda->cc < 80 ||
        args->k < (products == 1 ? LEAST_K_OF_ONE : LEAST_K) || args->k > most || args->m > most ||
        args->n > most || tilemm__sgemm_elements_of_c(args) > 1e15)
        return;
    const size_t bytes = fit(args, limits->kept, products, room, &plan);
    if (bytes == 0)
        return;
    tilemm__sgemm_trial_t now = {
        .variant = -1, .splits = 1, .k_split = plan.k_part, .batch_group = plan.batch_group};
    if (limits->cuda->cc == 90) {
        choose_sm90(args, limits, products, room - bytes, &now);
    } else {
        tilemm__sgemm_args_t first = *args;
        first.k = plan.k_part;
        first.batch_count = plan.batch_group;
        now.variant = best_sm80(&first, limits, products);
    }
    if (now.variant < 0)
        return;
    /* Kernels that are faster than multiply-adds whatever the data are taken instead. */
    if (now.variant >= SM90_FIRST && products > 1 && best->variant >= 0 && best->cycles < plain &&
        may_be_slow(args, limits, &now, plain))
        return;
    tilemm__sgemm_keep_better(args, limits, now, best);
}

/* ---- the kernels of a part ------------------------------------------------------------------- */

static tilemm__sgemm_make_operand_t make_operand(const float *from, const float *const *array,
                                                 int64_t mn, int64_t k, int64_t ld, int k_major,
                                                 int64_t stride, int64_t batch)
{
    return (tilemm__sgemm_make_operand_t){
        .from = from,
        .array = array,
        .mn = mn,
        .k = k,
        .ld = ld,
        .stride = batch > 1 ? stride : 0,
        .mn_planes = tilemm__round_up(mn, ALIGN_MN),
        .k_planes = tilemm__round_up(k, ALIGN_K),
        .k_major = k_major,
        .to = {.mn = mn,
               .pitch = tilemm__round_up(k, ALIGN_K),
               .notes_pitch = tilemm__round_up(mn, ALIGN_MN)},
    };
}

static tilemm__sgemm_exact_operand_t exact_operand(const tilemm__sgemm_make_operand_t *of,
                                                   int64_t stride, int stays)
{
    return (tilemm__sgemm_exact_operand_t){
        .stride = stride,
        .count = of->mn,
        .line_step = of->k_major ? of->ld : 1,
        .k_step = of->k_major ? 1 : of->ld,
        .exact_stride = of->mn_planes,
        .groups_stride = groups_of(of->mn),
        .compact_pitch = stays ? 0 : of->k_planes,
    };
}

/* The fewest large products whose sum planes carry as well as the FP32 sum of a library that
 * divides k: measured beside cuBLAS. */
static unsigned few_of(const tilemm__sgemm_args_t *args, int sm_count)
{
    enum { FEW_OF_CHAIN = 64, MOST_CHAINS = 8, PART_OF_K = 4 };
    const double tiles = tilemm__sgemm_library_tiles(args);
    const int64_t chains = tiles < sm_count ? tilemm__div_up(sm_count, (int64_t)tiles) : 1;
    return (unsigned)tilemm__min(FEW_OF_CHAIN * tilemm__min(chains, MOST_CHAINS),
                                 args->k / PART_OF_K);
}

static void count_make(int64_t batch_count, tilemm__sgemm_make_planes_t *make)
{
    const int64_t blocks = tilemm__div_up(make->a.k, BLOCK) * batch_count;
    make->blocks_a = (unsigned)(blocks * (make->a.mn_planes / TILEMM__SGEMM_PLANES_LINES));
    make->blocks =
        make->blocks_a + (unsigned)(blocks * (make->b.mn_planes / TILEMM__SGEMM_PLANES_LINES));
}

static void fill_make(const tilemm__sgemm_args_t *args, const tilemm__sgemm_args_t *whole,
                      tilemm__sgemm_make_planes_t *make)
{
    make->a = make_operand(args->a, args->a_array, args->m, args->k, args->lda, !args->trans_a,
                           args->stride_a, args->batch_count);
    make->b = make_operand(args->b, args->b_array, args->n, args->k, args->ldb, args->trans_b,
                           args->stride_b, args->batch_count);
    make->a.wide = tilemm__sgemm_is_aligned_a(whole);
    make->b.wide = tilemm__sgemm_is_aligned_b(whole);
    count_make(args->batch_count, make);
    make->variant = TILEMM__sgemm_make_planes_sm80;
}

/* Of an operand whose planes stay, `all` of the product: make them unless they are there. */
static void keep_planes(const tilemm__sgemm_kept_t *kept, tilemm__sgemm_make_operand_t *make,
                        tilemm__sgemm_planes_operand_t *all)
{
    if (kept->room == 0)
        return;
    if (kept->is_there)
        make->mn = make->mn_planes = 0;
    all->notes_pitch = kept->room;
}

/* Exact lines make a group hard if they are more than one line in so many; 0: never. At 4096^3 one
 * in 24 take as long by themselves as all of the product from BF16 planes. With a short k that many
 * take longer: a tile of exact lines takes as long as if k were longer by START. */
static unsigned exact_one_in(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                             int bf16)
{
    enum { ONE_IN = 24, START = 272 };
    if (!may_be_hard(args, limits, bf16))
        return 0;
    return (unsigned)(ONE_IN + (bf16 ? ONE_IN * START / args->k : 0));
}

static void fill_judge(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits, int bf16,
                       tilemm__sgemm_judge_lines_t *judge)
{
    enum { THREADS = 256, BLOCKS_OF_THREAD = 4, MOST_SLICES = 8 };
    const int64_t blocks = tilemm__div_up(args->k, BLOCK);
    unsigned slices = 1;
    while (slices < MOST_SLICES && (int64_t)slices * BLOCKS_OF_THREAD < blocks)
        slices *= 2;
    judge->a.tiles = (unsigned)tilemm__div_up(args->m, THREADS / slices);
    judge->b.tiles = (unsigned)tilemm__div_up(args->n, THREADS / slices);
    judge->a.k = judge->b.k = args->k;
    judge->few = few_of(args, limits->cuda->sm_count);
    judge->one_in = exact_one_in(args, limits, bf16);
    judge->slices = slices;
    judge->blocks_a = judge->a.tiles * (unsigned)args->batch_count;
    judge->blocks = judge->blocks_a + judge->b.tiles * (unsigned)args->batch_count;
    judge->variant = TILEMM__sgemm_judge_lines_sm80;
    judge->concurrent = limits->cuda->cc >= 90;
}

static void fill_exact(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                       const tilemm__sgemm_make_planes_t *make, tilemm__sgemm_exact_lines_t *exact)
{
    const tilemm__cuda_traits_t *const traits = limits->cuda;
    const int stay = limits->kept != NULL; /* the planes */
    const tilemm__sgemm_exact_operand_t a = exact_operand(&make->a, args->stride_a, stay);
    const tilemm__sgemm_exact_operand_t b = exact_operand(&make->b, args->stride_b, stay);
    *exact = (tilemm__sgemm_exact_lines_t){
        .blocks = (unsigned)(traits->sm_count * TILEMM__SGEMM_EXACT_BLOCKS),
        .variant = TILEMM__sgemm_exact_lines_sm80,
        .concurrent = traits->cc >= 90,
    };
    for (int columns = 0; columns < 2; columns++)
        exact->pass[columns] = (tilemm__sgemm_exact_pass_t){
            .lines = columns ? b : a,
            .others = columns ? a : b,
            .k = args->k,
            .batch_count = args->batch_count,
            .skip_others = columns,
            .teams = (int)tilemm__min(
                tilemm__div_up(columns ? args->n : args->m, TILEMM__SGEMM_EXACT_GROUP) *
                    args->batch_count,
                exact->blocks),
            .alpha = args->alpha,
            .stride_c = args->stride_c,
            .line_step_c = columns ? 1 : args->ldc,
            .other_step_c = columns ? args->ldc : 1,
        };
}

/* The walk of so many clusters over `rows` x `cols` of their tiles in each matrix, of which the
 * last `shared` are shared out if that can be. Returns how many clusters it takes. */
static int64_t fill_walk(int64_t rows, int64_t cols, int64_t batch_count, int64_t steps,
                         int64_t shared, int64_t clusters, tilemm__sgemm_stream_k_t *walk)
{
    const int64_t count = rows * cols * batch_count;
    int64_t layers = 0, layer = 0, tail = 0, used = clusters;
    if (shared >= clusters || shared > count || count * steps > INT32_MAX)
        shared = 0;
    if (shared > 0) {
        tilemm__sgemm_stream_k(shared, clusters, steps, &layers, &layer);
        tail = tilemm__max(0, steps - layers * layer);
    }
    if (count == shared && tail == 0)
        used = layers * shared;
    if (shared == 0)
        used = tilemm__min(clusters, count);
    *walk = (tilemm__sgemm_stream_k_t){
        .per_matrix = (unsigned)(rows * cols),
        .rows = (unsigned)rows,
        .cols = (unsigned)cols,
        .steps = (unsigned)steps,
        .whole = (unsigned)(count - shared),
        .shared = (unsigned)shared,
        .layers = (unsigned)layers,
        .layer = (unsigned)layer,
        .tail = (unsigned)tail,
        .tail_clusters =
            (unsigned)(tail > 0 ? tilemm__min(used - layers * shared, shared * tail) : 0),
    };
    return used;
}

/* While the first tiles are multiplied some warps make planes: in the time of 64 k a chunk for each
 * multiprocessor. Where all tiles share k out, all parts of k are needed at once. */
static tilemm__sgemm_hard_t hard_of(const tilemm__sgemm_args_t *args, const hard_choice_t *choice,
                                    int sm_count, const tilemm__sgemm_make_planes_t *make)
{
    enum { K_OF_CHUNK = 64 };
    tilemm__sgemm_hard_t hard = {
        .a.of = make->a, .b.of = make->b, .batch_count = args->batch_count};
    const int64_t of_part = (make->a.mn_planes + make->b.mn_planes) / TILEMM__SGEMM_HARD_LINES;
    const int64_t all =
        of_part * tilemm__div_up(args->k, TILEMM__SGEMM_HARD_CHUNK) * args->batch_count;
    fill_walk(choice->rows, choice->cols, args->batch_count,
              tilemm__div_up(args->k, TILEMM__SGEMM_HARD_K), choice->shared, sm_count, &hard.walk);
    const int64_t later = hard.walk.whole > 0 ? args->k / K_OF_CHUNK * sm_count : 0;
    hard.first = (unsigned)tilemm__max(of_part, all - later);
    return hard;
}

/* What planes leave over: sm90 has one kernel for all of it. `bf16`: BF16 planes have room. */
static void fill_rest(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits, int sm90,
                      int bf16, tilemm__sgemm_planes_part_t *part)
{
    const tilemm__sgemm_trial_t trial = {.variant = TILEMM__sgemm_ffma_sm80_128x128x16_nn +
                                                    tilemm__sgemm_transposes(args),
                                         .splits = 1,
                                         .k_split = args->k};
    const tilemm__sgemm_routes_t routes = {.rows = (unsigned)groups_of(args->m),
                                           .cols = (unsigned)groups_of(args->n),
                                           .no_bf16 = !bf16};
    tilemm__sgemm_rest_t *const rest = &part->rest;
    rest->blocks = 0;
    if (sm90) {
        hard_choice_t choice = choose_hard(args, limits);
        if (!bf16) /* there is no memory for pieces either */
            choice.shared = 0;
        rest->variant = choice.variant;
        rest->bf16 = hard_of(args, &choice, limits->cuda->sm_count, &part->make);
        rest->blocks = (unsigned)limits->cuda->sm_count;
    }
    rest->fp32 = tilemm__sgemm_ffma_of(args, limits, &trial);
    rest->bf16.routes = rest->fp32.routes = routes;
    fill_exact(args, limits, &part->make, &rest->exact);
}

/* args are those of the part; where it begins is known only when it runs. */
static void fill_part(const tilemm__sgemm_args_t *args, const tilemm__sgemm_args_t *whole,
                      const tilemm__limits_t *limits, const tilemm__sgemm_trial_t *trial, int bf16,
                      tilemm__sgemm_planes_part_t *part)
{
    tilemm__sgemm_planes_product_t *const product = &part->product;
    const tilemm__sgemm_kept_t *const kept = limits->kept;
    const int products = tilemm__sgemm_rows[trial->variant].products;
    fill_make(args, whole, &part->make);
    fill_judge(args, limits, bf16, &part->judge);
    fill_rest(args, limits, trial->variant >= SM90_FIRST, bf16, part);
    part->judge.a.of = part->make.a.to;
    part->judge.b.of = part->make.b.to;
    if (kept) {
        keep_planes(&kept[0], &part->make.a, &part->judge.a.of);
        keep_planes(&kept[1], &part->make.b, &part->judge.b.of);
        count_make(args->batch_count, &part->make);
    }
    *product = (tilemm__sgemm_planes_product_t){
        .m = args->m,
        .n = args->n,
        .k = args->k,
        .batch_count = args->batch_count,
        .products = products,
        .routes = part->rest.fp32.routes,
        .alpha = args->alpha,
        .beta = args->beta,
        .c = args->c,
        .c_array = args->c_array,
        .ldc = args->ldc,
        .stride_c = args->stride_c,
    };
    if (trial->variant >= SM90_FIRST) {
        product->variant = trial->variant;
        const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
        product->blocks =
            PAIR * (uint64_t)fill_walk(tilemm__div_up(args->m, row->m),
                                       tilemm__div_up(args->n, (int64_t)row->n * PAIR),
                                       args->batch_count, tilemm__div_up(args->k, SM90_K),
                                       trial->shared, limits->cuda->sm_count / PAIR,
                                       &product->walk.stream_k);
        product->shared = product->walk.stream_k.shared;
    } else {
        const int best = best_sm80(args, limits, products);
        product->variant = best < 0 ? trial->variant : best;
        const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[product->variant];
        const uint64_t tiles_m = (uint64_t)tilemm__div_up(args->m, row->m);
        const uint64_t tiles_n = (uint64_t)tilemm__div_up(args->n, row->n);
        product->walk.tiles = (tilemm__sgemm_planes_tiles_t){0, tiles_m, tiles_n};
        product->blocks = tiles_m * tiles_n * (uint64_t)args->batch_count;
    }
}

/* The arguments of part [i][j] of a plan; a batch or a k of 0 if there is none. */
static tilemm__sgemm_args_t part_of(const tilemm__sgemm_args_t *args,
                                    const tilemm__sgemm_trial_t *trial, int i, int j)
{
    tilemm__sgemm_args_t part = *args;
    part.batch_count = i ? args->batch_count % trial->batch_group : trial->batch_group;
    part.k = j ? args->k % trial->k_split : trial->k_split;
    return part;
}

/* All of the workspace. Returns its bytes. `bf16`: with room for hard tiles from BF16 planes;
 * `pieces`: for exact lines whose tiles are divided along k. */
static size_t lay_out_all(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                          const tilemm__sgemm_trial_t *trial, int bf16, int pieces,
                          tilemm__sgemm_planes_cuda_plan_t *planes)
{
    const tilemm__sgemm_row_t *row = &tilemm__sgemm_rows[trial->variant];
    const int sm_count = limits->cuda->sm_count;
    const int64_t exact_pieces =
        pieces ? (int64_t)sm_count * TILEMM__SGEMM_EXACT_BLOCKS * TILEMM__SGEMM_EXACT_PIECES * 2
               : 0; /* of two passes */
    size_t bytes = lay_out(args, limits->kept, row->products, bf16, trial->k_split,
                           trial->batch_group, planes);
    size_t partial = partial_bytes_of(row, trial->shared, PAIR, sm_count);
    int64_t shared = 0;
    for (int i = 0; i < 4 && bf16; i++) {
        const tilemm__sgemm_args_t part = part_of(args, trial, i / 2, i % 2);
        if (part.batch_count == 0 || part.k == 0)
            continue;
        const hard_choice_t hard = choose_hard(&part, limits);
        const size_t of_hard =
            partial_bytes_of(&tilemm__sgemm_rows[hard.variant], hard.shared, 1, sm_count);
        partial = of_hard > partial ? of_hard : partial;
        shared = tilemm__max(shared, hard.shared);
    }
    planes->counters = take(&bytes, counter_bytes_of(trial->shared, PAIR));
    planes->hard_counters = take(&bytes, counter_bytes_of(shared, 1));
    planes->exact_counters = take(&bytes, exact_pieces * (int64_t)sizeof(unsigned));
    planes->zero = tilemm__sgemm_zero_of(limits->kept ? bytes - planes->a.groups : 0);
    planes->zeros = limits->kept ? 0 : (unsigned)((bytes - planes->density) / sizeof(unsigned));
    planes->partial = take(&bytes, (int64_t)partial);
    planes->exact_partial =
        pieces ? take(&bytes, exact_pieces * TILEMM__SGEMM_EXACT_TILE * (int64_t)sizeof(float)) : 0;
    return bytes;
}

void tilemm__sgemm_fill_planes(const tilemm__sgemm_args_t *args, const tilemm__limits_t *limits,
                               const tilemm__sgemm_trial_t *trial, tilemm__sgemm_cuda_plan_t *plan)
{
    tilemm__sgemm_planes_cuda_plan_t *const planes = &plan->as.planes;
    const tilemm__sgemm_args_t largest = part_of(args, trial, 0, 0);
    int bf16 = trial->variant >= SM90_FIRST && may_be_hard(&largest, limits, 1);
    int pieces = tilemm__sgemm_may_divide_k(limits);
    size_t bytes = lay_out_all(args, limits, trial, bf16, pieces, planes);
    /* Neither is worth dividing k, or a batch, to make room for it. */
    while (bytes > limits->workspace && (bf16 || pieces)) {
        if (pieces)
            pieces = 0;
        else
            bf16 = 0;
        bytes = lay_out_all(args, limits, trial, bf16, pieces, planes);
    }
    plan->method = TILEMM__SGEMM_PLANES;
    plan->keeps = limits->kept != NULL;
    plan->workspace = bytes;
    for (int i = 0; i < 4; i++) {
        const tilemm__sgemm_args_t part = part_of(args, trial, i / 2, i % 2);
        if (part.batch_count > 0 && part.k > 0)
            fill_part(&part, args, limits, trial, bf16, &planes->part[i / 2][i % 2]);
    }
}
