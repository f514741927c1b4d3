#!/bin/sh
# scalapack.sh - libtilemm-scalapack.so under LD_PRELOAD: beside the ScaLAPACK behind (drop_in.c), and in
# ScaLAPACK's own tester and timer of the PBLAS, spb3tst and spb3tim, which Debian's scalapack-mpi-test has.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/mpi/mpi.sh
. "$(dirname "$0")/mpi.sh"
unset TILEMM_SCALAPACK TILEMM_BACKEND TILEMM_MATH TILEMM_LOG
library=$(dirname "$TILEMM_LIB")/libtilemm-scalapack.so
# In a build without rpath it would not find libtilemm-mpi.so.
LD_LIBRARY_PATH=$(dirname "$library")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0
fail() {
    failures=$((failures + 1))
    echo "failed: $*" >&2
}
preloaded() { # COMMAND...: on four processes, with the library and the log
    timeout 300 "$mpirun" -n 4 env LD_PRELOAD="$library" TILEMM_LOG=1 "$@"
}

# ---- beside the ScaLAPACK behind -------------------------------------------------------------

cases=20
[ -z "${TILEMM_TEST_QUICK:-}" ] || cases=4
preloaded "$MPI_TESTS/drop_in" $cases >"$dir/out" 2>"$dir/log"
status=$?
[ $status != 77 ] || { echo "skipped: no libscalapack-openmpi.so"; exit 77; }
cat "$dir/out"
[ $status = 0 ] || fail "drop_in: status $status: $(grep -v '^tilemm' "$dir/log" | head -n 20)"
grep -q 'psgemm_ by libtilemm, CPU' "$dir/log" || fail "no product was libtilemm's"
grep -q 'pstran_ .* by libtilemm, CPU' "$dir/log" || fail "no transpose was libtilemm's"
grep -q 'psgemm_ by the ScaLAPACK behind: .*descc\[' "$dir/log" || fail "no wrong leading dimension was handed on"

# ---- the settings -------------------------------------------------------------------------------

TILEMM_SCALAPACK=off preloaded "$MPI_TESTS/drop_in" 1 >/dev/null 2>"$dir/log" || fail "off: status $?"
grep 'by libtilemm' "$dir/log" && fail "TILEMM_SCALAPACK=off"
TILEMM_SCALAPACK=yes preloaded "$MPI_TESTS/drop_in" 1 >/dev/null 2>"$dir/log" || fail "yes: status $?"
grep -q 'TILEMM_SCALAPACK = yes, must be auto, cpu, cuda or off: taken as auto' "$dir/log" ||
    fail "TILEMM_SCALAPACK=yes"
grep -q 'by libtilemm' "$dir/log" || fail "yes is not taken as auto"

# ---- ScaLAPACK's tester and timer ---------------------------------------------------------------

for tests in /usr/lib/*/scalapack/openmpi-tests/PBLAS; do
    [ -x "$tests/spb3tst" ] && break
done
if [ ! -x "$tests/spb3tst" ]; then
    echo "left out: no spb3tst (Debian's scalapack-mpi-test)"
else
    cd "$dir" || exit 1
    # With the tests of error exits, which the file leaves out.
    sed 's/^F\(.*to test error exits\)/T\1/' "$tests/PSBLAS3TST.dat" >PSBLAS3TST.dat
    cp "$tests/TIMING/PSBLAS3TIM.dat" .
    for preload in "" "$library"; do
        timeout 300 "$mpirun" -n 4 env LD_PRELOAD="$preload" TILEMM_LOG=1 "$tests/spb3tst" >tested 2>log
        grep -q 'PSGEMM *16 *16 *0 *0' tested || fail "spb3tst, preload '$preload': $(grep -A 12 'Summary' tested)"
        grep -q 'Test for error exits flag : *T' tested || fail "error exits are not tested"
        grep -q 'Error-exit tests completed' tested || fail "error exits, preload '$preload'"
        # Before the tests of results begin, an exit that is not as it must be prints lines.
        sed -n '/Tests started/,/Error-exit tests completed/p' tested | grep -v '^ *$' >exits
        [ "$(wc -l <exits)" = 2 ] || fail "error exits, preload '$preload': $(cat exits)"
        echo "spb3tst${preload:+ with the drop-in}: $(grep 'PSGEMM  *16' tested)"
        timeout 300 "$mpirun" -n 4 env LD_PRELOAD="$preload" TILEMM_LOG=1 "$tests/TIMING/spb3tim" >timed 2>>log
        grep -q 'End of Tests' timed || fail "spb3tim, preload '$preload': $(tail -n 5 timed)"
        grep -q 'PSGEMM' timed || fail "spb3tim timed no PSGEMM"
    done
    [ "$(grep -c 'psgemm_ by libtilemm' log)" -ge 16 ] || fail "the tester's products are not libtilemm's"
fi
echo "$failures failed"
[ $failures -eq 0 ]
