#!/bin/sh
# symbols.sh - the BLAS drop-in exports the routines that it has, under each suffix, and nothing
# else; and needs nothing but libtilemm and the C library.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# Environment: TILEMM_BLAS_LIB, the drop-in; NM (nm) and READELF (readelf).
set -u
nm=${NM:-nm}
nm=${nm%% *}
readelf=${READELF:-readelf}
if [ ! -f "${TILEMM_BLAS_LIB:-}" ] || ! command -v "$nm" >/dev/null 2>&1 ||
    ! command -v "$readelf" >/dev/null 2>&1; then
    echo "skipped: no drop-in was built, or no $nm or no $readelf"
    exit 77
fi
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
    for stem in sgemm sasum snrm2 sdot isamax; do
        for name in ${stem}_ ${stem}_64_ ${stem}_64 scipy_${stem}_ scipy_${stem}_64_; do
            echo "$name"
        done
    done
    for stem in sgemm sgemm_batch_strided sasum snrm2 sdot isamax somatcopy simatcopy; do
        stem=cblas_$stem
        for name in $stem ${stem}64_ ${stem}_64 scipy_$stem scipy_${stem}64_; do
            echo "$name"
        done
    done
} | LC_ALL=C sort >"$work/wanted"
"$nm" -D --defined-only "$TILEMM_BLAS_LIB" | awk '{ print $NF }' | LC_ALL=C sort >"$work/exported"
diff "$work/wanted" "$work/exported" || failed=1
"$readelf" -d "$TILEMM_BLAS_LIB" >"$work/dynamic"
grep -q 'SONAME.*\[libtilemm-blas\.so\.0\]' "$work/dynamic" || failed=1
grep -q 'FLAGS_1.*NODELETE' "$work/dynamic" || failed=1
sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$work/dynamic" | while read -r needed; do
    case $needed in
    libtilemm.so.0 | libc.* | libm.* | libdl.* | libpthread.* | ld-* | ld64*) ;;
    *) echo "$needed is needed" && touch "$work/bad" ;;
    esac
done
[ $failed = 0 ] && [ ! -e "$work/bad" ] && echo "all passed" && exit 0
cat "$work/dynamic"
exit 1
