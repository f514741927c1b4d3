#!/bin/sh
# command.sh - the command's help, exit statuses, info, and bench: its table and its files; bench
# accepts every line that TILEMM_LOG=1 prints.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"

# expect STATUS ARGUMENT...: as run_command; standard error must be empty if the status is 0.
expect() {
    run_command "$@"
    [ "$1" -ne 0 ] || [ ! -s stderr ] || fail "not silent on standard error: $* ($(cat stderr))"
}
bench() { # a quick one
    expect 0 bench "$@" --reps 2 --backend cpu
}

# ---- help, versions, mistakes ----------------------------------------------------------

for option in --help -h; do
    expect 0 $option
    has stdout '^Usage: tilemm'
    for verb in info bench tune gemm transpose reduce banks coalescing; do
        expect 0 $verb $option
        has stdout "^Usage: tilemm $verb"
        awk 'length($0) > 100 { exit 1 }' stdout || fail "a line of help that is too long: $verb"
    done
done
expect 0 --version
has stdout '^tilemm [0-9]*\.[0-9]*\.[0-9]*, library [0-9]*\.[0-9]*\.[0-9]*$'

expect 2
expect 2 nonsense
expect 2 --nonsense
expect 2 info more
expect 2 info --nonsense
expect 2 bench nonsense
expect 2 bench gemm transpose
expect 2 bench gemm --nonsense
expect 2 bench gemm --sizes
has stderr 'needs a value'
for sizes in '' x 12x 12x13 12x13x14x15 12,,13 -5 1e3 99999999999999999999 5x 1.5; do
    expect 2 bench gemm --sizes "$sizes"
done
expect 2 bench transpose --sizes 1x2x3
expect 2 bench reduce --sizes 1x2
for wrong in '--layout x' '--trans x' '--trans n' '--math x' '--elem-size 4' '--op sum' '--vs x' \
    '--reps 0' '--reps x' '--backend x' '--device -1' '--threads x' '--alpha x' '--batch -1' \
    '--vs openblas --backend cuda' '--vs cublas --backend cpu' '--csv - --json -'; do
    # shellcheck disable=SC2086
    expect 2 bench gemm $wrong
done
for wrong in '--elem-size 3' '--elem-size 0' '--elem-size 32' '--elem-size 8 --alpha 2' \
    '--in-place --batch 2' '--trans nn'; do
    # shellcheck disable=SC2086
    expect 2 bench transpose $wrong
done
for wrong in '--op x' '--axis x' '--inc 0' '--arg' '--axis rows --arg --op sum' '--elem-size 4' \
    '--axis rows --segments 2' '--op dot --axis rows' '--op imax --segments 2' '--nan x'; do
    # shellcheck disable=SC2086
    expect 2 bench reduce $wrong
done
expect 2 bench --sizes 5
expect 2 gemm
expect 2 gemm a.npy
expect 2 gemm a.npy b.npy
expect 2 gemm a.npy b.npy c.npy -o d.npy
expect 2 gemm a.npy b.npy -o
expect 2 gemm a.npy b.npy -o c.npy --alpha x
expect 2 gemm a.npy b.npy -o c.npy --math x
expect 2 transpose
expect 2 transpose a.npy
expect 2 transpose a.npy b.npy -o c.npy
expect 2 reduce
expect 2 reduce sum
expect 2 reduce nonsense a.npy
expect 2 reduce dot a.npy
expect 2 reduce sum a.npy --axis x
expect 2 reduce sum a.npy --nan x

# standard output that cannot be written to
if [ -c /dev/full ]; then
    checks=$((checks + 1))
    "$TILEMM" --help >/dev/full 2>stderr
    [ $? -eq 1 ] || fail "--help to a full device"
    has stderr '^tilemm: '
fi

# ---- info ------------------------------------------------------------------------------

expect 0 info
has stdout '^tilemm  *[0-9]'
has stdout '^backend cpu  *usable'
has stdout '^backend cuda '
has stdout '^CPU kernels  *generic'
has stdout '^compares with'
TILEMM_MATH=strict
export TILEMM_MATH
expect 0 info
has stdout 'TILEMM_MATH=strict$'
TILEMM_MATH=nonsense
expect 1 info
has stdout 'TILEMM_MATH=nonsense.*refuses'
has stderr 'TILEMM_MATH = nonsense, must be'
expect 1 bench gemm --sizes 8
has stderr 'TILEMM_MATH = nonsense'
unset TILEMM_MATH

