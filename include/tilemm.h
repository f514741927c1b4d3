/* tilemm.h - SGEMM, matrix transpose and reductions from one tile, on CUDA GPUs and CPUs.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * INTRODUCTION
 *
 * A program creates a context, calls operations on it and destroys it:
 *
 *     tilemm_t ctx;
 *     if (tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) != TILEMM_SUCCESS) ...
 *     if (tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS,
 *                      m, n, k, 1.0f, a, k, b, n, 0.0f, c, n) != TILEMM_SUCCESS)
 *         fprintf(stderr, "%s\n", tilemm_last_error(ctx));
 *     tilemm_destroy(ctx);
 *
 * The same calls work on both backends. Contexts are independent of each other: threads that
 * each have one may call at the same time. One context must not be used by two threads at once.
 *
 * Status. Every function that can fail returns a tilemm_status_t, and tilemm_last_error() then
 * says in words which argument was wrong, what it was and what it must be. A call that returns
 * TILEMM_INVALID_ARGUMENT or TILEMM_NOT_SUPPORTED has written nothing. The library never prints
 * (unless TILEMM_LOG=1 asks for it), exits, aborts or throws.
 *
 * Pointers. On a CUDA context each operand and each result may lie in host, device or managed
 * memory, in any mixture. If all of them lie in device or managed memory the call is
 * asynchronous: it returns once the work is queued on the context's stream (tilemm_set_stream),
 * it allocates nothing and waits for nothing once the context's workspace is large enough, and it
 * can be captured in a CUDA graph. Device memory is that of the context's device. If any lies on
 * the host the work is done when the call returns. On a CPU context every call has finished when it
 * returns, and a pointer to device memory is TILEMM_INVALID_ARGUMENT. An operand that the process
 * cannot read (memory that was freed, say) is a fault of the process on a CPU context; on a CUDA
 * context it is TILEMM_INVALID_ARGUMENT where its first or last byte cannot be read.
 *
 * Sizes. Sizes, strides and indices are int64_t, and count elements, not bytes. Indices start at 0.
 *
 * Layout. In row-major storage (TILEMM_ROW_MAJOR) element (i, j) of a matrix x with leading
 * dimension ldx is x[i * ldx + j]; in column-major storage (TILEMM_COL_MAJOR) it is
 * x[i + j * ldx]. The leading dimension is at least the number of columns (row-major) or rows
 * (column-major), and at least 1. Bytes between the end of a row and the next leading dimension
 * are never written.
 *
 * Alignment. Every operand and result, every array of pointers and every pointer in it must be
 * aligned as C aligns its type: float to 4 bytes; int64_t and pointers to 8, on 64-bit machines;
 * elements that are only transposed to their size, those of 16 bytes to 8. A pointer that is used
 * and is misaligned is TILEMM_INVALID_ARGUMENT, in all functions, on both backends. No more is
 * needed anywhere.
 *
 * Vectors. A vector has an increment, which must not be 0. With a negative increment element i is
 * x[(n - 1 - i) * -incx], as in BLAS: the vector is walked from its far end.
 *
 * Aliasing. Outputs must not overlap inputs or each other, unless a function says otherwise.
 *
 * Arguments. One argument is the same everywhere:
 *
 * ctx  the context; NULL is TILEMM_INVALID_ARGUMENT, except where a function says otherwise.
 *
 * Environment. These variables are read when a context is created. One that is empty counts as not
 * set. A value that is not listed makes tilemm_create return TILEMM_INVALID_ARGUMENT.
 *
 *     TILEMM_BACKEND=cpu TILEMM_LOG=1 ./program
 *
 * TILEMM_BACKEND         auto, cpu or cuda: what TILEMM_BACKEND_AUTO takes.
 * TILEMM_ARCH            generic, avx2, avx512, amx, neon, or sm75, sm80, sm90a and the like: caps
 *                        the instruction set. A name of another kind of machine caps nothing.
 * TILEMM_NUM_THREADS     1 to 65536: how many threads the CPU uses, by default as many as OpenMP
 *                        would (OMP_NUM_THREADS), else one for each processor. At most 64 are
 *                        used, or four times the processors if that is more.
 * TILEMM_MATH            fp32, strict or tf32: the math mode that a context starts with.
 * TILEMM_INVARIANCE      none, batch or across: tilemm_set_invariance. With across
 *                        TILEMM_BACKEND_AUTO takes the CPU.
 * TILEMM_VARIANT         the beginning of a kernel's name, for measurements on a GPU: only kernels
 *                        whose names begin so are chosen, unless none of them can do the problem.
 * TILEMM_DEVICES         numbers of CUDA devices, separated by commas, such as 0,1: the devices of
 *                        a context of TILEMM_BACKEND_AUTO, see tilemm_create_multi.
 * TILEMM_PEER            0 or 1: 0 keeps the devices of a context from copying straight from each
 *                        other.
 * TILEMM_TIMELINE        a file's name, of at most 1023 characters: calls whose operands on the
 *                        host go through a GPU in pieces append to it, as CSV, when each step ran:
 *                        device, stream (up, "up C", compute or down), begin and end in seconds,
 *                        and bytes or floating-point operations. Programs with more rights than
 *                        their user write none; nor is it an error where it cannot be written.
 * TILEMM_TUNING          none, or the file with this machine's constants that 'tilemm tune' wrote
 *                        and a CPU context reads: by default tilemm/tuning in XDG_CONFIG_HOME, or
 *                        in .config in HOME, if it is there. It is left aside where it is for
 *                        another processor or version (tilemm_tuning tells).
 * TILEMM_LOG             0 or 1: 1 prints each call to standard error, as a command line of
 *                        tilemm(1) that can be run again.
 *
 * These name files, and are read when the file is wanted:
 *
 * TILEMM_MODULE_DIR      the folder where the modules libtilemm-cuda.so, the CUDA backend, and
 *                        tilemm-cub.so, for benchmarks, are looked for first.
 * TILEMM_REFERENCE_BLAS  the library with the CBLAS that benchmarks and tests compare with, in
 *                        place of OpenBLAS, or none for no comparison. Only the commands read it.
 * TILEMM_REFERENCE_SCALAPACK  the ScaLAPACK that tilemm-mpi(1) compares with, or none.
 */
