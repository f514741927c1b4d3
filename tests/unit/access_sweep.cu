/* access_sweep.cu - runs accesses of access_patterns.h for the profiler to count: those to the
 * space and by the operation that the arguments name. Each is a launch of one warp, in the order of
 * the table. Prints NUMBER,HASH,NAME of each, then the compute capability and name of the device.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cstdlib>

#include "access_patterns.h"

struct request_t {
    uint32_t active;
    uint32_t offset[32];
};

/* Volatile assembly, so that exactly this instruction is counted. A load's value is compared with
 * an unlikely one and stored if equal: otherwise the assembler would remove the load. (It knows
 * that a byte is at most 255.) */
#define ACCESS(BYTES, TYPE, REGISTER, PTX)                                                         \
    template <>                                                                                    \
    __device__ void access_shared<BYTES, false>(unsigned at, unsigned *sink)                       \
    {                                                                                              \
        TYPE value;                                                                                \
        asm volatile("ld.shared." PTX " %0, [%1];" : "=" REGISTER(value) : "r"(at) : "memory");    \
        if (value == (TYPE)(0x5a5a5a5a5a5a5a5aull >> (64 - 8 * BYTES)))                            \
            *sink = 1;                                                                             \
    }                                                                                              \
    template <>                                                                                    \
    __device__ void access_shared<BYTES, true>(unsigned at, unsigned *)                            \
    {                                                                                              \
        asm volatile("st.shared." PTX " [%0], %1;" ::"r"(at), REGISTER((TYPE)threadIdx.x)          \
                     : "memory");                                                                  \
    }                                                                                              \
    template <>                                                                                    \
    __device__ void access_global<BYTES, false>(char *at, unsigned *sink)                          \
    {                                                                                              \
        TYPE value;                                                                                \
        asm volatile("ld.global." PTX " %0, [%1];" : "=" REGISTER(value) : "l"(at) : "memory");    \
        if (value == (TYPE)(0x5a5a5a5a5a5a5a5aull >> (64 - 8 * BYTES)))                            \
            *sink = 1;                                                                             \
    }                                                                                              \
    template <>                                                                                    \
    __device__ void access_global<BYTES, true>(char *at, unsigned *)                               \
    {                                                                                              \
        asm volatile("st.global." PTX " [%0], %1;" ::"l"(at), REGISTER((TYPE)threadIdx.x)          \
                     : "memory");                                                                  \
    }

template <int BYTES, bool STORE>
__device__ void access_shared(unsigned at, unsigned *sink);
template <int BYTES, bool STORE>
__device__ void access_global(char *at, unsigned *sink);

ACCESS(1, unsigned short, "h", "u8")
ACCESS(2, unsigned short, "h", "u16")
ACCESS(4, unsigned, "r", "u32")
ACCESS(8, unsigned long long, "l", "u64")

template <>
__device__ void access_shared<16, false>(unsigned at, unsigned *sink)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(at)
                 : "memory");
    if ((v.x & v.y & v.z & v.w) == 0x5a5a5a5a)
        *sink = 1;
}
template <>
__device__ void access_shared<16, true>(unsigned at, unsigned *)
{
    asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(threadIdx.x) : "memory");
}
template <>
__device__ void access_global<16, false>(char *at, unsigned *sink)
{
    uint4 v;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(at)
                 : "memory");
    if ((v.x & v.y & v.z & v.w) == 0x5a5a5a5a)
        *sink = 1;
}
template <>
__device__ void access_global<16, true>(char *at, unsigned *)
{
    asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(threadIdx.x) : "memory");
}

template <int BYTES, bool STORE>
__global__ void shared_access(const __grid_constant__ request_t request, unsigned *sink)
{
    extern __shared__ __align__(128) char memory[];
    const unsigned lane = threadIdx.x;
    if (request.active >> lane & 1)
        access_shared<BYTES, STORE>(
            (unsigned)__cvta_generic_to_shared(memory) + request.offset[lane], sink);
}

template <int BYTES, bool STORE>
__global__ void global_access(const __grid_constant__ request_t request, char *memory,
                              unsigned *sink)
{
    const unsigned lane = threadIdx.x;
    if (request.active >> lane & 1)
        access_global<BYTES, STORE>(memory + request.offset[lane], sink);
}

template <int BYTES, bool STORE>
static void launch(const pattern_t &pattern, const request_t &request, char *memory, unsigned *sink)
{
    if (pattern.is_global)
        global_access<BYTES, STORE><<<1, 32>>>(request, memory, sink);
    else
        shared_access<BYTES, STORE><<<1, 32, PATTERN_MOST_BYTES>>>(request, sink);
}

template <int BYTES>
static void launch(const pattern_t &pattern, const request_t &request, char *memory, unsigned *sink)
{
    if (pattern.is_store)
        launch<BYTES, true>(pattern, request, memory, sink);
    else
        launch<BYTES, false>(pattern, request, memory, sink);
}

static void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
    }
}

int main(int argc, char **argv)
{
    static pattern_t patterns[PATTERN_MOST];
    cudaDeviceProp device;
    char *memory;
    unsigned *sink;

    if (argc != 3) {
        fprintf(stderr, "usage: %s shared|global ld|st\n", argv[0]);
        return 2;
    }
    const int all = make_patterns(patterns);
    int count = 0;
    for (int i = 0; i < all; i++) {
        if (patterns[i].is_global != (strcmp(argv[1], "global") == 0) ||
            patterns[i].is_store != (strcmp(argv[2], "st") == 0))
            continue;
        printf("%d,%08x,%s\n", i, (unsigned)pattern_hash(&patterns[i]), patterns[i].name);
        patterns[count++] = patterns[i];
    }
    check(cudaGetDeviceProperties(&device, 0));
    check(cudaMalloc(&memory, PATTERN_MOST_BYTES));
    check(cudaMalloc(&sink, sizeof *sink));
    check(cudaMemset(memory, 0, PATTERN_MOST_BYTES));
    for (int i = 0; i < count; i++) {
        request_t request;

        request.active = patterns[i].access.active;
        for (int lane = 0; lane < 32; lane++)
            request.offset[lane] = (uint32_t)patterns[i].access.addr[lane];
        switch (patterns[i].access.elem_bytes) {
        case 1: launch<1>(patterns[i], request, memory, sink); break;
        case 2: launch<2>(patterns[i], request, memory, sink); break;
        case 4: launch<4>(patterns[i], request, memory, sink); break;
        case 8: launch<8>(patterns[i], request, memory, sink); break;
        default: launch<16>(patterns[i], request, memory, sink); break;
        }
        check(cudaGetLastError());
    }
    check(cudaDeviceSynchronize());
    check(cudaFree(sink));
    check(cudaFree(memory));
    printf("device %d %s\n", device.major * 10 + device.minor, device.name);
    return 0;
}
