/* cost_table_cuda.c - see cost_table_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "cost_table_cuda.h"

#include "rows_cuda.h"

/* What `tilemm bench --calibrate` measures on an H200; those of ffma, fused, unaligned, tf32 and of
 * planes of 128 x 64 are fitted to products instead (cost_cuda.c). */
/* clang-format off */
static const tilemm__tile_cost_t tile_costs[] = {
    {"ffma_sm75_128x128x16",           2,    0,  3000, 3437.714,  4000, 6097.455},
    {"ffma_sm75_64x64x16",             4,    0,  2000, 1248.492,  3000, 3611.569},
    {"ffma_sm75_128x32x16",            4,    0,  2158,     1263,  2832,     3630},
    {"ffma_sm75_32x128x16",            4,    0,  1525,     1250,  2316,     3487},
    {"ffma_sm75_32x32x32",             8,    0,  1000, 1887.256,  3000, 5459.349},
    {"ffma_sm80_128x128x16",           2,    0,  4042,     2478,  7287,     4740},
    {"ffma_sm80_128x64x16",            4,    0,  3998,     1427,  5467,     4716},
    {"ffma_sm80_64x64x16",             8,    0,  3408,     1520,  5227,     5090},
    {"ffma_sm80_64x64x32",             4,    0,  6109,     1305,  7480,     4782},
    {"ffma_sm80_128x32x16",            4,    0,  1935,      772,  3823,     2708},
    {"ffma_sm80_32x128x16",            4,    0,  1823,      759,  3437,     2685},
    {"ffma_sm80_32x64x16",             9,    0,  1573,      849,  3445,     3114},
    {"ffma_sm80_32x32x16",            10,    0,   796,      506,  2665,     2009},
    {"ffma_sm80_32x32x32",             5,    0,  1298,      496,  3436,     2003},
    {"fitted_sm80_4x4",                1,    0,   300,      7.5,   300,      7.5},
    {"fitted_sm80_8x8",                1,    0,   300,       22,   300,       22},
    {"short_sm80_128x128",             2,    0,  1878,     3686,  4410,     6040},
    {"short_sm80_64x128",              3,    0,   692,     2230,  2991,     4725},
    {"short_sm80_128x64",              3,    0,   747,     2287,  3382,     4840},
    {"short_sm80_128x32",              4,    0,   504,     1841,  2539,     4698},
    {"short_sm80_32x64",               7,    0,   239,     1302,  2481,     3265},
    {"short_sm80_16x256",              4,    0,   401,     2003,  2866,     4983},
    {"short_sm80_4x256",               8,    0,     0,     1222,  4344,     3076},
    {"short_sm80_32x32",              10,    0,    87,     1085,  2695,     3121},
    {"short_sm80_16x64",              10,    0,     0,     1167,  2707,     3151},
    {"short_sm80_4x64",               16,    0,     0,      955,  2333,     1643},
    {"short_tf32_sm80_128x128",        2,    0,  3211,     1451,  5859,     2046},
    {"short_tf32_sm80_64x64",          6,    0,  1661,     1125,  4533,     1913},
    {"short_tf32_sm80_32x128",         5,    0,  1562,     1023,  3912,     1731},
    {"fused_sm90_128x128x32",          1, 2272,  2447,     2569,  5463,     2250},
    {"fused_sm90_128x128x32_bulk",     1, 2982,  2155,     2190,  2426,     2240},
    {"fused_sm90_128x64x32",           1, 2252,   456,     1735,  1940,     1736},
    {"fused_sm90_64x64x32",            2,  913,  1266,     1228,  2251,     1944},
    {"fused_sm90_256x32x32",           1, 3014,   449,     1990,  1847,     2063},
    {"fused_sm90_192x64x32",           1, 2252,   685,     2274,  2900,     2200},
    {"fused_sm90_64x192x32",           1, 2069,   625,     2274,  3000,     2250},
    {"fused_sm90_32x256x32",           1, 2197,   475,     2022,  1754,     1870},
    {"fused_sm90_64x128x32",           1, 2069,   507,     1722,  2701,     1699},
    {"tf32_sm90_128x256x32",           1,    0,  4945,     1200,  4638,     1192},
    {"tf32_sm90_128x192x32",           1,    0,  4042,      941,  3733,      914},
    {"tf32_sm90_128x128x32",           1,    0,  3091,      666,  2722,      639},
    {"tf32_sm90_128x64x32",            1,    0,   581,      450,  1460,      420},
    {"tf32_sm90_128x64x32_pair",       1,    0,  6000,      490,  2191,      399},
    {"tf32_sm90_128x32x32",            1,    0,   147,      362,  1222,      313},
    {"tf32_sm90_64x64x32",             2,    0,   474,      270,  1340,      417},
    {"tf32_sm90_128x256x32_tn",        1,    0,  5680,     1834,  5278,     1859},
    {"tf32_sm90_128x192x32_tn",        1,    0,  4083,     1442,  3971,     1405},
    {"tf32_sm90_128x128x32_tn",        1,    0,  2420,     1004,  2840,      922},
    {"tf32_sm90_128x64x32_tn",         1,    0,   748,      647,  1750,      590},
    {"tf32_sm90_128x64x32_pair_tn",    1,    0,  3600,     1068,  3600,     1091},
    {"tf32_sm90_128x32x32_tn",         1,    0,    92,      522,  1153,      473},
    {"tf32_sm90_64x64x32_tn",          2,    0,   164,      604,  1560,      712},
    {"rest_sm90_128x128x32",           1,    0,  7000,     2020,  7000,     2020},
    {"unaligned_sm90_128x128x32",      1, 3136,  5281,     2867,  4600,     2640},
    {"unaligned_sm90_128x64x32",       1, 1901,  3973,     1877,  3162,     1811},
    {"unaligned_sm90_64x64x32",        2,  868,  1815,     1646,  4700,     2019},
    {"tf32_unaligned_sm90_128x128x32", 1,    0,  5263,     2008,  2500,     2003},
    {"tf32_unaligned_sm90_128x64x32",  1,    0,  2628,     1262,  1522,     1439},
    {"tf32_unaligned_sm90_32x128x32",  1,    0,   120,     1250,   900,     1310},
    {"half_sm90_128x128x32",           1, 2300,  7000,     1727, 13000,     1727},
    {"half_sm90_128x64x32",            1, 2250,  5500,     1290,  5500,     1320},
    {"half_sm90_64x64x32",             2,  500,  2300,     1050,  5000,     1520},
    {"half_sm90_256x32x32",            1, 3000,  6000,     1600,  6000,     1450},
    {"half_sm90_32x256x32",            1, 2200,  7000,     1550,  7000,     1500},
    {"planes_sm80_p1",                 1,    0,  5000,   1365.3,  5000,   1365.3},
    {"planes_sm80_p3",                 1,    0,  5000,     4096,  5000,     4096},
    {"planes_sm80_p4",                 1,    0,  5000,   5461.3,  5000,   5461.3},
    {"planes_sm90_128x128x64_p3_1x2",  1,    0,  5000,     2048,  5000,     2048},
    {"planes_sm90_128x64x64_p3_1x2",   1,    0,  3000,     1110,  3000,     1110},
    {"planes_sm90_128x128x64_p4_1x2",  1,    0,  5000,   2730.7,  5000,   2730.7},
    {"planes_sm90_128x256x64_p1_1x2",  1,    0, 19200,     1331, 19200,     1331},
    {"planes_sm90_128x128x64_p1_1x2",  1,    0, 10430,      727, 10430,      727},
    {"half_planes_sm90_128x128x64",    1,    0,  7000,     2150,  7000,     2150},
    {"half_planes_sm90_128x64x64",     1,    0,  5500,     1220,  5500,     1220},
};
const tilemm__family_cost_t tilemm__sgemm_family_costs[TILEMM__FAMILIES] = {
    [TILEMM__OF_FFMA_SM75] = { 2600, 3366, 2054, 50, 17.5},
    [TILEMM__OF_FFMA] = { 3130, 4090, 1870, 20.6, 18.9},
    [TILEMM__OF_SKINNY] = { 5500,    0,    0,    0, 18.5},
    [TILEMM__OF_VECTOR_K] = { 1658,  0,    0,    0, 21.5},
    [TILEMM__OF_VECTOR_M] = { 2446,  0,    0,    0, 17.4},
    [TILEMM__OF_SLICEK] = { 1735,    0,    0,    0, 12},
    [TILEMM__OF_FITTED] = { 4000,    0,    0,    0, 16},
    [TILEMM__OF_SHORT] = { 2210,    0,    0,    0, 12.5},
    [TILEMM__OF_FUSED] = { 4000, 4000, 2740, 18,   16},
    [TILEMM__OF_PLANES] = {17000,    0,    0,    0, 16},
    [TILEMM__OF_HALF_PLANES] = {14000, 0,  0,    0, 14},
};
/* clang-format on */

