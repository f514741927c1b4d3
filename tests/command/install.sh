#!/bin/sh
# install.sh - `make install` to a prefix that configure was not given, and below DESTDIR: tilemm.pc names
# where the files are and nothing of the toolkit, programs link with either library by it, and the one with
# libtilemm.a holds the CUDA backend itself.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

build=$(dirname "$(dirname "$TILEMM_LIB")")
if [ ! -f "$build/config.status" ] || ! command -v pkg-config >/dev/null; then
    echo "skipped: no build tree, or no pkg-config"
    exit 77
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0
fail() {
    failures=$((failures + 1))
    echo "failed: $*"
}
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
# Folders that configure was told by whole names, as packages do, move with the prefix too.
configured=$(sed -n 's/^prefix = //p' "$build/Makefile")
folders=$(sed -n "s,^\(\(bin\|data\|dataroot\|doc\|include\|lib\|man\|python\)dir\) = $configured/,\1=\${prefix}/,p" \
    "$build/Makefile")
run_make() { # TARGET VARIABLE=VALUE...
    # shellcheck disable=SC2086 # words
    make -s -C "$build" $folders "$@" >"$dir/log" 2>&1 || fail "make $*: $(tail -n 5 "$dir/log")"
}

run_make install prefix=/opt/tilemm DESTDIR="$dir/stage"
pc=$(find "$dir/stage" -name tilemm.pc)
if [ "$(sed -n 's/^prefix=//p' "$pc")" != /opt/tilemm ] || grep "$dir" "$pc"; then
    fail "DESTDIR: $(cat "$pc")"
fi
sed -n '/^Libs/s|{libdir}||p' "$pc" | grep / && fail "a path in $pc"

prefix=$dir/usr
run_make install prefix="$prefix"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tilemm.pc)")
export PKG_CONFIG_PATH
lib=$(pkg-config --variable=libdir tilemm)
case $lib in "$prefix"/*) ;; *) fail "libdir is $lib" ;; esac

cat >"$dir/program.c" <<'END'
#include <stdio.h>
#include <tilemm.h>
int main(void)
{
    const float x[3] = {1, 2, 4};
    float sum = 0;
    tilemm_t ctx;
    if (tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) != TILEMM_SUCCESS ||
        tilemm_ssum(ctx, 3, x, 1, &sum) != TILEMM_SUCCESS || sum != 7)
        return 1;
    tilemm_destroy(ctx);
    puts(tilemm_create(&ctx, TILEMM_BACKEND_CUDA, 0) == TILEMM_SUCCESS ? "usable" : tilemm_create_error());
    return 0;
}
END
# run_program OPTION...: build the program with what `pkg-config OPTION...` says, and run it.
run_program() {
    flags=$(pkg-config "$@" --cflags --libs tilemm) || fail "pkg-config $*"
    # shellcheck disable=SC2086 # flags, the compiler and the emulator are words
    if ! { $CC "$dir/program.c" $flags $LINK_FLAGS -o "$dir/program" &&
        said=$(LD_LIBRARY_PATH="$lib" $RUN "$dir/program"); }; then
        fail "the program with $flags"
    fi
    echo "${*:-shared}: CUDA backend: $said"
}
static=$(find "$lib" -name libtilemm.a)
[ -z "$(find "$lib" -name libtilemm.so)" ] || run_program
if [ -n "$static" ]; then
    rm -f "$lib"/libtilemm.so*
    run_program --static
    case $said in
    *'not installed'* | *'cannot be loaded'*) [ -z "$HAVE_CUDA" ] || fail "libtilemm.a wants a module" ;;
    esac
fi

run_make uninstall prefix="$prefix"
left=$(find "$prefix" -type f)
[ -z "$left" ] || fail "left by make uninstall: $left"
echo "$failures failed"
[ $failures -eq 0 ]
