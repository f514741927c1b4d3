dnl TILEMM_PYTHON - a Python for which the package tilemm is installed.
dnl Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
AC_DEFUN([TILEMM_PYTHON], [
  AC_ARG_WITH([python],
    [AS_HELP_STRING([--with-python@<:@=PYTHON@:>@],
      [install the Python package for this Python, 3.9 or later (default: where there is one and the library is shared)])],
    [], [with_python=check])
  AS_CASE([$with_python], [no], [PYTHON=:], [yes|check], [], [PYTHON=$with_python])
  AS_IF([test "x$with_python" = xcheck && test "x$enable_shared" != xyes], [with_python=no PYTHON=:])
  tilemm_pythondir_given=${am_cv_python_pythondir+yes}
  AS_IF([test "x$PYTHON" != x:],
    [AM_PATH_PYTHON([3.9], [], [PYTHON=:])
     AS_IF([test "x$PYTHON" = x: && test "x$with_python" != xcheck],
           [AC_MSG_ERROR([--with-python: no Python 3.9 or later was found])])])
  dnl Debian's Python looks in dist-packages, of which Automake does not know: the folder below the prefix that it looks in.
  AS_IF([test "x$PYTHON" != x: && test -z "$tilemm_pythondir_given"],
    [AS_CASE([$prefix], [NONE], [tilemm_prefix=$ac_default_prefix], [tilemm_prefix=$prefix])
     tilemm_below=`"$PYTHON" -c 'import sys; p = sys.argv@<:@1@:>@
print(next((x.removeprefix(p) for x in sys.path if x.startswith(p + "/lib/") and x.endswith("-packages")), ""))' "$tilemm_prefix"`
     AS_IF([test -n "$tilemm_below"], [pythondir="\${PYTHON_PREFIX}$tilemm_below"])])
  AM_CONDITIONAL([HAVE_PYTHON], [test "x$PYTHON" != x:])
  AS_IF([test "x$PYTHON" = x:], [tilemm_python=none], [tilemm_python="$PYTHON, package in $pythondir"])
])