#ifndef TILEMM_H
#define TILEMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TILEMM_VERSION_MAJOR 0
#define TILEMM_VERSION_MINOR 1
#define TILEMM_VERSION_PATCH 0

/* ------------------------------------------------------------------------------------------
 * Types
 * ------------------------------------------------------------------------------------------ */

/* A context: a backend, its device or threads, its workspace and its settings. */
typedef struct tilemm_context *tilemm_t;

/* What functions return. */
typedef enum {
    TILEMM_SUCCESS = 0,      /* the call has done, or queued, what it should */
    TILEMM_INVALID_ARGUMENT, /* an argument breaks a rule stated here; nothing was written */
    TILEMM_OUT_OF_MEMORY,    /* host or device memory ran out, for the smallest method too */
    TILEMM_NO_DEVICE,        /* the backend was not built, or has no usable device of that number */
    TILEMM_NOT_SUPPORTED,    /* a valid request that this build or device cannot serve */
    TILEMM_DEVICE_FAILURE,   /* the device or its driver reported an error; the context is lost */
    TILEMM_INTERNAL_ERROR    /* a defect of the library: please report it */
} tilemm_status_t;

/* Where a context computes. */
typedef enum {
    TILEMM_BACKEND_AUTO = 0, /* CUDA if usable, else CPU; TILEMM_BACKEND=cpu|cuda overrides */
    TILEMM_BACKEND_CPU,      /* the processor */
    TILEMM_BACKEND_CUDA      /* a CUDA device */
} tilemm_backend_t;

/* How matrices are stored, by rows or by columns. The values are those of CBLAS. */
typedef enum { TILEMM_ROW_MAJOR = 101, TILEMM_COL_MAJOR = 102 } tilemm_layout_t;

/* Whether a matrix is taken as it is stored or transposed. The values are those of CBLAS. */
typedef enum { TILEMM_NO_TRANS = 111, TILEMM_TRANS = 112 } tilemm_op_t;

/* How SGEMM computes. doc/numerics.md states the bounds. */
typedef enum {
    TILEMM_MATH_FP32 = 0,    /* at least as accurate as FP32, on the fastest engine there is */
    TILEMM_MATH_FP32_STRICT, /* IEEE FP32 multiply-adds only */
    TILEMM_MATH_TF32         /* at least as accurate as TF32 */
} tilemm_math_t;

/* What the bits of an element (i, j) of op(A) op(B) may depend on. NONE: all that the call is given
 * (but never on time or chance). INVARIANT: row i of op(A), column j of op(B), k, the math mode and
 * the instruction set (on the CPU the last kernel's name has it; on CUDA it is the kind of device,
 * one of four: compute capability below 8.0, 8.x, 9.0, or above), and nothing else: not the other
 * rows and columns, their number, the batch, layout, transposes, leading dimensions, strides,
 * alignment, workspace, limit of device memory, threads or number of devices of a kind.
 * INVARIANT_ACROSS: nor the instruction set. alpha and beta are applied to the element's sum: first
 * alpha * sum, then, unless beta is 0, beta * C, then their sum, each rounded; on CUDA beta * C is
 * added with one rounding. What bits a NaN has is left open. */
typedef enum {
    TILEMM_INVARIANCE_NONE = 0,
    TILEMM_INVARIANT,
    TILEMM_INVARIANT_ACROSS
} tilemm_invariance_t;

/* What reductions do with NaN: return NaN (for arg-reductions, the index of the first NaN), or
 * leave NaN elements out, as if the vector did not have them. */
typedef enum { TILEMM_NAN_PROPAGATE = 0, TILEMM_NAN_IGNORE } tilemm_nan_t;

/* Where a matrix is allocated. */
typedef enum {
    TILEMM_MEMORY_HOST = 0, /* memory of the host, which may be paged out */
    TILEMM_MEMORY_PINNED,   /* of the host, which stays: a GPU copies it at the speed of the link */
    TILEMM_MEMORY_DEVICE,   /* of the context's device */
    TILEMM_MEMORY_MANAGED   /* goes where it is used */
} tilemm_memory_t;

/* The axis along which a matrix is reduced. */
typedef enum {
    TILEMM_AXIS_ROWS = 0, /* reduce down the rows: one result for each column */
    TILEMM_AXIS_COLS = 1  /* reduce along the columns: one result for each row */
} tilemm_axis_t;

/* The reductions. AMAX and AMIN take the largest and smallest absolute value. MAX and MIN order
 * -0 before +0. Of no elements (an empty vector, or all NaN under TILEMM_NAN_IGNORE) SUM, ASUM,
 * SUMSQ, NRM2 and AMAX are 0, MAX is -infinity, MIN and AMIN are +infinity, MEAN is NaN.
 *
 * SUM, ASUM, SUMSQ, NRM2 and MEAN, and tilemm_sdot, accumulate in FP64, in an order that depends
 * on the number of elements alone, and are rounded to FP32 once: the result has the same bits on
 * every run, device, backend, stride and number of threads. A result that is NaN is the quiet NaN
 * 0x7fc00000. */
typedef enum {
    TILEMM_SUM = 0, /* sum of x */
    TILEMM_ASUM,    /* sum of |x| */
    TILEMM_SUMSQ,   /* sum of x * x */
    TILEMM_NRM2,    /* square root of the sum of x * x, without overflow or underflow inside */
    TILEMM_MEAN,    /* sum of x / number of elements */
    TILEMM_MAX,     /* largest x */
    TILEMM_MIN,     /* smallest x */
    TILEMM_AMAX,    /* largest |x| */
    TILEMM_AMIN     /* smallest |x| */
} tilemm_reduce_t;

/* ------------------------------------------------------------------------------------------
 * Contexts: create a context on a backend, ask which it is, destroy the context
 * ------------------------------------------------------------------------------------------ */

