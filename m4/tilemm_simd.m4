dnl TILEMM_SIMD - which instruction sets the compiler can build kernels for.
dnl Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

dnl TILEMM_TRY_SIMD(name, NAME, flags, host pattern, [includes], [body]): sets have_name, <NAME>_CFLAGS, HAVE_<NAME>
AC_DEFUN([TILEMM_TRY_SIMD], [
  have_$1=no
  AS_CASE([$host_cpu-$host_os], [$4], [
    AC_MSG_CHECKING([whether $CC builds $1 kernels])
    tilemm_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $3"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([$5], [$6])], [have_$1=yes])
    CFLAGS=$tilemm_save_CFLAGS
    AC_MSG_RESULT([$have_$1])])
  AS_IF([test "x$have_$1" = xyes], [
    AC_DEFINE([TILEMM_HAVE_$2], [1], [Define to 1 if $1 kernels are built.])
    tilemm_simd="$tilemm_simd $1"])
  AC_SUBST([$2_CFLAGS], ["$3"])
  AM_CONDITIONAL([HAVE_$2], [test "x$have_$1" = xyes])
])

AC_DEFUN([TILEMM_SIMD], [
  tilemm_simd=generic
  TILEMM_TRY_SIMD([neon], [NEON], [], [aarch64*])
  TILEMM_TRY_SIMD([avx2], [AVX2], [-mavx2 -mfma], [x86_64*])
  TILEMM_TRY_SIMD([avx512], [AVX512], [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma], [x86_64*])
  dnl Tile registers must be asked for, which is done for Linux; AVX-512 makes their operands.
  TILEMM_TRY_SIMD([amx], [AMX], [$AVX512_CFLAGS -mamx-tile -mamx-bf16], [x86_64*linux*],
    [#include <immintrin.h>], [_tile_dpbf16ps(0, 1, 2)])
])
