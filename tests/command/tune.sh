#!/bin/sh
# tune.sh - `tilemm tune`: the file that it writes, where, in what time; and what info and doctor say of it.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"

run_command 0 tune --help
has stdout '^Usage: tilemm tune'
for wrong in '--time 0' '--time 61' '--time x' '--time' '--output' 'more' '--nonsense'; do
    # shellcheck disable=SC2086 # words
    run_command 2 tune $wrong
done
run_command 0 --complete tune --
has stdout '^--output$'
has stdout '^--time$'
run_command 0 --complete tun
has stdout '^tune$'

# ---- the file ----------------------------------------------------------------------------

run_command 0 info
has stdout '^CPU tuning  *built in$'
started=$(date +%s)
run_command 0 tune --time 2 -o file
checks=$((checks + 1))
[ $(($(date +%s) - started)) -le 60 ] || fail "two seconds became a minute"
[ ! -s stderr ] || fail "not silent on standard error: $(cat stderr)"
has stdout '^written to file$'
has file '^tilemm tuning 1$'
[ "$(head -n 1 file)" = 'tilemm tuning 1' ] || fail "the first line: $(head -n 1 file)"
has file '^version [0-9]*\.[0-9]*\.[0-9]*$'
has file '^processor .'
has file '^instruction-set [a-z0-9]*$'
has file '^cache-sizes [0-9]* [0-9]* [0-9]*$'
has file '^number-of-processors [0-9]*$'
count=0
names=$(sed -n 's/^ *CONSTANT(\([a-z_]*\),.*/\1/p' "$source/lib/tuning.h")
for name in $names; do
    has file "^$name [0-9]*$"
    has stdout "^$name  *[0-9]"
    count=$((count + 1))
done
[ $count -ge 11 ] || fail "$count constants"

# ---- contexts read it ---------------------------------------------------------------------

TILEMM_TUNING=$dir/file
export TILEMM_TUNING
run_command 0 info
has stdout "^CPU tuning  *$dir/file$"
run_command 0 bench gemm --sizes 200 --reps 1 --backend cpu --vs none
# of another machine
sed 's/^processor .*/processor Another one/' file >other
TILEMM_TUNING=$dir/other
run_command 0 info
has stdout "^CPU tuning  *built in; $dir/other is for another processor: Another one$"
"$TILEMM" doctor >stdout 2>stderr </dev/null
has stdout 'note .*left aside.*another processor'
# broken
echo 'sgemm_parts 8' >>file
TILEMM_TUNING=$dir/file
run_command 1 info
has stderr 'line [0-9]*: sgemm_parts is there for the second time'
has stdout '^CPU tuning  *cannot be read$'
run_command 1 bench gemm --sizes 8 --backend cpu
has stderr 'sgemm_parts is there for the second time'
"$TILEMM" doctor >stdout 2>stderr </dev/null
[ $? -eq 3 ] || fail "doctor has no finding"
has stdout 'FINDING .*sgemm_parts'
has stdout 'type  *unset TILEMM_TUNING$'
# which tune replaces
run_command 0 tune --time 1
has stdout "^written to $dir/file$"
run_command 0 info
TILEMM_TUNING=$dir/missing
run_command 1 info
has stderr 'TILEMM_TUNING = .*/missing, must be a file that tilemm tune wrote, or none'
unset TILEMM_TUNING

# ---- the user's own file -------------------------------------------------------------------

run_command 0 tune --time 1
has stdout "^written to $dir/config/tilemm/tuning$"
run_command 0 info
has stdout "^CPU tuning  *$dir/config/tilemm/tuning$"
echo nonsense >config/tilemm/tuning
run_command 1 info
has stderr "line 1: must be 'tilemm tuning 1' ($dir/config/tilemm/tuning)"
TILEMM_MATH=strict "$TILEMM" doctor >stdout 2>stderr </dev/null
has stdout 'FINDING .*must be .tilemm tuning 1'
has stdout 'type  *tilemm tune$'
if grep -q 'unset TILEMM_MATH' stdout; then fail "doctor blames TILEMM_MATH"; fi
TILEMM_TUNING=none "$TILEMM" info >stdout 2>stderr </dev/null || fail "TILEMM_TUNING=none"
has stdout '^CPU tuning  *built in$'

# ---- what cannot be written; standard output ----------------------------------------------

for wrong in . nowhere/file /dev/null; do
    started=$(date +%s)
    run_command 1 tune -o $wrong
    [ $(($(date +%s) - started)) -le 3 ] || fail "-o $wrong is refused after the measurements"
done
run_command 0 tune --time 1 -o -
cp stdout written
has written '^tilemm tuning 1$'
has stderr '^sgemm_parts  *8'
TILEMM_TUNING=$dir/written "$TILEMM" info >stdout 2>stderr </dev/null || fail "$(cat stderr)"
has stdout "^CPU tuning  *$dir/written$"
TILEMM_NUM_THREADS=1 "$TILEMM" tune --time 1 -o - >stdout 2>stderr </dev/null || fail "one thread"
has stderr '^sgemm_thread_work .* needs two threads$'

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