/* Create a context.
 *
 * ctx      receives the context; NULL when the call fails.
 * backend  which backend. TILEMM_BACKEND_AUTO takes the environment variable TILEMM_BACKEND if it
 *          is set, else CUDA if device `device` is usable, else the CPU. With TILEMM_DEVICES set it
 *          takes those devices, as tilemm_create_multi does, in place of `device`.
 * device   the CUDA device's ordinal; not looked at for the CPU.
 *
 * Environment variables, see tilemm-environment(7), are read here, once for the context.
 *
 * Returns TILEMM_INVALID_ARGUMENT if ctx is NULL, backend is not one of the enumerators, device
 * is negative and backend is not TILEMM_BACKEND_CPU, or one of those environment variables has a
 * value that it does not take (TILEMM_DEVICES only where backend is TILEMM_BACKEND_AUTO: the others
 * do not read it); TILEMM_NO_DEVICE if the backend is not built or has no such device;
 * TILEMM_OUT_OF_MEMORY; TILEMM_DEVICE_FAILURE.
 *
 * tilemm_create_error says why. */
tilemm_status_t tilemm_create(tilemm_t *ctx, tilemm_backend_t backend, int device);

/* Create a CUDA context over several devices, whose operations may use them all.
 *
 * ctx      receives the context; NULL when the call fails.
 * count    how many devices, 1 to 64. With one, the call is tilemm_create(ctx, TILEMM_BACKEND_CUDA,
 *          devices[0]).
 * devices  their ordinals. A device that stands in the list twice counts as two, and so on.
 *
 * The first device is the one that tilemm_get_device names, to which the context's stream
 * belongs, and where tilemm_alloc_matrix allocates. Operands may lie on the host and on any of
 * the devices.
 *
 * What lies on the host is divided: products by rows or columns of C, batches by matrices,
 * transposes by rows or columns, reductions by vectors or segments, among the devices as their
 * rates say, which are taken to be equal for devices of one model, and else are measured here,
 * once, by a product. An operand that all need goes up once in all: each device sends a share
 * up, and has the others' shares from them. Of what lies on one device a large product is
 * divided too: the others copy the operands through strips while it computes. Everything else is
 * done on the device where the first of its operands on a device lies. Small calls are done on
 * one device.
 *
 * A call with all operands on devices is asynchronous on the context's stream; the work of the
 * other devices is ordered after what is queued there, and before what follows. Transposes,
 * copies to other layouts and reductions whose operands lie on several devices wait. In a stream
 * that is being captured calls use the first device alone, and return TILEMM_NOT_SUPPORTED if
 * their operands are on another.
 *
 * Sums have the bits that they always have. A product has those of one device, but where that
 * would divide k, or takes part of the rows or columns by another kernel. The same list of
 * devices computes the same bits each time.
 *
 * Devices copy straight from each other where all have peer access, which the call enables
 * unless TILEMM_PEER is 0; else by way of the host. tilemm_set_device_memory limits what is
 * taken of each device; a workspace given by tilemm_set_workspace is used on its device alone,
 * by one entry of the list.
 *
 * When a device fails, tilemm_last_error says which. What the call writes is then undefined, and
 * after TILEMM_DEVICE_FAILURE all calls on the context return that.
 *
 * Returns TILEMM_INVALID_ARGUMENT if ctx or devices is NULL, count is out of bounds, a number is
 * negative, or an environment variable but TILEMM_DEVICES, which is not read, has a value that it
 * does not take; TILEMM_NO_DEVICE if the backend is not built or a device is not there;
 * TILEMM_OUT_OF_MEMORY; TILEMM_DEVICE_FAILURE.
 *
 * tilemm_create_error says why. */
tilemm_status_t tilemm_create_multi(tilemm_t *ctx, int count, const int *devices);

/* Why this thread's last call of tilemm_create or tilemm_create_multi failed, in words: "create:
 * TILEMM_MATH = fp31, must be fp32, strict or tf32". "" if it succeeded, or was never called. The
 * text stays until this thread's next call of either. */
const char *tilemm_create_error(void);

/* Wait for the context's work and release all that it holds (not the user's stream or
 * workspace). NULL is allowed. Returns TILEMM_DEVICE_FAILURE if the device failed before; the
 * context is released all the same. */
tilemm_status_t tilemm_destroy(tilemm_t ctx);

/* Store in *backend which backend the context has, TILEMM_BACKEND_CPU or TILEMM_BACKEND_CUDA; in
 * *device the ordinal of its CUDA device, -1 on a CPU context. Returns TILEMM_INVALID_ARGUMENT if
 * backend or device is NULL. */
tilemm_status_t tilemm_get_backend(tilemm_t ctx, tilemm_backend_t *backend);
tilemm_status_t tilemm_get_device(tilemm_t ctx, int *device);

/* ------------------------------------------------------------------------------------------
 * Settings: set how a context computes and where its work is queued
 *
 * cuda_stream       a cudaStream_t of the context's device, or NULL.
 * math              how SGEMM computes.
 * invariance        what the bits of a product's element may depend on.
 * policy            what reductions do with NaN.
 * threads           how many threads a CPU context uses, or 0.
 * workspace, bytes  memory to work in and its size, or NULL and 0.
 * function, user    what takes the log's lines, or NULL; and what is passed on to it.
 *
 * A getter stores a setting in the host's memory.
 *
 * Returns TILEMM_INVALID_ARGUMENT for a value that is not as said here, or a getter's NULL; the
 * setting stays.
 * ------------------------------------------------------------------------------------------ */

/* Queue work on this cudaStream_t from now on; NULL, as at the start, is the legacy default
 * stream. The stream must belong to the context's (first) device and live until the next
 * tilemm_set_stream; new work is ordered after the work queued on it, unless either stream is being
 * captured. Returns TILEMM_NOT_SUPPORTED on a CPU context, where only NULL is taken;
 * TILEMM_DEVICE_FAILURE. */
tilemm_status_t tilemm_set_stream(tilemm_t ctx, void *cuda_stream);

/* Store in *cuda_stream the stream that was set; NULL at the start. */
tilemm_status_t tilemm_get_stream(tilemm_t ctx, void **cuda_stream);

/* Wait until all work of the context is done, and give back the device memory that it keeps for
 * strips of operands on the host. Returns TILEMM_DEVICE_FAILURE if any of the work failed. */
