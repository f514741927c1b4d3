#!/bin/sh
# command.sh - tilemm-mpi under mpirun: bench with its tables and files, model, and mistakes in the command line.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/mpi/mpi.sh
. "$(dirname "$0")/mpi.sh"
command=$(dirname "$TILEMM")/tilemm-mpi
if [ ! -x "$command" ]; then
    echo "skipped: the command was not built"
    exit 77
fi
unset TILEMM_SCALAPACK TILEMM_BACKEND TILEMM_MATH TILEMM_LOG TILEMM_NUM_THREADS TILEMM_REFERENCE_SCALAPACK
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
checks=0 failures=0
fail() {
    failures=$((failures + 1))
    echo "failed: $*" >&2
}
runs() { # PROCESSES STATUS ARGUMENT...
    processes=$1 wanted=$2
    shift 2
    checks=$((checks + 1))
    timeout 300 "$mpirun" -n "$processes" "$command" "$@" >stdout 2>stderr
    status=$?
    [ $status -eq "$wanted" ] || fail "status $status, must be $wanted: $* ($(cat stderr))"
}
has() { # FILE PATTERN
    checks=$((checks + 1))
    grep -q -e "$2" "$1" || fail "no '$2' in $1: $(cat "$1")"
}
lines() { # COUNT PATTERN FILE
    checks=$((checks + 1))
    [ "$(grep -c -e "$2" "$3")" = "$1" ] || fail "not $1 lines '$2' in $3: $(cat "$3")"
}

# ---- bench: results are right on every process, whatever the options -----------------------------

# column NAME: of bench.csv, whose first column may have commas in quotes
column() {
    sed 's/^"[^"]*"/peer/' bench.csv | awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        NR > 1 { print $at }'
}
small_errors() { # every version that leaves a result has a small error
    column error >errors
    checks=$((checks + 1))
    awk '$1 != "" && !($1 + 0 >= 0 && $1 + 0 < 1e-6) { bad = 1 } $1 != "" { n++ } END { exit bad || !n }' errors ||
        fail "errors: $(cat bench.csv)"
}
for options in "--grid 2x2 --trans tn --block 16x32 --beta 2" "--grid 1x4 --trans nt --alpha -3" "--grid 4x1 --trans tt"; do
    # shellcheck disable=SC2086 # words
    runs 4 0 bench --sizes 130,200x70x310 --reps 2 --csv bench.csv --share $options
    small_errors
    lines 2 '"libtilemm",4,' bench.csv
    lines 2 '"share alone",4,' bench.csv
done
runs 3 0 bench --sizes 100 --reps 1 --csv bench.csv --vs one
small_errors
lines 1 '"one \(process\|GPU\)",3,1,3,' bench.csv
runs 2 0 bench --sizes 64 --reps 1 --vs none --markdown
has stdout '^| 2 (1x2) | nn 64x64x64 | libtilemm | '
lines 1 '^PSGEMM on 2 processes' stdout # the first process alone prints
TILEMM_REFERENCE_SCALAPACK=none runs 2 1 bench --sizes 64 --vs scalapack
has stderr 'ScaLAPACK or OpenBLAS is not found'
lines 1 'not found' stderr

# ---- files ----------------------------------------------------------------------------------------

runs 4 0 bench --sizes 300 --reps 1 --vs none --timeline time.svg
has time.svg '>process 0 compute<'
has time.svg '>process 3 compute<'
has time.svg '<title>compute, '
runs 4 0 bench --sizes 96 --scaling weak --processes 1,2,4 --reps 1 --vs none --csv scaling.csv --svg scaling.svg
has scaling.csv '"libtilemm",1,1,1,.*,96,96,96,1,.*,1$'
has scaling.csv '"libtilemm",2,1,2,.*,136,136,136,1,'
has scaling.csv '"libtilemm",4,2,2,.*,192,192,192,1,'
has scaling.svg '4 processes, 192x192x192'
runs 4 0 bench --sizes 96 --scaling strong --reps 1 --vs none
lines 3 'nn 96x96x96' stdout

# ---- model ----------------------------------------------------------------------------------------

runs 1 0 model --nodes 1,4,1024 --gpus-per-node 8 --link 50 --nvlink 400 --sizes 65536 --csv model.csv
has stdout 'not held to measurements'
lines 4 . model.csv
awk -F, 'NR > 1 && (!($8 > 0) || !($12 > 0 && $12 <= 1) || $5 * $6 != 8 * $4) { exit 1 }' model.csv ||
    fail "the model's table: $(cat model.csv)"
# More nodes take less time at less efficiency; a faster link takes no longer.
awk -F, 'NR > 2 && !($8 < before && $12 < of) { exit 1 } { before = $8; of = $12 }' model.csv ||
    fail "the model's order: $(cat model.csv)"
runs 1 0 model --nodes 1024 --sizes 65536 --link 500 --csv fast.csv
awk -F, 'FNR == 1 { next } { t[FILENAME] = $8 } END { exit !(t["fast.csv"] <= t["model.csv"]) }' model.csv fast.csv ||
    fail "a faster link takes longer"
runs 4 0 model --nodes 4 --sizes 65536 --check-sizes 256
lines 2 '256x256x256 .* %$' stdout
has stdout "the model's error above is at most"

# ---- mistakes and help ------------------------------------------------------------------------------

runs 2 2 bench --grid 3x3
has stderr 'tilemm-mpi: --grid is of 9 processes, mpirun.s are 2'
lines 1 'is of 9 processes' stderr
runs 2 2 bench --sizes 3x4
runs 2 2 bench --sizes 0
runs 2 2 bench --timeline t.svg
runs 2 2 bench --scaling weak --processes 3
runs 2 2 bench --svg t.svg
runs 2 2 bench --scaling weak --svg t.png
runs 1 2 bnech
has stderr 'did you mean bench'
runs 2 2 model --link 0
runs 2 1 bench --sizes 10 --csv no/where.csv
for verb in bench model; do
    runs 1 0 "$verb" --help
    has stdout "^Usage: .*mpirun -n N.* tilemm-mpi $verb"
done
"$command" --complete '' | grep -q '^bench$' || fail "verbs are not completed"
"$command" --complete bench --tr | grep -q '^--trans$' || fail "options are not completed"

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
