dnl TILEMM_MPI - MPI, for libtilemm-mpi.so: what `mpicc -show` adds to a compiler's command line.
dnl Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
AC_DEFUN([TILEMM_MPI], [
  AC_ARG_WITH([mpi],
    [AS_HELP_STRING([--with-mpi@<:@=MPICC@:>@],
      [build libtilemm-mpi.so, for matrices that are spread over processes, with the MPI of this
       command (default: of mpicc, if it is there and shared libraries are built)])],
    [], [with_mpi=check])
  tilemm_mpi=no
  MPI_CFLAGS= MPI_LIBS= MPICC=
  AS_CASE([$with_mpi],
    [no], [],
    [check], [AS_IF([test "x$cross_compiling" != xyes && test "x$enable_shared" = xyes],
                    [AC_PATH_PROG([MPICC], [mpicc])])],
    [yes], [AC_PATH_PROG([MPICC], [mpicc])],
    [AC_PATH_PROG([MPICC], [$with_mpi], [], [])])
  AS_IF([test -n "$MPICC"], [
    for tilemm_word in `$MPICC -show -c 2>/dev/null` `$MPICC -show 2>/dev/null`; do
      AS_CASE([$tilemm_word],
        [-I*|-D*], [AS_CASE([" $MPI_CFLAGS "], [*" $tilemm_word "*], [],
                            [MPI_CFLAGS="$MPI_CFLAGS $tilemm_word"])],
        [-L*|-l*|-Wl,-rpath*], [AS_CASE([" $MPI_LIBS "], [*" $tilemm_word "*], [],
                                        [MPI_LIBS="$MPI_LIBS $tilemm_word"])])
    done
    tilemm_save_CPPFLAGS=$CPPFLAGS tilemm_save_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $MPI_CFLAGS" LIBS="$MPI_LIBS $LIBS"
    AC_MSG_CHECKING([whether MPI of $MPICC links])
    AC_LINK_IFELSE(
      [AC_LANG_PROGRAM([[#include <mpi.h>
#if MPI_VERSION < 3
#error "MPI 3 is needed"
#endif]], [[MPI_Request request; return MPI_Ibcast(0, 0, MPI_FLOAT, 0, MPI_COMM_WORLD, &request);]])],
      [tilemm_mpi=$MPICC])
    AC_MSG_RESULT([$tilemm_mpi])
    CPPFLAGS=$tilemm_save_CPPFLAGS LIBS=$tilemm_save_LIBS])
  AS_IF([test "x$tilemm_mpi" = xno && test "x$with_mpi" != xno && test "x$with_mpi" != xcheck],
        [AC_MSG_ERROR([--with-mpi: no MPI 3 found; name its mpicc])])
  AS_IF([test "x$tilemm_mpi" != xno && test "x$enable_shared" != xyes],
        [AC_MSG_ERROR([--with-mpi: libtilemm-mpi is a shared library; remove --disable-shared])])
  AC_SUBST([MPI_CFLAGS])
  AC_SUBST([MPI_LIBS])
  AM_CONDITIONAL([HAVE_MPI], [test "x$tilemm_mpi" != xno])
])
