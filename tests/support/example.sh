#!/bin/sh
# example.sh EXAMPLE.cu - build an example against the library of this build tree, and run it.
# Skipped where the library finds no GPU, or where no shared library was built.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
set -u
examples=$(cd "$(dirname "$0")/../../examples" && pwd) || exit 1
build=$(pwd)
step=${1##*examples/}
step=${step%.cu}

# shellcheck source=tests/support/share_gpus.sh
. "$(dirname "$0")/share_gpus.sh"
if ! "$TILEMM" info | grep -q '^backend cuda  *usable'; then
    echo "skipped: the library has no GPU to run on"
    exit 77
fi
if [ ! -f "$TILEMM_LIB" ]; then
    echo "skipped: there is no shared library to link with"
    exit 77
fi
make -C "$examples" BUILD="$build" OUT="$build/examples" NVCC="$NVCC" "$build/examples/$step" &&
    "$build/examples/$step"