tilemm_status_t tilemm_synchronize(tilemm_t ctx);

/* Set, or store in *math, how SGEMM computes (at the start TILEMM_MATH_FP32, or
 * TILEMM_MATH=fp32|strict|tf32). */
tilemm_status_t tilemm_set_math(tilemm_t ctx, tilemm_math_t math);
tilemm_status_t tilemm_get_math(tilemm_t ctx, tilemm_math_t *math);

/* Set, or store in *invariance, what the bits of a product's element may depend on (at the start
 * TILEMM_INVARIANCE_NONE, or TILEMM_INVARIANCE=none|batch|across). Returns TILEMM_NOT_SUPPORTED on
 * a CUDA context for TILEMM_INVARIANT_ACROSS. */
tilemm_status_t tilemm_set_invariance(tilemm_t ctx, tilemm_invariance_t invariance);
tilemm_status_t tilemm_get_invariance(tilemm_t ctx, tilemm_invariance_t *invariance);

/* Set, or store in *policy, what reductions do with NaN (at the start TILEMM_NAN_PROPAGATE). */
tilemm_status_t tilemm_set_nan_policy(tilemm_t ctx, tilemm_nan_t policy);
tilemm_status_t tilemm_get_nan_policy(tilemm_t ctx, tilemm_nan_t *policy);

/* Set how many threads each call on a CPU context uses: 1 or more, whatever the program's other
 * threads do; or 0, as at the start: TILEMM_NUM_THREADS, or else as many as OpenMP would use or one
 * for each processor, less the threads of the process's other calls at that time; and one thread
 * in a parallel region of OpenMP. Where the system gives no more threads, a call uses fewer; no
 * result depends on it. Taken, without effect, on a CUDA context. */
tilemm_status_t tilemm_set_threads(tilemm_t ctx, int threads);

/* Store in *threads the number in effect on a CPU context: never more than 64 or four times the
 * processors, whichever is more. On a CUDA context what was set, at first 0. */
tilemm_status_t tilemm_get_threads(tilemm_t ctx, int *threads);

/* Give the context `bytes` bytes to work in, in place of memory of its own: device or managed
 * memory for a CUDA context, host memory for a CPU context. It may begin at any address; what lies
 * before the next multiple of 256 bytes (64 on a CPU context) is not used. The memory must outlive
 * its use. Operations that would want more take a method that needs less; one that has none returns
 * TILEMM_OUT_OF_MEMORY. An invariant product on a GPU, whose bits must not change, may take what
 * it lacks from the stream's memory pool (cudaMallocAsync). NULL with 0 bytes returns to the
 * context's own memory, which grows as needed. Waits for the context's work. Returns
 * TILEMM_INVALID_ARGUMENT for NULL with a size, a pointer with 0 bytes, or memory of the wrong
 * kind; TILEMM_DEVICE_FAILURE. */
tilemm_status_t tilemm_set_workspace(tilemm_t ctx, void *workspace, size_t bytes);

/* Store in *workspace and *bytes what was given: NULL and 0 while the context uses its own. */
tilemm_status_t tilemm_get_workspace(tilemm_t ctx, void **workspace, size_t *bytes);

/* Limit to `bytes` the device memory that sgemm, transposes and reductions take for operands that
 * lie on the host, workspace not counted. 0, as at the start, means three quarters of the memory
 * that is free. Large products go through that memory in strips, transposes and reductions in
 * pieces; these stay allocated for the next call, up to a quarter of the device's memory, until
 * tilemm_synchronize; batches given by arrays of pointers are not limited. A transpose in place of
 * a matrix that is not square, or whose leading dimension changes, is done by the CPU where the
 * limit is less than the matrix. Where the limit is too little for the smallest pieces (300 KB are
 * enough for transposes and reductions) the call returns TILEMM_OUT_OF_MEMORY. Taken, without
 * effect, on a CPU context. */
tilemm_status_t tilemm_set_device_memory(tilemm_t ctx, size_t bytes);

/* Store in *bytes what was set. */
tilemm_status_t tilemm_get_device_memory(tilemm_t ctx, size_t *bytes);

/* Takes a line of the log, without newline: "tilemm bench gemm --sizes 8x8x8 ... --backend cpu". It
 * is called in the thread that calls the operation, before the work begins; line is valid until it
 * returns. It must return (no exception, no longjmp), and must not use the same context. */
typedef void (*tilemm_log_t)(const char *line, void *user);

/* Have function(line, user) called for each operation that is called with valid arguments, whether
 * or not TILEMM_LOG is set. If it is NULL, as at the start, lines go to standard error where the
 * context was created with TILEMM_LOG=1, else nowhere. Each line is a command that does the same
 * work again. */
tilemm_status_t tilemm_set_log(tilemm_t ctx, tilemm_log_t function, void *user);

/* ------------------------------------------------------------------------------------------
 * Messages: statuses in words, what was wrong, which kernel ran
 * ------------------------------------------------------------------------------------------ */

/* The `status` in words, for example "invalid argument"; "unknown status" for another value.
 * Never NULL. */
const char *tilemm_status_string(tilemm_status_t status);

/* What was wrong in the context's last call that failed, for example "sgemm: lda = 3, must be at
 * least 8 (row-major, NO_TRANS, k = 8)"; "" if none has; never NULL, even if ctx is. Valid until
 * the next call on ctx. */
const char *tilemm_last_error(tilemm_t ctx);

/* The name of the kernel that did the main work of the context's last operation, for example
 * "sgemm_fma_avx512_14x32": operation, method, instruction set, tile. On a GPU it is the name of
 * the function that ran, and after a '+' how its work was divided:
 * "sgemm_ffma_sm80_64x64x16_nt+splitk4".
 * "" if no kernel was needed, none has run, or ctx is NULL. Valid until the next call on ctx. */
const char *tilemm_last_kernel(tilemm_t ctx);

/* The constants by which a CPU context divides its work, as the text of a file that TILEMM_TUNING
 * may name. Its second line is a remark, "# " and where they are from: "built in"; the file's name;
 * or both, and why the file is left aside. The other lines say what they are for, and then a name
 * and a number each. "" if ctx is a CUDA context or NULL. Valid until the context is destroyed. */
