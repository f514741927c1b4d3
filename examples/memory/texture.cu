/* texture.cu - textures over a CUDA array and over linear memory. Shows that an array is laid out
 * for neighbours in both directions, so that a walk down its columns costs little more than one
 * along its rows, whereas in linear memory each load of such a walk touches 32 sectors; that the
 * texture unit interpolates and clamps; and that a texture over linear memory reads the same words.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "../example.h"

enum { N = 4096, EDGE = 32, ROWS = 8 }; /* N x N, read by blocks of EDGE x ROWS threads */

/* How an element is fetched. */
typedef struct {
    const float *linear;
    cudaTextureObject_t texture;
} source_t;
enum { LINEAR, ARRAY, LINEAR_TEXTURE };

template <int HOW>
static __device__ float fetch(source_t from, int row, int col)
{
    if (HOW == ARRAY) /* texels' centres are at halves */
        return tex2D<float>(from.texture, col + 0.5f, row + 0.5f);
    return HOW == LINEAR ? from.linear[row * N + col]
                         : tex1Dfetch<float>(from.texture, row * N + col);
}

/* A warp reads along a row or down a column; the sum of its 32 elements goes to out. */
template <int HOW, bool DOWN>
static __global__ void sums(float *out, source_t from)
{
    const int x = blockIdx.x * EDGE + threadIdx.x, y = blockIdx.y * ROWS + threadIdx.y;
    float v = DOWN ? fetch<HOW>(from, x, y) : fetch<HOW>(from, y, x);

    for (int step = 16; step; step /= 2)
        v += __shfl_down_sync(0xffffffff, v, step);
    if (threadIdx.x == 0)
        out[y * (N / EDGE) + blockIdx.x] = v;
}

static __global__ void between(float *out, cudaTextureObject_t texture)
{
    out[0] = tex2D<float>(texture, 8.0f, 2.5f);   /* midway between columns 7 and 8 of row 2 */
    out[1] = tex2D<float>(texture, -99.0f, 2.5f); /* outside: the nearest element */
}

/* Small whole numbers, so that sums are exact in any order. */
static float value(int row, int col)
{
    return (float)((row * 7 + col * 3) % 64);
}

static void show(const char *what, void (*kernel)(float *, source_t), source_t from, bool down)
{
    std::vector<float> host(N * (N / EDGE));
    const double time = seconds(host, [&](cudaStream_t stream, float *out) {
        kernel<<<dim3(N / EDGE, N / ROWS), dim3(EDGE, ROWS), 0, stream>>>(out, from);
    });

    for (int y = 0; y < N; y++) {
        for (int b = 0; b < N / EDGE; b++) {
            float sum = 0;
            for (int x = b * EDGE; x < (b + 1) * EDGE; x++)
                sum += down ? value(x, y) : value(y, x);
            expect(host[y * (N / EDGE) + b] == sum, what);
        }
    }
    printf("%-42s %8.1f us, %6.0f GB/s\n", what, time * 1e6, 4.0 * N * N / time / 1e9);
}

int main(void)
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    std::vector<float> host((size_t)N * N);
    cudaResourceDesc of_array = {}, of_linear = {};
    cudaTextureDesc filtered = {}, plain = {};
    source_t linear = {}, array = {}, fetched = {};
    cudaArray_t image;

    example_begin("textures over an array and over linear memory", 50);
    for (int row = 0; row < N; row++)
        for (int col = 0; col < N; col++)
            host[(size_t)row * N + col] = value(row, col);
    float *memory = to_device(host);
    CUDA(cudaMallocArray(&image, &format, N, N, 0));
    CUDA(cudaMemcpy2DToArray(image, 0, 0, memory, N * sizeof(float), N * sizeof(float), N,
                             cudaMemcpyDeviceToDevice));
    linear.linear = memory;

    of_array.resType = cudaResourceTypeArray;
    of_array.res.array.array = image;
    filtered.filterMode = cudaFilterModeLinear;
    filtered.addressMode[0] = filtered.addressMode[1] = cudaAddressModeClamp;
    CUDA(cudaCreateTextureObject(&array.texture, &of_array, &filtered, NULL));

    of_linear.resType = cudaResourceTypeLinear;
    of_linear.res.linear.devPtr = memory;
    of_linear.res.linear.desc = format;
    of_linear.res.linear.sizeInBytes = host.size() * sizeof(float);
    CUDA(cudaCreateTextureObject(&fetched.texture, &of_linear, &plain, NULL));

    predict_global("linear, along a row", 4, false, [](int lane) { return lane * 4; });
    predict_global("linear, down a column", 4, false, [](int lane) { return lane * N * 4; });
    show("linear memory, along the rows", sums<LINEAR, false>, linear, false);
    show("linear memory, down the columns", sums<LINEAR, true>, linear, true);
    show("texture over an array, along the rows", sums<ARRAY, false>, array, false);
    show("texture over an array, down the columns", sums<ARRAY, true>, array, true);
    show("texture over linear memory, along the rows", sums<LINEAR_TEXTURE, false>, fetched, false);
    show("texture over linear memory, down the cols", sums<LINEAR_TEXTURE, true>, fetched, true);

    std::vector<float> got(2);
    seconds(got, [&](cudaStream_t stream, float *out) {
        between<<<1, 1, 0, stream>>>(out, array.texture);
    });
    printf("row 2: %g and %g in columns 7 and 8, %g between them, %g left of column 0\n",
           value(2, 7), value(2, 8), got[0], got[1]);
    expect(got[0] == (value(2, 7) + value(2, 8)) / 2 && got[1] == value(2, 0), "interpolation");

    CUDA(cudaDestroyTextureObject(array.texture));
    CUDA(cudaDestroyTextureObject(fetched.texture));
    CUDA(cudaFreeArray(image));
    CUDA(cudaFree(memory));
    return 0;
}
