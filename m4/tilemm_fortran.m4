dnl TILEMM_FORTRAN - gfortran, which makes a module and a library of fortran/tilemm.f90.
dnl Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
AC_DEFUN([TILEMM_FORTRAN], [
  AC_ARG_ENABLE([fortran],
    [AS_HELP_STRING([--disable-fortran],
      [install the Fortran module as source alone (default: compiled too, where gfortran is found)])],
    [], [enable_fortran=check])
  AC_ARG_VAR([FC], [the Fortran compiler, a gfortran])
  AC_ARG_VAR([FCFLAGS], [flags for the Fortran compiler])
  : ${FCFLAGS="-O2"}
  AS_IF([test "x$enable_fortran" = xno], [FC=], [
    AC_CHECK_PROGS([FC], [${ac_tool_prefix}gfortran])
    AS_IF([test -z "$FC" && test "x$cross_compiling" != xyes], [AC_CHECK_PROGS([FC], [gfortran])])
    AC_MSG_CHECKING([whether ${FC:-gfortran} compiles the Fortran module])
    mkdir conftest.dir
    AS_IF([test -n "$FC" && { $FC $FCFLAGS -fPIC -Jconftest.dir -c -o conftest.o \
             "$srcdir/fortran/tilemm.f90"; } >&AS_MESSAGE_LOG_FD 2>&1],
          [AC_MSG_RESULT([yes])],
          [AC_MSG_RESULT([no])
           AS_IF([test "x$enable_fortran" = xyes],
                 [AC_MSG_ERROR([--enable-fortran: no gfortran compiles fortran/tilemm.f90: see config.log])])
           FC=])
    rm -rf conftest.dir conftest.o])
  AM_CONDITIONAL([HAVE_FORTRAN], [test -n "$FC"])
])