const char *tilemm_tuning(tilemm_t ctx);

/* The library's version, "major.minor.patch". */
const char *tilemm_version(void);

/* ------------------------------------------------------------------------------------------
 * Memory: matrices that need no CUDA header, and copies from any place to any place
 *
 * where       what kind of memory. A CPU context has TILEMM_MEMORY_HOST alone.
 * rows, cols  of the matrix, row-major. A copy succeeds at once if one is 0.
 * elem_size   bytes of an element: 1, 2, 4, 8 or 16.
 * matrix, ld  receive the address, and the leading dimension, a multiple of 256 bytes (64 on a CPU
 *             context).
 * memory, bytes  host memory that the program has, and its size.
 * src, dst    where the matrix is, and where it goes; they must not overlap.
 * ld_src      leading dimension of src: at least cols.
 * ld_dst      leading dimension of dst: at least cols.
 * stride_src  elements from one matrix of src to the next; may be 0 or negative.
 * stride_dst  elements from one matrix of dst to the next.
 *
 * batch_count  number of matrices. 0 succeeds at once.
 *
 * Returns TILEMM_INVALID_ARGUMENT for a NULL or misaligned pointer that would be used, a negative
 * size, another elem_size, a leading dimension that is too small, or a wrong enumerator;
 * TILEMM_OUT_OF_MEMORY; TILEMM_NOT_SUPPORTED (on a CPU context: memory of another kind, and
 * registering); TILEMM_DEVICE_FAILURE.
 * ------------------------------------------------------------------------------------------ */

/* Allocate a matrix whose rows are aligned. Its elements hold anything. With no rows or columns
 * there is an address all the same. The context's end frees it, if tilemm_free_matrix does not
 * before. When the call fails *matrix is NULL. */
tilemm_status_t tilemm_alloc_matrix(tilemm_t ctx, tilemm_memory_t where, int64_t rows, int64_t cols,
                                    size_t elem_size, void **matrix, int64_t *ld);

/* Wait for the context's work, and free a matrix that tilemm_alloc_matrix has allocated on the same
 * context. NULL is allowed. */
tilemm_status_t tilemm_free_matrix(tilemm_t ctx, void *matrix);

/* Pin host memory that is there, so that a GPU copies it at the speed of the link, asynchronously.
 * It must not be pinned yet. It stays so until tilemm_unregister_host, which waits for the
 * context's work and takes the same address, or the context's end: free it after that. */
tilemm_status_t tilemm_register_host(tilemm_t ctx, void *memory, size_t bytes);
tilemm_status_t tilemm_unregister_host(tilemm_t ctx, void *memory);

/* Copy a matrix from any place to any place. Asynchronous if both places are pinned, device or
 * managed memory; it can then be captured in a CUDA graph. */
tilemm_status_t tilemm_copy_matrix(tilemm_t ctx, int64_t rows, int64_t cols, size_t elem_size,
                                   const void *src, int64_t ld_src, void *dst, int64_t ld_dst);

/* tilemm_copy_matrix for batch_count matrices: number i from src + i * stride_src elements to
 * dst + i * stride_dst elements. */
tilemm_status_t tilemm_copy_matrix_strided_batched(tilemm_t ctx, int64_t rows, int64_t cols,
                                                   size_t elem_size, const void *src,
                                                   int64_t ld_src, int64_t stride_src, void *dst,
                                                   int64_t ld_dst, int64_t stride_dst,
                                                   int64_t batch_count);

/* ------------------------------------------------------------------------------------------
 * SGEMM: single-precision matrix products, one or a batch
 *
 * layout         storage order of A, B and C alike.
 * transa         whether A is transposed.
 * transb         whether B is transposed.
 * m              rows of op(A) and C. If it or n is 0 the call succeeds at once.
 * n              columns of op(B) and C.
 * k              columns of op(A) and rows of op(B).
 * alpha          factor of the product. If it or k is 0, A and B are not read and may be NULL, and
 *                C = beta C.
 * a, b           the matrices A and B, or for batches by pointers arrays of their addresses.
 * lda, ldb, ldc  leading dimensions of A, B and C as stored: at least their columns (row-major) or
 *                rows (column-major), and at least 1.
 * beta           factor of the old C. If it is 0, C is not read: NaN there does not spread.
 * c              the matrix C, or an array of addresses, that is read unless beta is 0, and
 *                written.
 * batch_count    number of products, of one shape. 0 succeeds at once.
 *
 * Returns TILEMM_INVALID_ARGUMENT for a NULL or misaligned pointer that would be used, a negative
 * size, a leading dimension that is too small, or a wrong enumerator; TILEMM_OUT_OF_MEMORY
 * (operands staged from the host; an invariant product on a CPU with AMX, for want of 200 KB of
 * memory; one on CUDA that must not take another way); TILEMM_NOT_SUPPORTED (on CUDA, k above 2^36,
 * or host operands while the stream is captured); TILEMM_DEVICE_FAILURE.
 * ------------------------------------------------------------------------------------------ */

/* C = alpha op(A) op(B) + beta C, single precision.
 *
 * op(A) is m x k, op(B) is k x n, C is m x n; op(X) is X, or its transpose for TILEMM_TRANS, so
 * that A is stored as m x k or k x m, and B as k x n or n x k.
 *
 * The result has the same bits from run to run on one device with the same settings. Asynchronous
 * if A, B and C are on the device. */
tilemm_status_t tilemm_sgemm(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t transa,
                             tilemm_op_t transb, int64_t m, int64_t n, int64_t k, float alpha,
                             const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                             float *c, int64_t ldc);

/* tilemm_sgemm for batch_count problems of one shape: problem i has A at a + i * stride_a, B at
 * b + i * stride_b and C at c + i * stride_c. stride_a and stride_b may be 0 (one matrix for all)
 * or negative; the C matrices must not overlap. */
tilemm_status_t tilemm_sgemm_strided_batched(tilemm_t ctx, tilemm_layout_t layout,
                                             tilemm_op_t transa, tilemm_op_t transb, int64_t m,
                                             int64_t n, int64_t k, float alpha, const float *a,
                                             int64_t lda, int64_t stride_a, const float *b,
                                             int64_t ldb, int64_t stride_b, float beta, float *c,
                                             int64_t ldc, int64_t stride_c, int64_t batch_count);

