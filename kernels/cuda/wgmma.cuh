/* wgmma.cuh - products of warpgroups on the tensor cores (PTX wgmma), and how warpgroups share
 * out registers. Compute capability 9.0, compiled for sm_90a.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_WGMMA_CUH
#define TILEMM_KERNELS_CUDA_WGMMA_CUH

#include <stdint.h>

#include "shared.cuh"

/* Accesses to registers before this come before products after it. */
static __device__ __forceinline__ void wgmma_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void wgmma_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Wait until at most PENDING groups of products are unfinished. */
template <int PENDING>
static __device__ __forceinline__ void wgmma_wait(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(PENDING) : "memory");
}

/* Keep the compiler from moving accesses to an accumulator across this point. */
template <int COUNT>
static __device__ __forceinline__ void wgmma_pin(float (&d)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        asm volatile("" : "+f"(d[i])::"memory");
}

/* The descriptor of an operand in shared memory whose lines run along k, in cores of 8 lines by 16
 * bytes, line after line. `along_k` is the distance in bytes to the next core along k, `across`
 * that to the core of the next 8 lines. */
static __device__ __forceinline__ uint64_t wgmma_operand_cores(const void *shared, unsigned along_k,
                                                               unsigned across)
{
    const uint64_t address = shared_address(shared);
    return (address & 0x3ffff) >> 4 | (uint64_t)(along_k >> 4) << 16 |
           (uint64_t)(across >> 4) << 32;
}

/* The same with the 128-byte swizzle and whole lines, in groups of 8 lines 1024 bytes apart. */
static __device__ __forceinline__ uint64_t wgmma_operand(const void *shared)
{
    return wgmma_operand_cores(shared, 8192, 1024) | (uint64_t)1 << 62;
}

/* The descriptor of the operand that lies `bytes` further on. */
static __device__ __forceinline__ uint64_t wgmma_operand_at(uint64_t operand, unsigned bytes)
{
    return (operand & 0xffffffff00000000) | (unsigned)(operand + (bytes >> 4));
}

/* ---- products ---------------------------------------------------------------------------- */

/* Operands %0 to %(COUNT - 1) of an instruction are the accumulators d. */
#define WGMMA_LIST8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define WGMMA_LIST16                                                                               \
    WGMMA_LIST8                                                                                    \
    ", %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_LIST32                                                                               \
    WGMMA_LIST16                                                                                   \
    ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "                \
    "%31"
#define WGMMA_LIST64                                                                               \
    WGMMA_LIST32                                                                                   \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "                \
    "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "                  \
    "%62, %63"
#define WGMMA_LIST96                                                                               \
    WGMMA_LIST64                                                                                   \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, "                \
    "%79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, "                  \
    "%94, %95"
#define WGMMA_LIST128                                                                              \
    WGMMA_LIST96                                                                                   \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, "                 \
    "%109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, "               \
    "%122, %123, %124, %125, %126, %127"
#define WGMMA_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WGMMA_D8 WGMMA_D4(0), WGMMA_D4(4)
#define WGMMA_D16_FROM(i) WGMMA_D4(i), WGMMA_D4(i + 4), WGMMA_D4(i + 8), WGMMA_D4(i + 12)
#define WGMMA_D16 WGMMA_D16_FROM(0)
#define WGMMA_D32 WGMMA_D16, WGMMA_D16_FROM(16)
#define WGMMA_D64 WGMMA_D32, WGMMA_D16_FROM(32), WGMMA_D16_FROM(48)
#define WGMMA_D96 WGMMA_D64, WGMMA_D16_FROM(64), WGMMA_D16_FROM(80)
#define WGMMA_D128 WGMMA_D96, WGMMA_D16_FROM(96), WGMMA_D16_FROM(112)

/* d (64 x N) = a b, or d += a b if `add`, for 32 bytes of k: 16 numbers in FP16 or BF16, 8 in TF32.
 * Operands in shared memory, whose lines run along k. WGMMA_SHARED(name, the instruction's shape
 * and types, how operands may lie, accumulators of a thread, N, and the numbers of b and add). */
#define WGMMA_SHARED(NAME, TYPES, LAYOUT, COUNT, N, B, ADD)                                        \
    static __device__ __forceinline__ void NAME(float(&d)[COUNT], uint64_t a, uint64_t b, int add) \
    {                                                                                              \
        asm volatile("{\n"                                                                         \
                     ".reg .pred p;\n"                                                             \
                     "setp.ne.b32 p, %" #ADD ", 0;\n"                                              \
                     "wgmma.mma_async.sync.aligned.m64n" #N TYPES " {" WGMMA_LIST##COUNT           \
                     "}, %" #COUNT ", %" #B ", p, 1, 1" LAYOUT ";\n"                               \
                     "}"                                                                           \
                     : WGMMA_D##COUNT                                                              \
                     : "l"(a), "l"(b), "r"(add));                                                  \
    }