# ---- bench -----------------------------------------------------------------------------

bench gemm --sizes 16,20x30x40
has stdout '^20x30x40  *tilemm .* sgemm_'
bench transpose --sizes 16,20x30 --elem-size 2
has stdout '^20x30  *tilemm .* exact .* transpose_'
bench reduce --sizes 5000 --op nrm2
has stdout '^5000  *tilemm .* reduce_'
for trans in nn nt tn tt; do
    for layout in row col; do
        bench gemm --sizes 33x17x21 --trans $trans --layout $layout
    done
done
for op in sum asum sumsq nrm2 mean max min amax amin dot imax imin iamax iamin; do
    bench reduce --op $op --sizes 0,1,1500
done
for size in 1 2 4 8 16; do
    bench transpose --sizes 0,1,31x65 --elem-size $size
done
bench gemm --sizes 24 --vs none --threads 1
if grep -q -e OpenBLAS stdout; then fail "--vs none has a peer"; fi
expect 1 bench gemm --sizes 1000000 --backend cpu
has stderr 'GiB'
expect 1 bench gemm --sizes 4000000000 --backend cpu
has stderr 'too large'
expect 1 bench gemm --sizes 8 --lda 4 --backend cpu
has stderr 'lda'
TILEMM_REFERENCE_BLAS=none
export TILEMM_REFERENCE_BLAS
bench gemm --sizes 16
has stdout 'was not found'
expect 1 bench gemm --sizes 16 --vs openblas
has stderr 'OpenBLAS was not found'
unset TILEMM_REFERENCE_BLAS

# files
if command -v python3 >/dev/null 2>&1; then
    valid_json() {
        python3 -c 'import json, sys
results = json.load(open(sys.argv[1]))["results"]
ours = [r for r in results if r["version"] == "tilemm"]
assert len(ours) == int(sys.argv[2]), ours
assert all(r["median_s"] > 0 and r["repetitions"] == 2 for r in results)
assert all(r["ratio"] is None and r["error"] < 1e-3 and r["kernel"] for r in ours)' "$@"
    }
else
    valid_json() {
        [ "$(grep -c '"version": "tilemm"' "$1")" -eq "$2" ]
    }
fi
bench gemm --sizes 16,32 --json out.json --csv out.csv
has stdout '^32x32x32'
checks=$((checks + 2))
valid_json out.json 2 || fail "out.json"
[ "$(grep -c '^gemm,.*,"tilemm",sgemm_' out.csv)" -eq 2 ] || fail "out.csv: $(cat out.csv)"
has out.csv '^verb,device,table,size,version,kernel,repetitions,median_s'
bench transpose --sizes 16 --json -
checks=$((checks + 1))
cp stdout dash.json
valid_json dash.json 1 || fail "--json -"
bench reduce --sizes 16 --csv -
checks=$((checks + 1))
if grep -v '^verb,' stdout | grep -q -v '^reduce,'; then fail "--csv -: $(cat stdout)"; fi
expect 1 bench gemm --sizes 16 --json missing/out.json --backend cpu
expect 1 bench gemm --sizes 16 --csv missing/out.csv --backend cpu

# Markdown: a head line, and tables whose rows have equal numbers of columns
markdown() { # ROWS ARGUMENT...: bench prints one table with at least this number of rows
    rows=$1
    shift
    bench "$@" --markdown
    has stdout '^### '
    has stdout ', libtilemm [0-9.]*.*, [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]$'
    checks=$((checks + 1))
    awk -F '|' -v rows="$rows" '
        /^\|/ { line++
                if (line == 1) { columns = NF; head = $2 == " work " && $NF == "" }
                if (line == 2) rule = $0 ~ /^[-:|]+$/
                if (NF != columns) bad = 1 }
        END { exit !(head && rule && !bad && line >= 2 + rows) }' stdout ||
        fail "not a table: $* ($(cat stdout))"
}
markdown 2 gemm --sizes 16,20x30x40
has stdout '^| 20x30x40 | [0-9.]* [un]s | .* | sgemm_[a-z0-9_]* |$'
markdown 2 transpose --sizes 16,20x30
has stdout '| memcpy | [0-9.]* [un]s | '
markdown 1 reduce --sizes 1000 --vs none
has stdout '^| 1000 | .* |  |  |  |  |  |  | reduce_[a-z0-9_]* |$'

