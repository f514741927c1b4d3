#!/bin/sh
# manual.sh - the manual: every function, type and environment variable has a page, pages are installed and
# removed, and their examples compile and print what their first comments say.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$TILEMM_LIB")/.." && pwd)
# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL

pages=$build/doc/man
[ -d "$pages" ] || pages=$source/doc/man
names=$(cd "$pages" && sed 's/ .*//' links && ls ./*.[37])
documented() { # NAME.SECTION...
    for name; do
        checks=$((checks + 1))
        echo "$names" | grep -qx -e "$name" -e "./$name" || fail "no page $name"
    done
}

# ---- every name has a page --------------------------------------------------------------

# shellcheck disable=SC2046 # words
documented libtilemm.3 $(sed -n 's/^ *\(tilemm_[a-z0-9][a-z0-9_]*\);$/\1.3/p' "$source/lib/libtilemm.map" \
    "$source/mpi/libtilemm-mpi.map")
# shellcheck disable=SC2046
documented $(sed -n 's/^\(} \|typedef .*[ *(]\)\(tilemm_[a-z0-9_]*_t\|tilemm_t\)\()(.*\)\?;$/\2.3/p' \
    "$source/include/tilemm.h" "$source/include/tilemm_mpi.h")
variables=$(cd "$source" && grep -rhoE --include='*.[ch]' '(getenv\(|"TILEMM_)[^)]*"' lib mpi tools | grep -oE '"[A-Z_]+"' |
    tr -d '"' | sort -u)
for variable in $variables; do
    case $variable in
    TILEMM_*) documented "$variable.7" ;;
    esac
    has "$source/doc/tilemm.1" "\\<$variable\\>"
done
checks=$((checks + 1))
[ $checks -gt 70 ] || fail "only $checks names were found"
# shellcheck disable=SC2016 # backquotes are text
# README's table has the variables of the header's first table.
sed -n 's/^| `\(TILEMM_[A-Z_]*\)` |.*/\1/p' "$source/README.md" | sort >readme
if [ -s readme ]; then
    sed -n '/^ \* TILEMM_MODULE_DIR/q; s/^ \* \(TILEMM_[A-Z_]*\)  .*/\1/p' "$source/include/tilemm.h" | sort | diff - readme ||
        fail "README's table of environment variables"
fi

# ---- pages can be installed, found and removed ------------------------------------------

man=$dir/dest/man
install="make -s -C $build DESTDIR=$dir/dest prefix= mandir=/man"
if [ -f "$build/Makefile" ]; then
    $install install-man install-data-local >log 2>&1 || fail "$(cat log)"
    for name in $names; do
        checks=$((checks + 1))
        [ -f "$man/man${name##*.}/$name" ] || fail "$name is not installed"
        if command -v man >/dev/null; then
            found=$(MANPATH=$man man -w "${name##*.}" "$(basename "${name%.*}")" 2>&1) || fail "man -w $name: $found"
        fi
    done
    $install uninstall-man uninstall-local >log 2>&1 || fail "$(cat log)"
    [ -z "$(find "$man" ! -type d)" ] || fail "left behind: $(find "$man" ! -type d)"
fi

# ---- the script refuses what is not documented -------------------------------------------

refuses() { # MESSAGE SED-SCRIPT
    checks=$((checks + 1))
    mkdir -p wrong/include out
    ln -sf "$source/examples" "$source/ChangeLog" wrong
    sed "$2" "$source/include/tilemm.h" >wrong/include/tilemm.h
    perl "$source/doc/manual.pl" wrong out 2>message && fail "not refused: $1"
    grep -q "$1" message || fail "no '$1': $(cat message)"
}
if command -v perl >/dev/null; then
    refuses 'nothing is said of argument transb of tilemm_sgemm$' '/^ \* transb /d'
    refuses 'there is no tilemm_sync$' 's/tilemm_set_stream)/tilemm_sync)/'
    refuses 'no function takes a tilemm_nan_t$' 's/tilemm_nan_t \**policy/int policy/'
fi

# ---- examples ---------------------------------------------------------------------------

library=$TILEMM_LIB
[ -f "$library" ] || library=${library%.so}.a
for example in "$source"/examples/api/*.c "$source"/examples/memory/*.c; do
    checks=$((checks + 1))
    sed -n '/^#include/q; s/^ \*     //p' "$example" >wanted
    # shellcheck disable=SC2086 # flags and the emulator are words
    $CC -Wall -Wextra -Werror -pthread -I"$source/include" "$example" "$library" $STATIC_LIBS \
        -Wl,-rpath,"$(dirname "$library")" -o example || fail "$example cannot be built"
    # shellcheck disable=SC2086
    $RUN ./example >printed || fail "$example: status $?"
    diff wanted printed || fail "$example prints something else"
done

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
