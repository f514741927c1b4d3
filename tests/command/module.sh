#!/bin/sh
# module.sh - an installed library without the CUDA module, with it, with a broken one, and with one of
# another build: the CPU always works, and the message says what is wrong.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"
unset TILEMM_MODULE_DIR

build=$(dirname "$TILEMM_LIB")
if [ ! -f "$TILEMM_LIB" ]; then
    echo "skipped: there is no shared library"
    exit 77
fi
mkdir -p usr/bin usr/lib/tilemm
cp "$build/tilemm" usr/bin/ && cp "$build/libtilemm.so.0" usr/lib/ || exit 1
TILEMM=$dir/usr/bin/tilemm
LD_LIBRARY_PATH=$dir/usr/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
module=usr/lib/tilemm/libtilemm-cuda.so

# says MESSAGE: why the CUDA backend is not usable.
says() {
    run_command 0 info
    has stdout '^backend cpu  *usable'
    has stdout '^backend auto  *cpu'
    has stdout "^backend cuda  *not usable: create: $1"
    run_command 1 bench gemm --sizes 8 --backend cuda
    has stderr "$1"
    run_command 0 bench gemm --sizes 8 --vs none
}

says 'the CUDA backend is not installed: no libtilemm-cuda.so in /'

if [ -f "$build/libtilemm-cuda.so" ]; then
    cp "$build/libtilemm-cuda.so" "$module"
    run_command 0 info
    has stdout '^backend cuda  *\(usable\|not usable: create: .*CUDA.*\)$'
    checks=$((checks + 1))
    ! grep -q 'not installed\|cannot be loaded\|libtilemm-cuda.so' stdout || fail "with it: $(cat stdout)"
    # Found beside the library too, and in TILEMM_MODULE_DIR before all else.
    mv "$module" usr/lib/
    run_command 0 info
    checks=$((checks + 1))
    ! grep -q 'not installed' stdout || fail "beside the library: $(cat stdout)"
    mkdir elsewhere && echo "no library" >elsewhere/libtilemm-cuda.so
    TILEMM_MODULE_DIR=$dir/elsewhere
    export TILEMM_MODULE_DIR
    says 'the CUDA backend cannot be loaded: .*elsewhere'
    unset TILEMM_MODULE_DIR
    head -c 10000 usr/lib/libtilemm-cuda.so >"$module"
    rm usr/lib/libtilemm-cuda.so
    says 'the CUDA backend cannot be loaded: '
fi

: >"$module"
says 'the CUDA backend cannot be loaded: .* is not a whole shared library'
if command -v "$CC" >/dev/null; then
    echo 'int tilemm_other;' >module.c
    "$CC" -shared -fPIC -o "$module" module.c || fail "the compiler"
    says '.*/usr/lib/tilemm/libtilemm-cuda.so is no module of libtilemm'
    echo 'const struct { const char *build; void *backend; } tilemm_cuda_module = {"0.0.9, interface 1", 0};' >module.c
    "$CC" -shared -fPIC -o "$module" module.c || fail "the compiler"
    says '.* is of libtilemm 0.0.9, interface 1, must be of 0\.[0-9.]*, interface [0-9]*\( (no CUDA driver: .*\)*$'
fi

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