#define WGMMA_FP16(...) WGMMA_SHARED(wgmma, "k16.f32.f16.f16", ", 0, 0", __VA_ARGS__)
#define WGMMA_BF16_SHARED(...) WGMMA_SHARED(wgmma_bf16, "k16.f32.bf16.bf16", ", 0, 0", __VA_ARGS__)
#define WGMMA_TF32_SHARED(...) WGMMA_SHARED(wgmma_tf32, "k8.f32.tf32.tf32", "", __VA_ARGS__)
WGMMA_FP16(32, 64, 33, 34)
WGMMA_FP16(64, 128, 65, 66)
WGMMA_FP16(128, 256, 129, 130)
WGMMA_BF16_SHARED(64, 128, 65, 66)
WGMMA_TF32_SHARED(16, 32, 17, 18)
WGMMA_TF32_SHARED(32, 64, 33, 34)
WGMMA_TF32_SHARED(64, 128, 65, 66)
WGMMA_TF32_SHARED(96, 192, 97, 98)
WGMMA_TF32_SHARED(128, 256, 129, 130)

/* The same with a in four registers: 16 numbers in FP16 or BF16, 8 in TF32. WGMMA_REGISTERS(name,
 * the instruction's shape and types, how operands may lie, accumulators of a thread, N, and the
 * numbers of a[1] to a[3], b and add). */
#define WGMMA_REGISTERS(NAME, TYPES, LAYOUT, COUNT, N, A1, A2, A3, B, ADD)                         \
    static __device__ __forceinline__ void NAME(float(&d)[COUNT], const unsigned *a, uint64_t b,   \
                                                int add)                                           \
    {                                                                                              \
        asm volatile("{\n"                                                                         \
                     ".reg .pred p;\n"                                                             \
                     "setp.ne.b32 p, %" #ADD ", 0;\n"                                              \
                     "wgmma.mma_async.sync.aligned.m64n" #N TYPES " {" WGMMA_LIST##COUNT           \
                     "}, {%" #COUNT ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B ", p, 1, 1" LAYOUT     \
                     ";\n"                                                                         \
                     "}"                                                                           \
                     : WGMMA_D##COUNT                                                              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));              \
    }
#define WGMMA_FP16_REGISTERS(...) WGMMA_REGISTERS(wgmma, "k16.f32.f16.f16", ", 0", __VA_ARGS__)
#define WGMMA_BF16(...) WGMMA_REGISTERS(wgmma_bf16, "k16.f32.bf16.bf16", ", 0", __VA_ARGS__)
#define WGMMA_TF32(...) WGMMA_REGISTERS(wgmma_tf32, "k8.f32.tf32.tf32", "", __VA_ARGS__)
WGMMA_FP16_REGISTERS(8, 16, 9, 10, 11, 12, 13)
WGMMA_FP16_REGISTERS(16, 32, 17, 18, 19, 20, 21)
WGMMA_FP16_REGISTERS(32, 64, 33, 34, 35, 36, 37)
WGMMA_FP16_REGISTERS(64, 128, 65, 66, 67, 68, 69)
WGMMA_BF16(8, 16, 9, 10, 11, 12, 13)
WGMMA_BF16(16, 32, 17, 18, 19, 20, 21)
WGMMA_BF16(32, 64, 33, 34, 35, 36, 37)
WGMMA_BF16(64, 128, 65, 66, 67, 68, 69)
WGMMA_TF32(16, 32, 17, 18, 19, 20, 21)
WGMMA_TF32(32, 64, 33, 34, 35, 36, 37)
WGMMA_TF32(64, 128, 65, 66, 67, 68, 69)
WGMMA_TF32(96, 192, 97, 98, 99, 100, 101)
WGMMA_TF32(128, 256, 129, 130, 131, 132, 133)

/* ---- registers --------------------------------------------------------------------------- */

/* Set how many registers each thread of this warpgroup has. */
template <int REGISTERS>
static __device__ __forceinline__ void registers_grow(void)
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(REGISTERS));
}

template <int REGISTERS>
static __device__ __forceinline__ void registers_shrink(void)
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(REGISTERS));
}

#endif