enum {
    FFMA_FIRST = TILEMM__sgemm_ffma_sm75_128x128x16_nn,
    SKINNY_FIRST = TILEMM__sgemm_skinny_sm75_128x2_k,
    FITTED_FIRST = TILEMM__sgemm_fitted_sm80_4x4_nn,
    SM80_FIRST = TILEMM__sgemm_planes_sm80_128x128x32_p1,
    SM90_FIRST = TILEMM__sgemm_planes_sm90_128x128x64_p3_1x2,
    TF32_FIRST = TILEMM__sgemm_tf32_sm90_256x128x32_nn,
    REST_FIRST = TILEMM__sgemm_rest_sm90_128x128x32_nn,
    INVARIANT_FIRST = TILEMM__sgemm_invariant_sm90_128x128x32_nn,
    HALF_FIRST = TILEMM__sgemm_half_sm90_128x128x32_nn,
    INVARIANT_UNALIGNED_FIRST = TILEMM__sgemm_invariant_unaligned_sm90_128x128x32_nn,
    INVARIANT_END = TILEMM__sgemm_warp_sm90_32x16_nn,
    INVARIANT_TRANSPOSED = TILEMM__sgemm_invariant_sm90_32x256x32_nn,
    AS_INVARIANT_FIRST = TILEMM__sgemm_fused_sm90_128x128x32_nn_bulk,
    AS_INVARIANT_TRANSPOSED = TILEMM__sgemm_fused_sm90_32x256x32_nn,
    UNALIGNED_FIRST = TILEMM__sgemm_unaligned_sm90_128x128x32_nn,
    ROWS_OF_TILE = 4, /* by transposes */
    FFMA_TILES = (SKINNY_FIRST - FFMA_FIRST) / ROWS_OF_TILE,
    FITTED_AND_FUSED_TILES = (INVARIANT_FIRST - FITTED_FIRST) / ROWS_OF_TILE,
    HALF_TILES = (INVARIANT_UNALIGNED_FIRST - HALF_FIRST) / ROWS_OF_TILE,
    TF32_TILES = (REST_FIRST - TF32_FIRST) / ROWS_OF_TILE, /* each has two costs */
    SM80_TILES = 3                                         /* by products: 1, 3, 4 */
};

