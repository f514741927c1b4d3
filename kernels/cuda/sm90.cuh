/* sm90.cuh - Hopper's instructions for asynchronous tiles: barriers in shared memory, the bulk
 * tensor copy engine, products of warpgroups, and register shares. By their PTX names.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CUDA_SM90_CUH
#define TILEMM_KERNELS_CUDA_SM90_CUH

#include <cuda.h> /* CUtensorMap */
#include <stdint.h>

static __device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* ---- barriers --------------------------------------------------------------------------- */

static __device__ __forceinline__ void mbarrier_init(uint64_t *barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(shared_address(barrier)), "r"(arrivals)
                 : "memory");
}

/* Make initialised barriers known to the copy engine and to the cluster. */
static __device__ __forceinline__ void mbarrier_fence_init(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Arrive, and expect that many bytes from the copy engine. */
static __device__ __forceinline__ void mbarrier_expect(uint64_t *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void mbarrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                 :
                 : "r"(shared_address(barrier))
                 : "memory");
}

/* Arrive at the barrier that lies at the same place in another block of the cluster. In the default
 * form: ".release.cluster" would wait for all of the thread's memory accesses, and there are none
 * to be ordered where the tensor cores alone have read. */
static __device__ __forceinline__ void mbarrier_arrive_cluster(uint64_t *barrier, unsigned block)
{
    asm volatile("{\n"
                 ".reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
                 "}"
                 :
                 : "r"(shared_address(barrier)), "r"(block)
                 : "memory");
}

/* Wait for the phase of that parity to be completed. */
static __device__ __forceinline__ void mbarrier_wait(uint64_t *barrier, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra finished;\n"
                 "bra again;\n"
                 "finished:\n"
                 "}"
                 :
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
}

static __device__ __forceinline__ unsigned cluster_rank(void)
{
    unsigned rank;

    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* What this thread has written to shared memory is for the tensor cores and the copy engine too. */
static __device__ __forceinline__ void fence_for_async(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* ---- the copy engine -------------------------------------------------------------------- */

static __device__ __forceinline__ void tensor_prefetch(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" : : "l"((uint64_t)map) : "memory");
}

/* Bring the box at (x, y) of a tensor to shared memory; its bytes are counted at the barrier. */
static __device__ __forceinline__ void tensor_load(void *to, const CUtensorMap *map, int x, int y,
                                                   uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :
                 : "r"(shared_address(to)), "l"((uint64_t)map), "r"(x), "r"(y),
                   "r"(shared_address(barrier))
                 : "memory");
}

static __device__ __forceinline__ void tensor_load(void *to, const CUtensorMap *map, int x, int y,
                                                   int z, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];"
                 :
                 : "r"(shared_address(to)), "l"((uint64_t)map), "r"(x), "r"(y), "r"(z),
                   "r"(shared_address(barrier))
                 : "memory");
}

/* The same to the same place in every block of the cluster that has a bit in `blocks`. */
static __device__ __forceinline__ void tensor_load_multicast(void *to, const CUtensorMap *map,
                                                             int x, int y, uint64_t *barrier,
                                                             unsigned short blocks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 :
                 : "r"(shared_address(to)), "l"((uint64_t)map), "r"(x), "r"(y),
                   "r"(shared_address(barrier)), "h"(blocks)
                 : "memory");
}

/* The other way: a box goes from shared memory to (x, y, z). What lies outside stays there. */
static __device__ __forceinline__ void tensor_store(const CUtensorMap *map, int x, int y, int z,
                                                    const void *from)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];"
                 :
                 : "l"((uint64_t)map), "r"(x), "r"(y), "r"(z), "r"(shared_address(from))
                 : "memory");
}

/* Wait until this thread's stores so far have read shared memory. */
static __device__ __forceinline__ void tensor_wait_read(void)
{
    asm volatile("cp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group.read 0;" ::
                     : "memory");
}

/* ---- products of warpgroups -------------------------------------------------------------- */

/* Ordinary register accesses before come before products after. */
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