/* tilemm_sgemm for batch_count problems of one shape, at the addresses that the arrays a, b and c
 * hold. The arrays too may lie on the host or the device; where one lies on the device, so must
 * the matrices that it points to. Asynchronous if the arrays and the matrices are all on the
 * device. The pointers inside an array on the device are not checked. */
tilemm_status_t tilemm_sgemm_batched(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t transa,
                                     tilemm_op_t transb, int64_t m, int64_t n, int64_t k,
                                     float alpha, const float *const *a, int64_t lda,
                                     const float *const *b, int64_t ldb, float beta,
                                     float *const *c, int64_t ldc, int64_t batch_count);

/* Store in *bytes the workspace with which such a product runs at its best, in the context's math
 * mode: what to give to tilemm_set_workspace, or what the context's own will grow to. For m, n, k,
 * layout, transa and transb as in tilemm_sgemm; batch_count is 1 for a single product. It holds for
 * every alignment and leading dimension, and never passes an eighth of the device's memory (or 64
 * MiB, if that is more). With less the product takes k piece by piece, or another kernel; with none
 * it works too. 0 on a CPU context, and where nothing is gained. If the call fails *bytes is
 * as it was. */
tilemm_status_t tilemm_sgemm_workspace(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t transa,
                                       tilemm_op_t transb, int64_t m, int64_t n, int64_t k,
                                       int64_t batch_count, size_t *bytes);

/* ------------------------------------------------------------------------------------------
 * Transpose: transpose matrices of elements of 1 to 16 bytes, and scale and transpose floats
 *
 * layout          storage order of A and B alike.
 * trans           TILEMM_TRANS to transpose, TILEMM_NO_TRANS for a scaled copy.
 * rows, cols      of src, of A, or of a before. If one is 0 the call succeeds at once.
 * elem_size       bytes of an element: 1, 2, 4, 8 or 16.
 * alpha           factor of A. If it is 0, A is not read and B is set to 0.
 * src, ld_src     the matrix, and its leading dimension: at least cols.
 * dst, ld_dst     where its transpose goes, and the leading dimension there: at least rows.
 * a               the matrix A, or what is transposed in place.
 * ld_in, ld_out   leading dimension of a before and after: at least cols, and at least rows.
 * lda, ldb        leading dimension of A, of B: at least its columns (row-major) or rows.
 * b               the matrix B.
 * batch_count     number of matrices. 0 succeeds at once.
 *
 * Returns TILEMM_INVALID_ARGUMENT for a NULL or misaligned pointer that would be used, a negative
 * size, another elem_size, a leading dimension that is too small, or a wrong enumerator;
 * TILEMM_OUT_OF_MEMORY; TILEMM_NOT_SUPPORTED (on CUDA, host operands while the stream is captured);
 * TILEMM_DEVICE_FAILURE.
 * ------------------------------------------------------------------------------------------ */

/* dst = transpose of src. src is rows x cols, row-major, with leading dimension ld_src >= cols;
 * dst is cols x rows, row-major, with ld_dst >= rows. elem_size is 1, 2, 4, 8 or 16 bytes, and
 * the pointers are aligned to it (16-byte elements: to 8), or the call is TILEMM_INVALID_ARGUMENT.
 * Elements are moved, never interpreted. A zero size succeeds at once. Asynchronous if both are on
 * the device. */
tilemm_status_t tilemm_transpose(tilemm_t ctx, int64_t rows, int64_t cols, size_t elem_size,
                                 const void *src, int64_t ld_src, void *dst, int64_t ld_dst);

/* tilemm_transpose for batch_count matrices: number i from src + i * stride_src elements to
 * dst + i * stride_dst elements. stride_src may be 0 or negative; the results must not overlap. */
tilemm_status_t tilemm_transpose_strided_batched(tilemm_t ctx, int64_t rows, int64_t cols,
                                                 size_t elem_size, const void *src, int64_t ld_src,
                                                 int64_t stride_src, void *dst, int64_t ld_dst,
                                                 int64_t stride_dst, int64_t batch_count);

/* Transpose in place: a is rows x cols with leading dimension ld_in >= cols before, and
 * cols x rows with leading dimension ld_out >= rows after. The memory must hold both. Elements
 * of a that belong to neither layout keep their value; those of the old layout alone hold
 * anything afterwards. Needs workspace of a few percent of the matrix, or of up to 4 MiB if that
 * is more, on a GPU of up to 1/256 of its memory; with less it is slower. On a GPU there must be
 * enough for the matrix; or 64 KiB, 128 bytes for each element of its shorter side, and 1/64 of the
 * matrix: with less it may return TILEMM_OUT_OF_MEMORY, a being as it was. Asynchronous if a is on
 * the device. */
tilemm_status_t tilemm_transpose_inplace(tilemm_t ctx, int64_t rows, int64_t cols, size_t elem_size,
                                         void *a, int64_t ld_in, int64_t ld_out);

/* B = alpha op(A), single precision: A is rows x cols; B is rows x cols for TILEMM_NO_TRANS and
 * cols x rows for TILEMM_TRANS; both in the same layout. If alpha is 0, A is not read and B is
 * set to 0. Asynchronous if both are on the device. */
tilemm_status_t tilemm_somatcopy(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t trans,
                                 int64_t rows, int64_t cols, float alpha, const float *a,
                                 int64_t lda, float *b, int64_t ldb);

/* A = alpha op(A) in place, from leading dimension lda to leading dimension ldb; otherwise as
 * tilemm_somatcopy and tilemm_transpose_inplace. */
tilemm_status_t tilemm_simatcopy(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t trans,
                                 int64_t rows, int64_t cols, float alpha, float *a, int64_t lda,
                                 int64_t ldb);