const tilemm__tile_cost_t *tilemm__sgemm_tile_cost(int variant)
{
    const int products = tilemm__sgemm_rows[variant].products;
    const tilemm__tile_cost_t *const fitted = tile_costs + FFMA_TILES;
    const tilemm__tile_cost_t *const planes =
        fitted + FITTED_AND_FUSED_TILES + HALF_TILES + TF32_TILES;
    if (tilemm__sgemm_is_half(variant))
        variant += INVARIANT_FIRST - HALF_FIRST;
    else if (variant >= INVARIANT_FIRST && variant < INVARIANT_END) /* in the order of the others */
        variant += variant >= HALF_FIRST ? UNALIGNED_FIRST - INVARIANT_UNALIGNED_FIRST
                   : variant >= INVARIANT_TRANSPOSED
                       ? AS_INVARIANT_TRANSPOSED - INVARIANT_TRANSPOSED
                       : AS_INVARIANT_FIRST - INVARIANT_FIRST;
    if (variant >= SM90_FIRST)
        return planes + SM80_TILES + variant - SM90_FIRST;
    if (variant >= SM80_FIRST)
        return planes + (products > 1 ? products - 2 : 0);
    if (variant >= FITTED_FIRST)
        return fitted + (variant - FITTED_FIRST) / ROWS_OF_TILE +
               (variant >= REST_FIRST || tilemm__sgemm_tf32_converts(variant) ? TF32_TILES : 0);
    return &tile_costs[(variant - FFMA_FIRST) / ROWS_OF_TILE];
}
