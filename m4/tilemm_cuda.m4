dnl TILEMM_CUDA - find nvcc and cudart, and settle which architectures to build for.
dnl Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

dnl A shell command: compile conftest.cu for $tilemm_cuda_try.
m4_define([TILEMM_NVCC_COMPILES],
  [{ echo "configure: compiling for $tilemm_cuda_try"
     "$NVCC" -gencode=arch=compute_$tilemm_cuda_try,code=sm_$tilemm_cuda_try -I"$srcdir" $CUDA_CPPFLAGS $NVCCFLAGS \
       -c -o conftest.cu.o conftest.cu; } >&AS_MESSAGE_LOG_FD 2>&1])

AC_DEFUN([TILEMM_CUDA], [
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],
      [build the CUDA backend with the toolkit in DIR (default: nvcc in PATH, else
       /usr/local/cuda; without it the CPU backend alone is built)])],
    [], [with_cuda=check])
  AC_ARG_WITH([cuda-arch],
    [AS_HELP_STRING([--with-cuda-arch=LIST],
      [compute capabilities to build for, separated by commas, and PTX of the newest
       (default: those of 75,80,86,89,90a,100,120 that nvcc builds for)])],
    [], [with_cuda_arch=default])
  AC_ARG_WITH([cudart],
    [AS_HELP_STRING([--with-cudart=static|shared], [which CUDA runtime to link (default: static)])],
    [], [with_cudart=static])
  AS_CASE([$with_cudart], [static|shared], [],
          [AC_MSG_ERROR([--with-cudart=$with_cudart: must be static or shared])])

  AC_ARG_VAR([NVCC], [the CUDA compiler])
  AC_ARG_VAR([NVCCFLAGS], [flags for the CUDA compiler])
  : ${NVCCFLAGS="-O3"}
  have_cuda=no
  tilemm_cuda_summary="no"
  AS_IF([test "x$with_cuda" != xno], [
    AS_IF([test "x$with_cuda" != xyes && test "x$with_cuda" != xcheck],
      [AC_PATH_PROG([NVCC], [nvcc], [], [$with_cuda/bin])],
      [AC_PATH_PROG([NVCC], [nvcc], [], [$PATH$PATH_SEPARATOR/usr/local/cuda/bin])])
    AS_IF([test -n "$NVCC"], [have_cuda=yes], [
      tilemm_cuda_summary="no (nvcc was not found)"
      AS_IF([test "x$with_cuda" != xcheck],
            [AC_MSG_ERROR([--with-cuda: nvcc was not found; name the toolkit's folder])])])
  ], [tilemm_cuda_summary="no (--without-cuda)"])

  dnl nvcc builds for this machine's processor only, unless told much more.
  AS_IF([test "x$have_cuda" = xyes && test "x$cross_compiling" = xyes && test "x$with_cuda" = xcheck],
        [have_cuda=no; tilemm_cuda_summary="no (cross-compiling)"])

  AS_IF([test "x$have_cuda" = xyes], [
    dnl The toolkit's root, as nvcc itself reports it.
    CUDA_ROOT=`"$NVCC" --dryrun -x cu -E /dev/null 2>&1 | $SED -n 's/^#\$ TOP=//p' | tail -n 1`
    AS_IF([test -d "$CUDA_ROOT"], [], [CUDA_ROOT=`dirname "$NVCC"`/..])
    CUDA_ROOT=`cd "$CUDA_ROOT" && pwd`
    CUDA_CPPFLAGS="-I$CUDA_ROOT/include"
    CUDA_LIBDIR=
    for dir in "$CUDA_ROOT/lib64" "$CUDA_ROOT/targets/$host_cpu-linux/lib" "$CUDA_ROOT/lib" \
               "$CUDA_ROOT/lib/$host_cpu-linux-gnu" "/usr/lib/$host_cpu-linux-gnu"; do
      AS_IF([test -z "$CUDA_LIBDIR" && { test -f "$dir/libcudart_static.a" || test -f "$dir/libcudart.so"; }],
            [CUDA_LIBDIR=$dir])
    done
    AS_IF([test -f "$CUDA_ROOT/include/cuda_runtime_api.h"], [],
          [AS_IF([test -f /usr/include/cuda_runtime_api.h], [CUDA_CPPFLAGS=])])

    tilemm_save_CPPFLAGS=$CPPFLAGS; tilemm_save_LDFLAGS=$LDFLAGS; tilemm_save_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
    AS_IF([test -n "$CUDA_LIBDIR"], [CUDA_LDFLAGS="-L$CUDA_LIBDIR"], [CUDA_LDFLAGS=])
    LDFLAGS="$LDFLAGS $CUDA_LDFLAGS${CUDA_LIBDIR:+ -Wl,-rpath,$CUDA_LIBDIR}"
    AS_IF([test "x$with_cudart" = xstatic],
          [CUDA_LIBS="-lcudart_static -lrt -lpthread -ldl"], [CUDA_LIBS="-lcudart"])
    LIBS="$CUDA_LIBS $LIBS"
    dnl The linker may find another toolkit's runtime, which knows no kernel of this nvcc.
    AC_MSG_CHECKING([for the CUDA runtime ($with_cudart)])
    AC_RUN_IFELSE([AC_LANG_PROGRAM([[#include <cuda_runtime_api.h>]],
        [[int n; return !cudaRuntimeGetVersion(&n) && n / 1000 != CUDART_VERSION / 1000;]])],
      [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
       AS_IF([test "x$with_cuda" = xcheck],
             [have_cuda=no; tilemm_cuda_summary="no (nvcc is there, its runtime is not usable)"],
             [AC_MSG_ERROR([--with-cuda: the CUDA runtime ($with_cudart) of $CUDA_ROOT was not found or cannot be linked])])],
      [AC_MSG_RESULT([not tried: cross-compiling])])
    CPPFLAGS=$tilemm_save_CPPFLAGS; LDFLAGS=$tilemm_save_LDFLAGS; LIBS=$tilemm_save_LIBS
  ])

  AS_IF([test "x$have_cuda" = xyes], [
    tilemm_nvcc_version=`"$NVCC" --version | $SED -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p'`
    NVCC_GENCODE=
    NVCC_GENCODE_SM90=
    tilemm_cuda_archs=
    tilemm_cuda_newest=
    tilemm_cuda_unknown=
    AS_IF([test "x$with_cuda_arch" = xdefault || test "x$with_cuda_arch" = xyes],
          [tilemm_cuda_list=75,80,86,89,90a,100,120], [tilemm_cuda_list=$with_cuda_arch])
    dnl From 9.0 on kernels take instructions for clusters, of CUDA 12.1 on.
    AS_ECHO(['#include "kernels/cuda/cluster.cuh"
static __shared__ uint64_t mail;
static __shared__ float4 value;
__global__ void f(float *out)
{
    mail_expect(&mail, 16);
    cluster_sync();
    mail_push(&mail, &value, value);
    mail_wait(&mail);
    *out = cluster_sum<8>(&value.x, 8);
}']) >conftest.cu
    for arch in `echo "$tilemm_cuda_list" | tr ',;' '  '`; do
      number=`echo "$arch" | $SED 's/@<:@af@:>@$//'`
      AS_CASE([",$tilemm_cuda_archs,"], [*",$arch,"*], [continue])
      AS_CASE([$number], [''|*@<:@!0-9@:>@*],
              [AC_MSG_ERROR([--with-cuda-arch: $arch: must be like 80 or 90a])])
      AS_IF([test "$number" -lt 75],
            [AC_MSG_ERROR([--with-cuda-arch: $arch: must be at least 75])])
      AC_MSG_CHECKING([whether $NVCC builds for $arch])
      tilemm_cuda_try=$arch
      AS_IF([TILEMM_NVCC_COMPILES], [],
            [tilemm_cuda_unknown="$tilemm_cuda_unknown${tilemm_cuda_unknown:+,}$arch"
             tilemm_cuda_try=no])
      AC_MSG_RESULT([$tilemm_cuda_try])
      AS_IF([test "x$tilemm_cuda_try" != xno], [
        NVCC_GENCODE="$NVCC_GENCODE -gencode=arch=compute_$tilemm_cuda_try,code=sm_$tilemm_cuda_try"
        AS_IF([test "$tilemm_cuda_try" = 90a],
              [NVCC_GENCODE_SM90=-gencode=arch=compute_90a,code=sm_90a])
        tilemm_cuda_archs="$tilemm_cuda_archs${tilemm_cuda_archs:+,}$tilemm_cuda_try"
        AS_IF([test "$number" -gt "${tilemm_cuda_newest:-0}"], [tilemm_cuda_newest=$number])
      ], [test "x$tilemm_cuda_list" = "x$with_cuda_arch"],
         [AC_MSG_ERROR([--with-cuda-arch: nvcc $tilemm_nvcc_version does not build for $arch: see config.log])])
    done
    AS_IF([test -n "$tilemm_cuda_newest"],
          [NVCC_GENCODE="$NVCC_GENCODE -gencode=arch=compute_$tilemm_cuda_newest,code=compute_$tilemm_cuda_newest"],
          [test "x$with_cuda" != xcheck],
          [AC_MSG_ERROR([--with-cuda: $NVCC does not compile: see config.log])],
          [have_cuda=no; tilemm_cuda_summary="no ($NVCC does not compile: see config.log)"])
    dnl The Hopper kernels take instructions of sm_90a, and tensor maps, of CUDA 12.0 on.
    tilemm_hopper=no
    AS_IF([test -n "$NVCC_GENCODE_SM90"], [
      AC_MSG_CHECKING([for CUtensorMap])
      printf '%s\n' '@%:@include <cuda.h>' 'CUtensorMap map;' >conftest.cu
      tilemm_cuda_try=90a
      AS_IF([TILEMM_NVCC_COMPILES], [tilemm_hopper=yes])
      AC_MSG_RESULT([$tilemm_hopper])
    ])
    rm -f conftest.cu conftest.cu.o
  ])

  AS_IF([test "x$have_cuda" = xyes], [
    tilemm_cuda_summary="nvcc $tilemm_nvcc_version in $CUDA_ROOT, for $tilemm_cuda_archs and PTX $tilemm_cuda_newest, $with_cudart runtime"
    AS_IF([test -n "$tilemm_cuda_unknown"],
          [tilemm_cuda_summary="$tilemm_cuda_summary; this nvcc does not build for $tilemm_cuda_unknown"])
    AS_IF([test "x$tilemm_hopper" = xno],
          [tilemm_cuda_summary="$tilemm_cuda_summary; without the kernels for Hopper, which take 90a (CUDA 12.1)"])
    tilemm_cuda_backend=", cuda"
    AC_DEFINE([TILEMM_HAVE_CUDA], [1], [Define to 1 if the CUDA backend is built.])
    AC_DEFINE_UNQUOTED([TILEMM_CUDA_ARCHS], ["$tilemm_cuda_archs,ptx$tilemm_cuda_newest"],
                       [What GPU code is built for.])
    AC_DEFINE_UNQUOTED([TILEMM_CUDA_LIBDIR], ["$CUDA_LIBDIR"],
                       [Where benchmarks look for cuBLAS after the usual places.])
  ], [CUDA_CPPFLAGS=; CUDA_LDFLAGS=; CUDA_LIBS=; NVCC_GENCODE=; NVCC_GENCODE_SM90=; tilemm_cuda_backend=])

  tilemm_cub=no
  dnl The command loads the module at run time, so there must be shared libraries.
  AS_IF([test "x$have_cuda" = xyes && test "x$enable_shared$enable_tools" = xyesyes && { test -f "$CUDA_ROOT/include/cub/device/device_reduce.cuh" ||
         test -f "$CUDA_ROOT/include/cccl/cub/device/device_reduce.cuh"; }],
        [tilemm_cub=yes; tilemm_cuda_summary="$tilemm_cuda_summary, CUB for benchmarks"])
  AC_SUBST([CUDA_CPPFLAGS])
  AC_SUBST([CUDA_LDFLAGS])
  AC_SUBST([CUDA_LIBS])
  AC_SUBST([NVCC_GENCODE])
  AC_SUBST([NVCC_GENCODE_SM90])
  AM_CONDITIONAL([HAVE_CUDA], [test "x$have_cuda" = xyes])
  AM_CONDITIONAL([HAVE_HOPPER], [test "x$tilemm_hopper" = xyes])
  AM_CONDITIONAL([HAVE_CUB], [test "x$tilemm_cub" = xyes])
])
