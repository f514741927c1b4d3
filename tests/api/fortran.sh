#!/bin/sh
# fortran.sh - a Fortran program that uses the library: built from the module's source, and with the
# module and library made of it. Enumerators have their values, structures their sizes.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

if [ -z "$FC" ]; then
    echo "skipped: there is no gfortran"
    exit 77
fi
build=$(pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
fail() {
    echo "failed: $*" >&2
    exit 1
}

library="-L$build/.libs -ltilemm"
if [ ! -f "$build/.libs/libtilemm.so" ]; then
    library="$build/.libs/libtilemm.a $STATIC_LIBS"
fi
# fortran ARGUMENT...: no warning is allowed. The results compared are whole numbers.
fortran() {
    # shellcheck disable=SC2086 # flags and libraries are words
    $FC -std=f2018 -Wall -Wextra -Wno-compare-reals -Werror "$@" $library || fail "$FC $*"
}
# run PROGRAM
run() {
    # shellcheck disable=SC2086 # the emulator is words
    LD_LIBRARY_PATH="$build/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $RUN "./$1"
}

fortran "$source/fortran/tilemm.f90" "$source/tests/api/fortran.f90" -o program
run program || fail "the program of sources"
rm ./*.mod
fortran -I"$build/fortran" "$source/tests/api/fortran.f90" "$build/fortran/libtilemm_fortran.a" -o program
run program || fail "the program with the module"

# Programs that print all enumerators and the sizes of all structures.
header=$source/include/tilemm.h
names=$(sed -n 's/^#define \(TILEMM_VERSION_[A-Z]*\) .*/\1/p' "$header"
    sed 's|/\*.*||' "$header" | tr '\n' ' ' | grep -o 'enum {[^}]*}' | grep -o 'TILEMM_[A-Z0-9_]*')
types=$(tr '\n' ' ' <"$header" | grep -o 'struct {[^}]*} tilemm_[a-z_]*' | sed 's/.* //')
{
    printf '#include <stdio.h>\n#include <tilemm.h>\nint main(void)\n{\n'
    for name in $names; do printf '    printf("%s %%d\\n", (int)%s);\n' "$name" "$name"; done
    for type in $types; do printf '    printf("%s %%zu\\n", sizeof(%s));\n' "$type" "$type"; done
    printf '    return 0;\n}\n'
} >values.c
{
    printf 'program values\nuse tilemm\nimplicit none\n'
    for type in $types; do printf 'type(%s) :: a_%s\n' "$type" "$type"; done
    for name in $names; do printf "print '(a, 1x, i0)', '%s', %s\n" "$name" "$name"; done
    for type in $types; do printf "print '(a, 1x, i0)', '%s', c_sizeof(a_%s)\n" "$type" "$type"; done
    printf 'end program\n'
} >values.f90
$CC -I"$source/include" values.c -o values_c || fail "$CC"
# shellcheck disable=SC2086 # libraries are words
$FC -I"$build/fortran" values.f90 $library -o values_fortran || fail "an enumerator is missing"
run values_c >c
run values_fortran | diff c - || fail "< tilemm.h, > tilemm.f90"
[ "$(wc -l <c)" -gt 35 ] || fail "too few enumerators: $(cat c)"
echo "$(wc -l <c) values, 0 failed"
