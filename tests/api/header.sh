#!/bin/sh
# header.sh - the public header alone compiles as C99, C11 and C++17 without a warning, and its
# declarations can be used.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# Environment: CC, CXX (C++ is left out if there is no such compiler).
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
include=$top/include
work=$(mktemp -d "${TMPDIR:-/tmp}/tilemm-header.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
warnings="-Wall -Wextra -pedantic -Werror"
failed=0

cat >"$work/use.c" <<'END'
#include <tilemm.h>
#include <tilemm.h>

static void take(const char *line, void *user)
{
    *(const char **)user = line;
}

int main(void)
{
    tilemm_t ctx = 0;
    tilemm_backend_t backend;
    tilemm_math_t math;
    tilemm_nan_t policy;
    int device, threads;
    void *stream, *workspace;
    size_t bytes;
    const char *line;
    float x[4] = {1, 2, 3, 4}, sum = 0;
    tilemm_status_t status = tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0);
    if (status == TILEMM_SUCCESS)
        status = tilemm_ssum(ctx, 4, x, 1, &sum);
    if (tilemm_get_backend(ctx, &backend) || tilemm_get_device(ctx, &device) ||
        tilemm_get_stream(ctx, &stream) || tilemm_get_math(ctx, &math) ||
        tilemm_get_nan_policy(ctx, &policy) || tilemm_get_threads(ctx, &threads) ||
        tilemm_get_workspace(ctx, &workspace, &bytes) || tilemm_set_log(ctx, take, &line))
        return 1;
    tilemm_destroy(ctx);
    return status == TILEMM_SUCCESS ? 0 : 1;
}
END
cp "$work/use.c" "$work/use.cc" || exit 1

compile()
{
    # $1: compiler, $2: -std option, $3: file; $warnings splits into words, and so may the compiler
    # shellcheck disable=SC2086
    if $1 $2 $warnings -I"$include" -c "$3" -o "$work/use.o"; then
        echo "ok: $1 $2"
    else
        echo "FAILED: $1 $2"
        failed=1
    fi
}

[ -f "$include/tilemm.h" ] || { echo "no $include/tilemm.h"; exit 1; }
compile "${CC:-cc}" -std=c99 "$work/use.c"
compile "${CC:-cc}" -std=c11 "$work/use.c"
cxx=${CXX:-c++}
# shellcheck disable=SC2086
if echo 'int main() { return 0; }' >"$work/try.cc" &&
   $cxx -std=c++17 -c "$work/try.cc" -o "$work/try.o" >/dev/null 2>&1; then
    compile "$cxx" -std=c++17 "$work/use.cc"
else
    echo "no C++17 compiler ($cxx): left out"
fi
exit $failed