/* ------------------------------------------------------------------------------------------
 * Reduce: reduce a vector to its sum, norm, extreme or position, or two to their dot product
 *
 * What each reduction is, of no elements too, stands with tilemm_reduce_t. Asynchronous if
 * all operands and results are on the device.
 *
 * n           elements of a vector.
 * x, y        the vectors. If n is 0 they are not read, and may be NULL.
 * incx, incy  their increments, not 0.
 * result      receives the value.
 * index       receives the position, from 0.
 *
 * Returns TILEMM_INVALID_ARGUMENT for a negative n, an increment of 0, or a NULL or misaligned
 * pointer that would be used; TILEMM_OUT_OF_MEMORY; TILEMM_NOT_SUPPORTED (on CUDA, host operands
 * while the stream is captured); TILEMM_DEVICE_FAILURE.
 * ------------------------------------------------------------------------------------------ */

/* *result = the sum, sum of absolute values, Euclidean norm, largest or smallest element of the n
 * elements of x. */
tilemm_status_t tilemm_ssum(tilemm_t ctx, int64_t n, const float *x, int64_t incx, float *result);
tilemm_status_t tilemm_sasum(tilemm_t ctx, int64_t n, const float *x, int64_t incx, float *result);
tilemm_status_t tilemm_snrm2(tilemm_t ctx, int64_t n, const float *x, int64_t incx, float *result);
tilemm_status_t tilemm_smax(tilemm_t ctx, int64_t n, const float *x, int64_t incx, float *result);
tilemm_status_t tilemm_smin(tilemm_t ctx, int64_t n, const float *x, int64_t incx, float *result);

/* *result = the sum of x[i] * y[i], products exact, accumulated as every sum is. Under
 * TILEMM_NAN_IGNORE a product that is NaN is left out. x and y may be the same. */
tilemm_status_t tilemm_sdot(tilemm_t ctx, int64_t n, const float *x, int64_t incx, const float *y,
                            int64_t incy, float *result);

/* *index = the lowest index of the element with the largest absolute value (isamax), smallest
 * absolute value (isamin), largest value (ismax) or smallest value (ismin); -1 if n is 0 or, under
 * TILEMM_NAN_IGNORE, all elements are NaN. */
tilemm_status_t tilemm_isamax(tilemm_t ctx, int64_t n, const float *x, int64_t incx,
                              int64_t *index);
tilemm_status_t tilemm_isamin(tilemm_t ctx, int64_t n, const float *x, int64_t incx,
                              int64_t *index);
tilemm_status_t tilemm_ismax(tilemm_t ctx, int64_t n, const float *x, int64_t incx, int64_t *index);
tilemm_status_t tilemm_ismin(tilemm_t ctx, int64_t n, const float *x, int64_t incx, int64_t *index);

/* ------------------------------------------------------------------------------------------
 * Axes: reduce a matrix along its rows or columns, or a vector segment by segment
 *
 * What each reduction is, of no elements too, stands with tilemm_reduce_t. Asynchronous if
 * all operands and results are on the device.
 *
 * op          which reduction.
 * axis        along which axis.
 * layout      storage order of the matrix.
 * rows, cols  of the matrix.
 * a, lda      the matrix, and its leading dimension.
 * x           the vector that has the segments.
 * segments    how many they are.
 * out         receives the results.
 * incout      distance of results and of positions, not 0.
 *
 * Returns TILEMM_INVALID_ARGUMENT for a negative size, an increment of 0, a leading dimension that
 * is too small, a NULL or misaligned pointer that would be used, offsets on the host that decrease,
 * or a wrong enumerator;
 * TILEMM_OUT_OF_MEMORY; TILEMM_NOT_SUPPORTED (on CUDA, host operands while the stream is captured);
 * TILEMM_DEVICE_FAILURE.
 * ------------------------------------------------------------------------------------------ */

/* Reduce a rows x cols matrix along one axis: out has cols results for TILEMM_AXIS_ROWS, rows
 * results for TILEMM_AXIS_COLS, result j at out[j * incout] (walked from the far end if incout is
 * negative). Where the axis has length 0 the results are those of no elements. */
tilemm_status_t tilemm_sreduce(tilemm_t ctx, tilemm_reduce_t op, tilemm_axis_t axis,
                               tilemm_layout_t layout, int64_t rows, int64_t cols, const float *a,
                               int64_t lda, float *out, int64_t incout);

/* tilemm_sreduce for TILEMM_MAX, MIN, AMAX or AMIN (another op is TILEMM_INVALID_ARGUMENT) that
 * also stores where: index_out[j * incout] is the lowest position along the axis of the element
 * that is result j, -1 if there is none. out may be NULL if only the indices are wanted. */
tilemm_status_t tilemm_sargreduce(tilemm_t ctx, tilemm_reduce_t op, tilemm_axis_t axis,
                                  tilemm_layout_t layout, int64_t rows, int64_t cols,
                                  const float *a, int64_t lda, float *out, int64_t incout,
                                  int64_t *index_out);

/* out[s] = the reduction of x[offsets[s]] ... x[offsets[s + 1] - 1], for s from 0 to segments - 1.
 * offsets holds segments + 1 values that never decrease, the first not negative; x may be NULL if
 * they lie on the host and all segments are empty. Offsets in host memory are checked; where
 * offsets that lie on the device decrease, the segment counts as empty. */
tilemm_status_t tilemm_sreduce_segments(tilemm_t ctx, tilemm_reduce_t op, int64_t segments,
                                        const float *x, const int64_t *offsets, float *out);

/* ------------------------------------------------------------------------------------------
 * Model: what one warp's access to shared or global memory costs, load or store
 *
 * The memory model needs no context and no GPU. The command draws it: tilemm banks and tilemm
 * coalescing.
 *
 * cc            compute capability, major * 10 + minor: 10 or more. Chips newer than the model
 *               knows follow its newest rule.
 * access        the access of a warp.
 * cost          receives what it costs.
 * cached_in_l1  whether L1 caches the access; it matters on 2.x and 3.x.
 * is_store      whether the access is a store, which never goes through L1 there.
 *
 * Returns TILEMM_INVALID_ARGUMENT for a NULL, a cc below 10, or a bad width or misaligned address;
 * tilemm_model_check says which.
 * ------------------------------------------------------------------------------------------ */

