#!/bin/sh
# bench.sh - what `tilemm bench` tells of the machine, in tables and files; its plots; its progress
# line.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"

bench() { # a quick one
    run_command 0 bench "$@" --reps 2 --backend cpu --threads 1
}
hasnt() { # FILE PATTERN: no line of the file may match
    checks=$((checks + 1))
    ! grep -q -e "$2" "$1" || fail "'$2' in $1: $(cat "$1")"
}

# ---- the machine -----------------------------------------------------------------------

# What runs is named, whatever TILEMM_ARCH asks for: another machine's instruction set caps nothing.
started=$(date -u +%Y-%m-%dT%H:%M:%SZ)
for arch in generic sm75; do
    TILEMM_ARCH=$arch
    export TILEMM_ARCH
    bench transpose --sizes 16 --markdown --json out.json --csv out.csv
    used=$(sed -n 's/^| 16x16 .*transpose_simd_\([a-z0-9]*\)_.*/\1/p' stdout)
    has stdout "1 thread, $used kernels, libtilemm [0-9.]*"
    hasnt stdout 'TILEMM_ARCH'
    has out.json "\"instruction_set\": \"$used\""
    has out.json "\"tilemm_arch\": \"$arch\""
done
unset TILEMM_ARCH
checks=$((checks + 1))
printf '%s\n' "$started" "$(sed -n 's/^  "date": "\(.*\)",$/\1/p' out.json)" \
    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" | sort -c || fail "the date of $(cat out.json)"
has out.json '"threads": 1,'
has out.json "\"os_kernel\": \"$(uname -s) $(uname -r) [a-z0-9_]*\","
has out.json "\"processors\": $(getconf _NPROCESSORS_ONLN),"
has out.json '"gpu": null'
model=$("$TILEMM" info | sed -n 's/^CPU  *\(.*\), [0-9]* online$/\1/p')
[ -z "$model" ] || has out.json "\"cpu\": \"$model\""
has out.csv '^verb,device,table,size,version,kernel,repetitions,median_s,q1_s,q3_s,date,'
has out.csv ',peers,rate,unit,ratio,error,error_kind,norm_error$'

# Every row of CSV has the machine, and the JSON has the same.
if command -v python3 >/dev/null 2>&1; then
    bench reduce --sizes 16,1000 --csv out.csv --json out.json
    checks=$((checks + 1))
    python3 - <<'EOF' || fail "the machine of CSV and JSON: $(cat out.csv out.json)"
import csv, json
rows = list(csv.DictReader(open("out.csv")))
report = json.load(open("out.json"))
machine = report["machine"]
wanted = {"date", "os", "os_kernel", "cpu", "processors", "cpu_mhz", "cpu_max_mhz", "instruction_set",
          "threads", "gpu", "gpu_compute_capability", "gpu_multiprocessors", "gpu_max_mhz", "gpu_driver",
          "tilemm_arch", "library", "compiler", "peers"}
assert set(machine) == wanted, machine
assert len(rows) == len(report["results"]) >= 2
for row, result in zip(rows, report["results"]):
    assert None not in row and None not in row.values(), row
    assert all(row[name] == ("" if value is None else str(value)) for name, value in machine.items())
    assert all(name in row for name in result)
    assert float(row["median_s"]) > 0 and float(row["rate"]) > 0 and row["unit"] == "GB/s"
assert machine["library"] == "libtilemm " + report["tilemm"] and machine["compiler"]
assert type(machine["threads"]) is int
EOF
fi

# The machine's own call is not in the log.
TILEMM_LOG=1 "$TILEMM" bench reduce --sizes 5 --reps 1 --backend cpu --vs none >stdout 2>log
hasnt log 'bench transpose'
has log 'bench reduce'

# ---- families of data, and suites ---------------------------------------------------------

# Every family has two errors, in a sample that is right; a suite ends with its mean and worst case.
families=$("$TILEMM" --complete bench gemm --data '')
checks=$((checks + 1))
[ "$(echo "$families" | wc -l)" -gt 30 ] || fail "families: $families"
for family in $families; do
    bench gemm --sizes 65x33x70 --data "$family" --vs none --csv out.csv
    has stdout ' error     norm  kernel'
    has out.csv ',max |error| / (|A||B|),[0-9]'
done
bench reduce --sizes 16 --csv out.csv
hasnt stdout 'norm'
has out.csv ',relative error,$'
if [ "${TILEMM_TEST_QUICK:-}" != 1 ]; then
    bench transpose --suite cpu
    checks=$((checks + 1))
    tail -n 1 stdout | grep -q 'geometric mean [0-9.]*, worst case [0-9.]*, [0-9x]* of ' ||
        fail "the end of a suite: $(tail -n 2 stdout)"
fi

# ---- the plot --------------------------------------------------------------------------

for name in plot plot.doc plotsvg svg/plot .svg.; do
    run_command 2 bench gemm --sizes 16 --plot "$name"
    has stderr 'plot takes .*[.]svg, [.]png, [.]pdf or [.]eps'
done

