dnl TILEMM_REFERENCE_BLAS - OpenBLAS, which tests and benchmarks load at run time to compare with.
dnl Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
AC_DEFUN([TILEMM_REFERENCE_BLAS], [
  AC_ARG_WITH([reference-blas],
    [AS_HELP_STRING([--with-reference-blas@<:@=FILE|DIR@:>@],
      [the OpenBLAS that tests and benchmarks compare with: a shared library or where it is
       (default: the linker's); the library itself never uses it])],
    [], [with_reference_blas=check])
  tilemm_reference_blas=no
  tilemm_reference_blas_file=
  AS_CASE([$with_reference_blas],
    [no], [tilemm_reference_blas_file=none],
    [yes|check], [
      tilemm_save_LIBS=$LIBS
      AC_CHECK_LIB([openblas], [cblas_sgemm], [tilemm_reference_blas=OpenBLAS],
        [AS_IF([test "x$with_reference_blas" = xyes],
               [AC_MSG_ERROR([--with-reference-blas: no OpenBLAS found; name its file])])])
      LIBS=$tilemm_save_LIBS],
    [for dir in "" / /lib/ /lib64/ "/lib/$host_cpu-linux-gnu/"; do
       for name in "" libopenblas.so libopenblas.so.0; do
         file=$with_reference_blas$dir$name
         AS_IF([test -z "$tilemm_reference_blas_file" && test -f "$file"],
               [tilemm_reference_blas_file=$file])
       done
     done
     AS_IF([test -z "$tilemm_reference_blas_file"],
           [AC_MSG_ERROR([--with-reference-blas: no library at $with_reference_blas])])
     tilemm_reference_blas=$tilemm_reference_blas_file])
  AS_IF([test -n "$tilemm_reference_blas_file"],
    [AC_DEFINE_UNQUOTED([TILEMM_REFERENCE_BLAS_FILE], ["$tilemm_reference_blas_file"],
      [The file of the reference BLAS, if configure was given one; "none" for none.])])
])
