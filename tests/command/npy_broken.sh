#!/bin/sh
# npy_broken.sh - files that are truncated, foreign, mistyped or of the wrong shape, outputs that
# cannot be written: a message, status 1, and no output file.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"

# npy TEXT [BYTES]: print a file of version 1.0 with that header and BYTES bytes of zeros.
npy() {
    text=$1
    count=${2:-0}
    length=$((${#text} + 1))
    low=$((length % 256))
    high=$((length / 256))
    # shellcheck disable=SC2059
    printf "\223NUMPY\001\000$(printf '\\%03o\\%03o' $low $high)"
    printf '%s\n' "$text"
    [ "$count" -eq 0 ] || head -c "$count" /dev/zero
}

# refused MESSAGE COMMAND...: fails with status 1 and the message, prints nothing else, and leaves
# no file out.npy and no temporary file.
refused() {
    message=$1
    shift
    checks=$((checks + 1))
    "$TILEMM" "$@" >stdout 2>stderr
    status=$?
    [ $status -eq 1 ] || fail "status $status, must be 1: $*"
    grep -q '^tilemm: ' stderr || fail "no message: $*"
    grep -q -- "$message" stderr || fail "no '$message' in '$(cat stderr)': $*"
    [ ! -s stdout ] || fail "printed something: $*"
    [ ! -e out.npy ] || fail "left an output file: $*"
    for file in .tilemm-*; do
        [ ! -e "$file" ] || fail "left $file: $*"
    done
    rm -f out.npy .tilemm-*
}

good() { # a file of zeros that is all right: TYPE BYTES ROWS COLS
    npy "{'descr': '$1', 'fortran_order': False, 'shape': ($3, $4), }" $(($2 * $3 * $4))
}

good '<f4' 4 6 5 >f4.npy
good '<f4' 4 5 3 >f4b.npy
cp f4.npy whole.npy

# every verb refuses a broken file alike
every_verb() {
    refused "$1" transpose "$2" -o out.npy
    refused "$1" reduce sum "$2"
    refused "$1" reduce sum "$2" --axis rows -o out.npy
    refused "$1" gemm "$2" f4b.npy -o out.npy
    refused "$1" gemm f4b.npy "$2" -o out.npy --trans-a
}

# missing, not a file, empty, foreign
every_verb 'No such file' missing.npy
mkdir folder
every_verb 'not a regular file' folder
: >empty.npy
every_verb 'empty' empty.npy
echo 'a line of text that is no array' >text.npy
every_verb 'not a .npy file' text.npy
printf '\223NUM' >short.npy
every_verb 'not a .npy file' short.npy
printf 'PK\003\004 an archive of arrays' >archive.npz
every_verb 'not a .npy file' archive.npz

# truncated: in the header's length, in the header, in the elements
size=$(wc -c <f4.npy)
for bytes in 6 8 9 10 11 30 $((size - 121)); do
    head -c "$bytes" f4.npy >cut.npy
    every_verb 'truncated' cut.npy
done
for bytes in $((size - 120)) $((size - 1)) $((size - 60)); do
    head -c "$bytes" f4.npy >cut.npy
    every_verb 'truncated: it holds' cut.npy
done
printf '\223NUMPY\002\000\060' >cut.npy
every_verb 'truncated' cut.npy
printf '\223NUMPY\002\000\377\377\377\177{' >cut.npy
every_verb 'truncated' cut.npy

# unknown versions
for version in '\000\000' '\004\000' '\001\001' '\377\377'; do
    # shellcheck disable=SC2059
    { printf "\223NUMPY$version"; tail -c +9 f4.npy; } >version.npy
    every_verb 'version' version.npy
done

# headers that are malformed
header() {
    npy "$2" 1000 >header.npy
    every_verb "$1" header.npy
}
header 'not a dictionary' "'descr'"
header 'not a dictionary' ""
header 'malformed' "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 5), "
header 'malformed' "{'descr' '<f4'}"
header 'malformed' "{'descr': '<f4' 'fortran_order': False, 'shape': (6, 5), }"
header 'malformed' "{'descr': <f4, 'fortran_order': False, 'shape': (6, 5), }"
header 'malformed' "{'descr': '<f4', 'fortran_order': False, 'shape': (6 5), }"
header 'malformed' "{'descr': '<f4', 'fortran_order': False, 'shape': (-6, 5), }"
header 'malformed' "{'descr': '<f4', 'fortran_order': False, 'shape': (6.0, 5), }"
header 'malformed' "{'descr': '<f4', 'fortran_order': False, 'shape': (, 5), }"
header 'tuple' "{'descr': '<f4', 'fortran_order': False, 'shape': (30), }"
header 'tuple' "{'descr': '<f4', 'fortran_order': False, 'shape': [6, 5], }"
header 'tuple' "{'descr': '<f4', 'fortran_order': False, 'shape': 30, }"
header 'fortran_order' "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (6, 5), }"
header 'fortran_order' "{'descr': '<f4', 'fortran_order': 0, 'shape': (6, 5), }"
header 'lacks descr' "{'fortran_order': False, 'shape': (6, 5), }"
header 'lacks fortran_order' "{'descr': '<f4', 'shape': (6, 5), }"
header 'lacks shape' "{'descr': '<f4', 'fortran_order': False, }"
header 'lacks descr' "{}"
header 'twice' "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6, 5), }"
header 'not know' "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 5), 'more': 1}"
header 'goes on' "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 5), } more"

# types
header 'structured' "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (6, 5), }"
header 'structured' "{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (6, 5), }"
header 'Python objects' "{'descr': '|O', 'fortran_order': False, 'shape': (6, 5), }"
for type in '' 'f4' '<' '<f' '<q4' '<f4x' '<f4[s]' '<M8[ns' '<M8[n s]' '<fx'; do
    header 'not an element type' "{'descr': '$type', 'fortran_order': False, 'shape': (6, 5), }"
done
header 'too large' "{'descr': '|S99999999999999999999', 'fortran_order': False, 'shape': (6, 5), }"

# shapes
header 'too large' "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808, 1), }"
header 'too large' "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 1), }"
header 'too large' "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"
header 'too large' "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 1), }"
header 'truncated' "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 1000), }"
header 'dimensions' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1, \
1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), }"
header 'has 3 dimensions' "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 5), }"
header 'has 0 dimensions' "{'descr': '<f4', 'fortran_order': False, 'shape': (), }"
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (30,), }" 120 >vector.npy
refused 'has 1 dimension,' transpose vector.npy -o out.npy
refused 'has 1 dimension,' gemm vector.npy f4.npy -o out.npy
refused 'has 1 dimension,' reduce sum vector.npy --axis rows -o out.npy

