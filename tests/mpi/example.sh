#!/bin/sh
# example.sh - the program of examples/mpi, built against an installed tree through pkg-config, gives the right
# trace on several numbers of processes, and has eighty lines at most.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/mpi/mpi.sh
. "$(dirname "$0")/mpi.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(dirname "$(dirname "$TILEMM_LIB")")
if ! command -v pkg-config >/dev/null || ! command -v "${MPICC:=mpicc}" >/dev/null; then
    echo "skipped: no pkg-config, or no mpicc"
    exit 77
fi
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
make -s -C "$build" install-libLTLIBRARIES install-includeHEADERS install-pkgconfigDATA prefix="$dir/usr" \
    exec_prefix="$dir/usr" libdir="$dir/usr/lib" includedir="$dir/usr/include" pkgconfigdir="$dir/usr/lib/pkgconfig" \
    >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
PKG_CONFIG_PATH=$dir/usr/lib/pkgconfig
export PKG_CONFIG_PATH
make -s -C "$source/examples" BUILD= OUT="$dir/examples" CFLAGS="-O2 -Wall -Wextra -Werror" mpi/distributed || exit 1
failures=0
for processes in 1 2 3 4 6; do
    timeout 120 "$mpirun" -n $processes "$dir/examples/mpi/distributed" 333 >"$dir/out" 2>&1 || failures=$((failures + 1))
    cat "$dir/out"
    # A distributed product's trace is that of one process.
    sed -n 's/.*trace \(.*\), must be \1$/same/p' "$dir/out" | grep -q same || failures=$((failures + 1))
done
[ "$(wc -l <"$source/examples/mpi/distributed.c")" -le 80 ] || failures=$((failures + 1))
echo "$failures failed"
[ $failures -eq 0 ]
