#!/bin/sh
# static.sh - a program linked with libtilemm.a: it runs on the CPU, and holds the CUDA backend itself.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

source=$(cd "$(dirname "$0")/../.." && pwd)
archive=$(dirname "$TILEMM_LIB")/libtilemm.a
if [ ! -f "$archive" ]; then
    echo "skipped: there is no static library"
    exit 77
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

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
# shellcheck disable=SC2086 # flags and the emulator are words
$CC -I"$source/include" "$dir/program.c" "$archive" $STATIC_LIBS -o "$dir/program" || exit 1
said=$($RUN "$dir/program") || { echo "failed: the program"; exit 1; }
echo "CUDA backend: $said"
case $said in
*'not installed'* | *'cannot be loaded'*) [ -z "$HAVE_CUDA" ] || { echo "failed: a module was wanted"; exit 1; } ;;
esac
echo "2 checks, 0 failed"