# without gnuplot, with one that lacks the terminal, one that fails, and one that keeps the script
mkdir bin
saved_path=$PATH
PATH=$dir/bin:$saved_path
gnuplot_is() { # what a gnuplot does that is asked for a terminal, and else
    printf '#!/bin/sh\ncase $* in\n*-e*) echo "$*" >>%s; %s ;;\n*) %s ;;\nesac\n' "'$dir/asked'" "$1" "$2" \
        >bin/gnuplot
    chmod +x bin/gnuplot
}
nothing_left() {
    checks=$((checks + 1))
    for file in plot.* .tilemm-*; do
        [ ! -e "$file" ] || fail "left $file"
    done
}
gnuplot_is 'exit 127' 'exit 127'
run_command 1 bench gemm --sizes 16,32 --plot plot.svg --backend cpu --reps 2
has stderr 'needs gnuplot, which is not installed'
[ ! -s stdout ] || fail "measured before it looked for gnuplot"
gnuplot_is 'exit 1' 'exit 0'
run_command 1 bench gemm --sizes 16,32 --plot plot.PNG --backend cpu --reps 2
has stderr 'plot.PNG: the gnuplot that is installed has no terminal pngcairo'
has asked 'set terminal pngcairo$'
[ ! -s stdout ] || fail "measured before it asked for the terminal"
gnuplot_is 'exit 0' 'cat >/dev/null; exit 1'
run_command 1 bench gemm --sizes 16,32 --plot plot.svg --backend cpu --reps 2
has stderr 'gnuplot failed'
nothing_left
gnuplot_is 'exit 0' "cat >'$dir/script'; echo '<svg/>'"
bench gemm --sizes 300,16 --plot plot.svg
has plot.svg '<svg/>'
has script "set title .*'SGEMM, .*1 thread, [a-z0-9]* kernels, libtilemm .*measured [0-9-]*T[0-9:]*Z'"
has script "set xlabel 'size: cube root of m n k'"
has script "set ylabel 'GFLOP/s, median and quartiles'"
# shellcheck disable=SC2016 # gnuplot's names
has script '^plot $d0 using 1:3:4 with filledcurves .*, $d0 using 1:2 with linespoints .*tilemm'
has script "set xtics ('16' 16, .*'512' 512)"
has script 'style line 1 .* dashtype 1 pointtype 7$'
has script 'style line 2 .* dashtype ([0-9,]*) pointtype 4$'
# a line's points: by size, the rates of the quartiles around the median's
checks=$((checks + 1))
awk '/^\$d0 /, /^END/ { if (NF == 4 && $1 != "$d0") {
         if ($1 <= last || $3 > $2 || $2 > $4 || $2 <= 0) exit 1
         last = $1; points++ } }
     END { exit points != 2 }' script || fail "the points: $(cat script)"
bench reduce --sizes 1000,1048576 --vs none --plot plot.svg
has script "set xtics ('2^{10}' 1024, .*'2^{20}' 1048576)"
bench transpose --sizes 0,1 --vs none --plot plot.svg
has script "set xtics ('1' 1, '2' 2)"
# shellcheck disable=SC2016
has script '^plot $d0 using 1:3:4 with'
bench gemm --sizes 16 --vs none --plot plot.svg # no line: its quartiles as bars
# shellcheck disable=SC2016
has script '^plot $d0 using 1:2:3:4 with yerrorbars linestyle 1 '
hasnt script 'filledcurves'
# a long title is folded
bench gemm --sizes 8 --alpha -1.23456e-20 --beta 1.23456e-20 --batch 1000 --trans tn --plot plot.svg
checks=$((checks + 1))
sed -n "s/^set title //p" script | sed 's/ [.] /\n/g' >lines
awk 'length($0) > 78 { exit 1 } END { exit NR < 8 }' lines || fail "not folded: $(cat script)"
rm -f bin/gnuplot plot.svg
PATH=$saved_path
nothing_left

if gnuplot --version >/dev/null 2>&1; then
    bench gemm --sizes 16,32,64 --plot plot.svg
    has plot.svg '<svg'
    has plot.svg '</svg>'
    has plot.svg 'measured [0-9-]*T[0-9:]*Z'
    bench reduce --sizes 1000 --plot "it's a plot.svg"
    has "it's a plot.svg" '</svg>'
    bench reduce --sizes 0 --plot none.svg # no point at all
    has none.svg '</svg>'
    while read -r terminal ending begin; do
        gnuplot -e "set terminal $terminal" >/dev/null 2>&1 </dev/null || continue
        bench transpose --sizes 16,32 --plot "drawn.$ending"
        checks=$((checks + 1))
        head -c 4 "drawn.$ending" | LC_ALL=C tr -d '\211' | grep -q -e "^$begin" || fail "no $ending"
    done <<'FORMATS'
pngcairo png PNG
pdfcairo PDF %PDF
epscairo eps %!PS
FORMATS
fi

# ---- progress: on a terminal only, counted over the whole run --------------------------

bench gemm --sizes 16
[ ! -s stderr ] || fail "progress without a terminal: $(cat stderr)"
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    script -qec "'$TILEMM' bench gemm --sizes 16,20,24 --reps 2 --backend cpu --threads 1" /dev/null \
        </dev/null >terminal 2>/dev/null
    has terminal 'case 1 of 3, gemm 16x16x16: times'
    has terminal 'case 3 of 3, gemm 24x24x24: times'
    hasnt terminal 'case 4'
    if [ "${TILEMM_TEST_QUICK:-}" != 1 ]; then
        script -qec "'$TILEMM' bench --reps 1 --vs none --backend cpu --threads 1" /dev/null \
            </dev/null >terminal 2>/dev/null
        has terminal 'case 1 of 8, gemm 256x256x256'
        has terminal 'case 4 of 8, transpose 1024x1024'
        has terminal 'case 8 of 8, reduce 16777216: times'
    fi
fi

echo "$checks checks, $failures failed"
[ $failures -eq 0 ] && [ $checks -gt 0 ]