# elements that a verb does not take
for type in '<f8 8' '<f2 2' '<i4 4' '<c8 8' '|u1 1' '|S4 4'; do
    # shellcheck disable=SC2086
    good $type 6 5 >type.npy
    refused 'must be float32' reduce sum type.npy -o out.npy
    refused 'must be float32' gemm type.npy f4b.npy -o out.npy
    refused 'must be float32' gemm f4.npy type.npy -o out.npy
done
good '>f4' 4 6 5 >big.npy
refused 'byte order' reduce sum big.npy
refused 'byte order' gemm big.npy f4b.npy -o out.npy
for type in '|S3 3' '|V5 5' '<f12 12' '<f32 32' '<U3 12' '|S0 0'; do
    # shellcheck disable=SC2086
    good $type 6 5 >type.npy
    refused 'must be 1, 2, 4, 8 or 16 bytes' transpose type.npy -o out.npy
done

# shapes that do not fit each other
refused 'inner sizes differ' gemm f4.npy f4.npy -o out.npy
refused 'inner sizes differ' gemm f4.npy f4b.npy -o out.npy --trans-a
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 0), }" >tall.npy
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4611686018427387904), }" >wide.npy
refused 'too large' gemm tall.npy wide.npy -o out.npy

# C for beta
refused 'No such file' gemm f4.npy f4b.npy -o out.npy --beta 1
cp f4.npy c.npy
refused 'must be 6 x 3' gemm f4.npy f4b.npy -o c.npy --beta 1
cmp -s c.npy f4.npy || fail "changed C"
good '<f8' 8 6 3 >c.npy
cp c.npy c.old
refused 'must be float32' gemm f4.npy f4b.npy -o c.npy --beta 1
cmp -s c.npy c.old || fail "changed C"

# outputs that cannot be written
refused 'not a regular file' transpose f4.npy -o folder
refused 'not a regular file' transpose f4.npy -o /dev/null
refused 'No such file' transpose f4.npy -o missing/out.npy
refused 'Not a directory' transpose f4.npy -o f4.npy/out.npy
ln -s missing/file.npy dangling.npy
refused 'No such file' transpose f4.npy -o dangling.npy
[ -c /dev/null ] || fail "/dev/null is gone"
mkdir closed
chmod a-w closed
if ! (: >closed/probe) 2>/dev/null; then # root may write anywhere
    refused 'Permission denied' transpose f4.npy -o closed/out.npy
fi
rm -f closed/probe

# an older file stays as it was where a call fails
echo old >old.npy
refused 'truncated' transpose cut.npy -o old.npy
[ "$(cat old.npy)" = old ] || fail "an older file was lost"

# a full disk: a limit on the size of files has the same effect
good '|u1' 1 1000 1000 >large.npy
(
    ulimit -f 100 || exit 0
    trap '' XFSZ
    "$TILEMM" transpose large.npy -o out.npy 2>stderr
    [ $? -eq 1 ] && grep -q 'cannot be written' stderr && [ ! -e out.npy ]
) || fail "a file that becomes too large"
checks=$((checks + 1))
for file in .tilemm-*; do
    [ ! -e "$file" ] || fail "left $file"
done

# no device
if ! "$TILEMM" reduce sum f4.npy --backend cuda >/dev/null 2>&1; then
    refused 'create: .*\(CUDA\|device = 9999\)' transpose f4.npy -o out.npy --backend cuda
fi
refused 'create: .*\(CUDA\|device = 9999\)' reduce sum f4.npy --backend cuda --device 9999

# the inputs are as they were
cmp -s f4.npy whole.npy || fail "an input was changed"

echo "$checks checks, $failures failed"
[ $failures -eq 0 ] && [ $checks -gt 0 ]