/* The descriptor of a shared operand with the 128-byte swizzle, whose lines run along k: groups of
 * 8 lines are 1024 bytes apart. */
static __device__ __forceinline__ uint64_t wgmma_operand(const void *shared)
{
    const uint64_t address = shared_address(shared);

    return (address & 0x3ffff) >> 4 | (uint64_t)(8192 >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

#define WGMMA_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WGMMA_D16(i) WGMMA_D4(i), WGMMA_D4(i + 4), WGMMA_D4(i + 8), WGMMA_D4(i + 12)
#define WGMMA_D32(i) WGMMA_D16(i), WGMMA_D16(i + 16)

/* d (64 x N) = a b, or d += a b if `add`, for 16 of k, FP16 operands along k. */
static __device__ __forceinline__ void wgmma(float (&d)[32], uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
                 "%31}, %32, %33, p, 1, 1, 0, 0;\n"
                 "}"
                 : WGMMA_D32(0)
                 : "l"(a), "l"(b), "r"(add));
}

static __device__ __forceinline__ void wgmma(float (&d)[64], uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
                 "%31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
                 "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, "
                 "%61, %62, %63}, %64, %65, p, 1, 1, 0, 0;\n"
                 "}"
                 : WGMMA_D32(0), WGMMA_D32(32)
                 : "l"(a), "l"(b), "r"(add));
}

static __device__ __forceinline__ void wgmma(float (&d)[128], uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
                 "%31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
                 "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, "
                 "%61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, "
                 "%76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, "
                 "%91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, "
                 "%105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, "
                 "%118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, p, 1, "
                 "1, 0, 0;\n"
                 "}"
                 : WGMMA_D32(0), WGMMA_D32(32), WGMMA_D32(64), WGMMA_D32(96)
                 : "l"(a), "l"(b), "r"(add));
}

/* The descriptor of a shared operand whose lines run along k, in cores of 8 lines by 16 bytes, one
 * line after the other: bytes from a core to the next along k, and to that of the next 8 lines. */
static __device__ __forceinline__ uint64_t wgmma_operand_cores(const void *shared, unsigned along_k,
                                                               unsigned across)
{
    const uint64_t address = shared_address(shared);

    return (address & 0x3ffff) >> 4 | (uint64_t)(along_k >> 4) << 16 |
           (uint64_t)(across >> 4) << 32;
}

/* The descriptor of what lies so many bytes further on in shared memory. */
static __device__ __forceinline__ uint64_t wgmma_operand_at(uint64_t operand, unsigned bytes)
{
    return (operand & 0xffffffff00000000) | (unsigned)(operand + (bytes >> 4));
}

/* The same product of BF16 operands, of which a is in registers, and b's lines run along k. */
static __device__ __forceinline__ void wgmma_bf16(float (&d)[8], const unsigned *a, uint64_t b,
                                                  int add)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %13, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, p, 1, 1, 0;\n"
                 "}"
                 : WGMMA_D4(0), WGMMA_D4(4)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

static __device__ __forceinline__ void wgmma_bf16(float (&d)[16], const unsigned *a, uint64_t b,
                                                  int add)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %21, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
                 "{%16, %17, %18, %19}, %20, p, 1, 1, 0;\n"
                 "}"
                 : WGMMA_D16(0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

static __device__ __forceinline__ void wgmma_bf16(float (&d)[32], const unsigned *a, uint64_t b,
                                                  int add)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %37, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
                 "%31}, {%32, %33, %34, %35}, %36, p, 1, 1, 0;\n"
                 "}"
                 : WGMMA_D32(0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

static __device__ __forceinline__ void wgmma_bf16(float (&d)[64], const unsigned *a, uint64_t b,
                                                  int add)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %69, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
                 "%31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
                 "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, "
                 "%61, %62, %63}, {%64, %65, %66, %67}, %68, p, 1, 1, 0;\n"
                 "}"
                 : WGMMA_D32(0), WGMMA_D32(32)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

#undef WGMMA_D4
#undef WGMMA_D16
#undef WGMMA_D32

/* ---- registers --------------------------------------------------------------------------- */

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