# ---- what the library logs can be run again --------------------------------------------

rerun() {
    # shellcheck disable=SC2086
    expect 0 $1 --reps 1
    has stdout ' tilemm '
}
while read -r line; do
    rerun "$line"
done <<'LINES'
bench gemm --sizes 28x64x32 --layout row --trans nt --alpha 1 --beta 0 --lda 32 --ldb 32 --ldc 64 --math fp32 --backend cpu
bench gemm --sizes 28x64x32 --layout col --trans tn --alpha -2 --beta 0.5 --lda 40 --ldb 33 --ldc 28 --math strict --backend cpu
bench gemm --sizes 9x8x7 --layout row --trans nn --alpha 1 --beta 1 --lda 7 --ldb 8 --ldc 8 --batch 10 --stride-a 0 --stride-b -56 --stride-c 80 --math tf32 --backend cpu
bench gemm --sizes 9x8x7 --layout row --trans tt --alpha 1 --beta 1 --lda 9 --ldb 7 --ldc 8 --batch 10 --stride-a 0 --stride-b 0 --stride-c 0 --math fp32 --backend cpu
bench gemm --sizes 9x8x0 --layout row --trans nn --alpha 1 --beta 2 --lda 1 --ldb 8 --ldc 8 --math fp32 --backend cpu
bench gemm --sizes 9x8x3 --layout row --trans nn --alpha 1 --beta 0 --lda 3 --ldb 8 --ldc 8 --batch 0 --stride-a 1 --stride-b 1 --stride-c 1 --math fp32 --backend cpu
bench transpose --sizes 100x20 --elem-size 4 --ld-src 20 --ld-dst 100 --backend cpu
bench transpose --sizes 100x20 --elem-size 16 --ld-src 21 --ld-dst 101 --batch 3 --stride-src -2100 --stride-dst 3000 --backend cpu
bench transpose --sizes 100x20 --elem-size 2 --ld-src 20 --ld-dst 100 --in-place --backend cpu
bench transpose --sizes 30x30 --elem-size 4 --ld-src 31 --ld-dst 32 --alpha 2 --in-place --backend cpu
bench transpose --sizes 100x20 --elem-size 4 --ld-src 20 --ld-dst 20 --alpha 2 --no-trans --backend cpu
bench transpose --sizes 100x20 --elem-size 4 --ld-src 20 --ld-dst 30 --in-place --no-trans --backend cpu
bench transpose --sizes 100x20 --elem-size 4 --ld-src 20 --ld-dst 100 --alpha 0 --backend cpu
bench reduce --op sum --sizes 1000 --inc 1 --nan propagate --backend cpu
bench reduce --op dot --sizes 1000 --inc -2 --nan ignore --backend cpu
bench reduce --op iamax --sizes 1000 --inc -2 --nan ignore --backend cpu
bench reduce --op mean --axis rows --layout row --sizes 100x200 --lda 210 --nan propagate --backend cpu
bench reduce --op amin --axis cols --layout col --sizes 100x200 --lda 100 --arg --nan ignore --backend cpu
bench reduce --op max --axis cols --layout row --sizes 100x0 --lda 1 --arg --nan propagate --backend cpu
bench reduce --op sum --segments 10 --sizes 1000 --nan propagate --backend cpu
bench reduce --op nrm2 --segments 0 --sizes 0 --nan propagate --backend cpu
LINES

# and what it logs here is such a line, one for a case
TILEMM_LOG=1
export TILEMM_LOG
for verb in 'gemm --sizes 8x9x10 --trans tn' 'transpose --sizes 8x9' 'reduce --sizes 100 --op max' \
    'reduce --sizes 5x6 --op amax --axis rows --arg' 'reduce --sizes 50 --segments 3' \
    'gemm --sizes 8x9x10 --batch 3' 'transpose --sizes 8x9 --elem-size 8 --in-place'; do
    # shellcheck disable=SC2086
    "$TILEMM" bench $verb --reps 1 --backend cpu 2>log >/dev/null
    has log '^tilemm bench '
    [ "$(wc -l <log)" -eq 1 ] || fail "$verb: $(wc -l <log) lines of the log"
    line=$(cat log)
    unset TILEMM_LOG
    rerun "${line#tilemm }"
    TILEMM_LOG=1
    export TILEMM_LOG
done
unset TILEMM_LOG

echo "$checks checks, $failures failed"
[ $failures -eq 0 ] && [ $checks -gt 0 ]