/* One access of a warp: lane i, if bit i of active is set, accesses elem_bytes (1, 2, 4, 8 or 16)
 * bytes at byte address addr[i], which must be a multiple of elem_bytes. */
typedef struct {
    int elem_bytes;
    uint32_t active;
    uint64_t addr[32];
} tilemm_warp_access_t;

/* What an access to shared memory costs. */
typedef struct {
    int wavefronts; /* passes through the banks that the access takes */
    int ideal;      /* passes that it would take if no two lanes fought for a bank */
    int conflicts;  /* wavefronts - ideal */
    int degree;     /* the worst bank's ways: 1 is free of conflicts, 0 has no active lane */
} tilemm_shared_cost_t;

/* What an access to global memory costs. */
typedef struct {
    int transactions;            /* segments, lines or sectors that are moved */
    int transaction_bytes_total; /* bytes of them */
    int bytes_requested;         /* distinct bytes that the active lanes want */
    double efficiency; /* bytes_requested / transaction_bytes_total; 1 with no active lane */
} tilemm_global_cost_t;

/* The cost of a shared-memory access. A wider access than one pass can move is served in groups of
 * lanes, each of which is a pass of its own even when ideal. On 3.x elements of up to 4 bytes are
 * modelled in the banks' 4-byte mode, wider ones in 8-byte mode. */
tilemm_status_t tilemm_model_shared(int cc, const tilemm_warp_access_t *access,
                                    tilemm_shared_cost_t *cost);

/* The same for a load, which costs less in one case: from 5.x on (measured on 9.0) every two
 * neighbouring groups of lanes are served as one where lanes 2 i and 2 i + 1, for every i, want the
 * same element, or one of them is not active; or likewise lanes i and i + 2 of every four. */
tilemm_status_t tilemm_model_shared_load(int cc, const tilemm_warp_access_t *access,
                                         tilemm_shared_cost_t *cost);

/* The cost of a global-memory access likewise: the segments, lines or sectors that are moved. */
tilemm_status_t tilemm_model_global(int cc, int cached_in_l1, int is_store,
                                    const tilemm_warp_access_t *access, tilemm_global_cost_t *cost);

/* Says why the model refuses an access: TILEMM_SUCCESS, and an empty message, if it does not. The
 * message, cut to `size` bytes with its NUL, names what is wrong, its value and what it must be:
 * "addr[7] = 30, must be a multiple of elem_bytes = 4". It may be NULL if size is 0. */
tilemm_status_t tilemm_model_check(int cc, const tilemm_warp_access_t *access, char *message,
                                   size_t size);

/* What a lane has of one bank: part number `part` (of 4 bytes, of 8 in 3.x's 8-byte mode) of its
 * element, in that wavefront of the access, counted from 0. A group of lanes is served together: a
 * wavefront that is not the first of its group is a conflict. */
typedef struct {
    int lane, part;
    int bank; /* 0 to 31; 0 to 15 on 1.x */
    int group, wavefront;
} tilemm_bank_use_t;

enum { TILEMM_MODEL_MOST_USES = 128 };

/* The picture behind tilemm_model_shared() or, where is_store is 0, tilemm_model_shared_load():
 * every lane's use of the banks, *count of them, in the order of groups of lanes. uses has room for
 * TILEMM_MODEL_MOST_USES. (The wavefront more that 2.x takes for 16-byte elements comes last, and
 * has no uses.) */
tilemm_status_t tilemm_model_banks(int cc, int is_store, const tilemm_warp_access_t *access,
                                   tilemm_bank_use_t *uses, int *count);

/* One transaction: `bytes` bytes at the byte address `addr`. */
typedef struct {
    uint64_t addr;
    int bytes;
} tilemm_transaction_t;

/* The picture behind tilemm_model_global(): what is moved, *count transactions. moved has room for
 * 32 of them. */
tilemm_status_t tilemm_model_transactions(int cc, int cached_in_l1, int is_store,
                                          const tilemm_warp_access_t *access,
                                          tilemm_transaction_t *moved, int *count);

/* ------------------------------------------------------------------------------------------
 * Tiles: where a tile's elements lie in shared memory, and the layout without bank conflicts
 * ------------------------------------------------------------------------------------------ */

/* How warps walk a tile: the lanes of a warp take a block of `high` rows by `wide` columns at a
 * time, lane i being in its row i / wide and column i % wide, and every lane takes `vector`
 * neighbours of a row at once. 1 x 32 is an access along rows, 32 x 1 one down columns. */
typedef struct {
    int high, wide; /* high * wide is 1 to 32 */
    int vector;     /* 1, 2, 4, 8 or 16; vector * elem_bytes is at most 16 */
} tilemm_tile_access_t;

/* Where a tile's elements lie: see tilemm_model_tile_index(). */
typedef struct {
    int pitch;              /* elements from one row to the next */
    int group, shift, mask; /* the swizzle; mask 0 has none */
    int conflicts;          /* of all accesses that walk the tile once, together */
} tilemm_tile_layout_t;

/* The index of element (row, col) in this layout: row * pitch + col, where groups of `group`
 * elements are permuted within each group * (mask + 1), another way for each (row >> shift) & mask:
 * row * pitch + (col ^ ((row >> shift) & mask) * group). */
int64_t tilemm_model_tile_index(const tilemm_tile_layout_t *layout, int row, int col);

/* The layout of a shared tile of rows x cols elements (of at most 256 KiB) with the fewest
 * conflicts for `count` given accesses. With swizzle 0 the smallest pad does it: pitch is cols or
 * more, mask 0. Otherwise a swizzle, which takes no room: pitch is cols, and of equally good ones
 * the one with the smallest mask, group and shift is taken. best->conflicts tells whether all are
 * gone. cc and elem_bytes are as in tilemm_model_shared. Returns TILEMM_INVALID_ARGUMENT for a
 * NULL, a value that is not as said above, or a `vector` that does not divide cols. */
tilemm_status_t tilemm_model_best_padding(int cc, int rows, int cols, int elem_bytes,
                                          const tilemm_tile_access_t *accesses, int count,
                                          int swizzle, tilemm_tile_layout_t *best);

#ifdef __cplusplus
}
#endif

#endif /* TILEMM_H */
