#!/bin/sh
# pictures.sh - draws the pictures of memory.md with the command. tests/command/access.sh does so too, and
# compares.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
#
# usage: TILEMM=./tilemm pictures.sh FOLDER
set -eu
to=$1
banks() { # NAME ARGUMENT...
    name=$1
    shift
    "$TILEMM" banks "$@" --svg - >"$to/$name.svg"
}
coalescing() {
    name=$1
    shift
    "$TILEMM" coalescing "$@" --svg - >"$to/$name.svg"
}

banks stride1 --stride 1
banks stride2 --stride 2
banks stride3 --stride 3
banks stride2-16-banks --stride 2 --cc 1.3
banks stride3-16-banks --stride 3 --cc 1.3
banks multicast --expr 'lane / 4'
banks column --tile 32x32 --access column --at 0,5
banks column-padded --tile 32x33 --access column --at 0,5
banks column-swizzled --expr 'row*32 + (col ^ row)' --access column --at 0,5
banks vectors --stride 4 --vector 4
banks vectors-column --tile 32x36 --access column --vector 4
banks ns-transposed --expr 'row*64 + (col ^ (row & 7) * 4)' --access 8x4
coalescing aligned --stride 1
coalescing shifted --stride 1 --base 4
coalescing shifted-lines --stride 1 --base 4 --cc 2.0
coalescing stride-global --stride 2
coalescing column-global --tile 1024x1024 --access column --at 0,5
