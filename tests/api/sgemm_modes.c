/* sgemm_modes.c - every math mode on the GPU at sizes where tensor cores are chosen: all layouts,
 * ragged sizes and strides; gaps between the lines of C stay as they are.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "guarded_gemm.h"

int main(void)
{
    static const int64_t sizes[][3] = {
        {512, 512, 512},    {1000, 999, 1001}, {260, 384, 420},   {1024, 768, 640},
        {513, 1300, 700},   {2049, 511, 1025}, {128, 4096, 2048}, {4000, 130, 3000},
        {1500, 1500, 40},   {300, 300, 9000},  {2500, 1900, 44},  {129, 65, 3000},
        {1920, 1300, 2000}, {72, 2000, 500},   {200, 136, 20000}, {516, 132, 8000},
        {3000, 16, 4000},   {12, 3300, 4100},  {5000, 29, 1000},  {32, 2100, 8000}};
    const int count = test_quick() ? 3 : (int)(sizeof(sizes) / sizeof(*sizes));
    rng_t rng = {20261121};
    tilemm_t ctx = NULL;
    test_begin(TILEMM_BACKEND_CUDA);
    while ((ctx = next_arch(ctx, TILEMM_BACKEND_CUDA, 0)) != NULL) {
        for (int s = 0; s < count; s++)
            for (int variant = s < 10 ? 0 : 8; variant < 12; variant++) {
                /* From 8 on, rows are aligned if the sizes are. */
                int aligned = variant >= 8, pad = aligned || !(variant & 1) ? 4 : 3;
                const int bits = variant % 4 * TRANS_A + variant / 4 % 2 * COL_MAJOR;
                gemm_t g = gemm_by_bits(bits, sizes[s], variant == 3 ? -0.75f : 1.0f,
                                        variant % 3 == 0 ? 0.0f : 0.5f);
                gemm_set_ld(&g, pad, aligned ? 8 : pad + variant, pad + 1);
                prepare(&g, variant & 1 ? FAMILY_NORMAL : FAMILY_POSITIVE,
                        variant == 5 || variant == 6 ? variant - 4 : 0, &rng);
                send(&g);
                for (int m = 0; m < MODES; m++) {
                    run_mode(ctx, &g, m, "");
                    check_sample(&g, gemm_tolerance(modes[m], g.k), &rng);
                }
            }
    }
    free_operands();
    return check_exit();
}
