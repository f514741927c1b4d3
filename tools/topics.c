/* topics.c - see topics.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "topics.h"

#include <stdio.h>

#include "bench.h"

const variable_t variables[VARIABLES] = {
    {"TILEMM_BACKEND", "auto, cpu, cuda", "where to compute, if a program leaves that open"},
    {"TILEMM_ARCH", "generic, avx2, avx512, amx, neon, sm80, sm90a, ...",
     "the highest instruction set to use, of the CPU or of the GPU"},
    {"TILEMM_DEVICES", "numbers of devices, such as 0,1",
     "the GPUs to use together, if a program leaves that open"},
    {"TILEMM_PEER", "0, 1", "0: GPUs do not copy straight from each other"},
    {"TILEMM_NUM_THREADS", "1 to 65536",
     "threads on the CPU (OMP_NUM_THREADS, or one a processor)"},
    {"TILEMM_MATH", "fp32, strict, tf32", "how to compute, if a program leaves that open"},
    {"TILEMM_INVARIANCE", "none, batch, across", "what a product's bits may depend on"},
    {"TILEMM_VARIANT", "the beginning of a kernel's name", "which GPU kernels to choose from"},
    {"TILEMM_TIMELINE", "a file", "CSV of when each step of a call from host memory ran"},
    {"TILEMM_TUNING", "a file, none",
     "what 'tilemm tune' found (tilemm/tuning in XDG_CONFIG_HOME or ~/.config)"},
    {"TILEMM_LOG", "0, 1", "1: print each call as a 'tilemm bench' command line"},
    {"OMP_NUM_THREADS", "from 1", "threads on the CPU where TILEMM_NUM_THREADS is not set"},
    {"TILEMM_REFERENCE_BLAS", "a file, none", "the CBLAS to compare with, in place of OpenBLAS"},
    {"TILEMM_MODULE_DIR", "a folder",
     "where libtilemm-cuda.so and tilemm-cub.so are looked for first"},
    {"TILEMM_BLAS", "auto, cpu, cuda, off",
     "of libtilemm-blas.so: where a program's BLAS calls go"},
    {"TILEMM_BLAS_REPORT", "0, 1", "1: it prints at exit where they went"},
    {"TILEMM_MPI_IPC", "0, 1", "0: processes of one host do not reach each other's GPU memory"},
    {"TILEMM_MPI_LOG", "0, 1", "1: libtilemm-mpi.so says how each product's panels travel"},
    {"TILEMM_MPI_NCCL", "0, 1", "0: its panels travel by MPI, not by NCCL"},
    {"TILEMM_MPI_PANEL", "from 1", "lines of a panel"},
    {"TILEMM_MPI_CHECK", "0, 1", "1: libtilemm-mpi.so says which arguments of processes differ"},
    {"TILEMM_SCALAPACK", "auto, cpu, cuda, off",
     "of libtilemm-scalapack.so: where a program's ScaLAPACK calls go"},
    {"TILEMM_REFERENCE_SCALAPACK", "a file, none", "the ScaLAPACK that tilemm-mpi compares with"},
    {"CUDA_VISIBLE_DEVICES", "as the CUDA driver says", "which GPUs there are"},
    {"CUDA_HOME", "a folder", "where cuBLAS is looked for after the linker's folders"},
    {"CUDA_PATH", "a folder", "likewise"},
};

static void print_environment(void)
{
    puts("The variables that matter to libtilemm and this command. The library reads its own when "
         "a\n"
         "context is created, and refuses a value that is not listed.\n");
    for (int i = 0; i < VARIABLES; i++)
        printf("  %s\n      %s\n      %s\n", variables[i].name, variables[i].values,
               variables[i].text);
}

static void print_suites(void)
{
    static const char *const verbs[] = {
        [BENCH_GEMM] = "gemm", [BENCH_TRANSPOSE] = "transpose", [BENCH_REDUCE] = "reduce"};
    puts("A suite is a fixed list of work that 'tilemm bench [VERB] --suite NAME' measures, each\n"
         "piece with the ratio to its peer's speed that is aimed at on that kind of chip. Without "
         "a\n"
         "verb those of all verbs are measured.\n");
    for (const word_t *word = suite_words; word->name; word++) {
        const char *between = "";
        printf("  %-10s", word->name);
        for (int verb = BENCH_GEMM, count; verb <= BENCH_REDUCE; verb++)
            if (bench_suite((bench_verb_t)verb, word->name, &count)) {
                printf("%s%s (%d)", between, verbs[verb], count);
                between = ", ";
            }
        putchar('\n');
    }
    puts(
        "\nh200 is for that GPU; everyday, ragged (random shapes) and data for any GPU; host\n"
        "for any GPU with operands in the host's memory, whose sizes shrink to what it holds;\n"
        "cpu for any CPU in strict mode,\n"
        "cpu-avx2 for one without AVX-512; cpu-amx for the modes fp32 and tf32 on a CPU with AMX.\n"
        "A suite chooses no instruction set: TILEMM_ARCH does for libtilemm, OPENBLAS_CORETYPE\n"
        "for OpenBLAS.\n\n"
        "The suite data has the families of 'tilemm bench gemm --data' down to inf-nan:\n");
    for (int family = 0; family < DATA_FAMILIES; family++)
        printf("  %-14s %s\n", data_name((data_t)family), data_text((data_t)family));
}

static void print_expressions(void)
{
    puts(
        "'tilemm banks' and 'tilemm coalescing' take with --expr the number of the element that a\n"
        "lane accesses, an expression of 64-bit integers as in C:\n\n"
        "  lane       0 to 31\n"
        "  row, col   where the lane lies, by --access and --at\n"
        "  i          the value of --i\n"
        "  numbers    decimal, or hexadecimal after 0x\n"
        "  operators  ~ - (of one operand)   * / %   + -   << >>   &   ^   |   ( )\n"
        "             the first bind tightest, as in C\n\n"
        "An overflow, a division by zero and a negative element are refused. Examples:\n\n"
        "  tilemm banks --expr 'row*32 + (col ^ row)' --access column     a swizzled tile\n"
        "  tilemm banks --expr 'row*33 + col' --access column             a padded one\n"
        "  tilemm coalescing --expr 'lane * 2 + i' --i 1                  every other element");
}

static void print_files(void)
{
    puts("gemm, transpose and reduce take and write NumPy's .npy files: numpy.save, numpy.load.\n\n"
         "  read       versions 1.0 to 3.0, C or Fortran order; vectors and matrices. gemm and\n"
         "             reduce take float32 in this machine's byte order; transpose any type of 1, "
         "2,\n"
         "             4, 8 or 16 bytes, in either\n"
         "             Files are mapped: they, and results of gemm and transpose, may be larger "
         "than\n"
         "             memory\n"
         "  written    version 1.0, C order: to a temporary name in the same folder, which is "
         "renamed\n"
         "             when all is written. A failure leaves the older file as it was");
}

const topic_t topics[TOPICS] = {
    {"environment", "the environment variables", print_environment},
    {"suites", "the fixed lists of 'tilemm bench --suite'", print_suites},
    {"expressions", "what --expr of banks and coalescing takes", print_expressions},
    {"files", "the .npy files", print_files},
};
