#!/bin/sh
# files.sh - files that are no regular ones, permissions, links, what terminals would take for
# commands, results that are too large, and what is left when the command is killed: nothing.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"
# shellcheck disable=SC3045 # dash and bash have it
ulimit -c 0
umask 022

# npy SHAPE [TYPE [KEY]]: the header of a file, with printf's escapes.
npy() {
    # shellcheck disable=SC2059
    text=$(printf "{'${3-descr}': '${2-<f4}', 'fortran_order': False, 'shape': $1, }" | tr '\000' '~')
    printf '\223NUMPY\001\000\200\000'
    printf '%-127s\n' "$text" | tr '~' '\000'
}
# refused MESSAGE ARGUMENT...: fails at once, with the message.
refused() {
    message=$1
    shift
    checks=$((checks + 1))
    timeout 60 "$TILEMM" "$@" >stdout 2>stderr
    status=$?
    [ $status -eq 1 ] || fail "status $status, must be 1: $*"
    grep -q -e "^tilemm: .*$message" stderr || fail "no '$message' in '$(cat stderr)': $*"
    [ ! -s stdout ] || fail "printed something: $*"
}
# is NAME MODE: what `ls -l` says of a file.
is() {
    checks=$((checks + 1))
    got=$(find "$1" -prune -printf %m)
    [ "$got" = "$2" ] || fail "$1 has permissions $got, must be $2"
}
# left COMMAND: no temporary file is left.
left() {
    checks=$((checks + 1))
    for file in .tilemm-*; do
        [ ! -e "$file" ] || fail "left $file: $*"
    done
    rm -f .tilemm-*
}

{ npy '(6, 5)' && head -c 120 /dev/zero; } >a.npy
echo '0 4 8' >list

# ---- inputs that would block, or never end ---------------------------------------------

mkfifo fifo
ln -s fifo link
sh -c ': >fifo; : >opened' &
writer=$!
for input in fifo link /dev/zero /dev/null /dev/tty .; do
    [ -e "$input" ] || continue
    refused "$input: not a regular file" transpose "$input" -o out.npy
    refused "$input: not a regular file" reduce sum "$input"
    refused "$input: not a regular file" gemm a.npy "$input" -o out.npy
    refused "$input: not a regular file" banks "$input"
    refused "$input: not a regular file" coalescing "$input"
done
[ ! -e opened ] || fail "a FIFO was opened"
kill $writer
wait $writer 2>/dev/null
checks=$((checks + 1))
printf '0 4 8' | "$TILEMM" banks /dev/fd/0 >stdout 2>stderr || fail "a pipe: $(cat stderr)"
"$TILEMM" banks list >stdout2
sed 1d stdout >one
sed 1d stdout2 | cmp -s - one || fail "a pipe is read unlike a file"
refused 'NUL' banks - </dev/zero
yes '# no address' | head -c 2000000 >endless
refused 'more than 1048576 bytes' banks - <endless
refused 'more than 1048576 bytes' banks endless
printf '0 4\0 junk' >endless
refused 'NUL' banks endless

# ---- outputs that are no regular files -------------------------------------------------

for output in fifo link /dev/null /dev/full; do
    [ -e "$output" ] || continue
    refused "$output: exists and is not" transpose a.npy -o "$output"
    refused "exists and is not" bench gemm --sizes 8 --reps 1 --backend cpu --csv "$output"
    refused "exists and is not" bench gemm --sizes 8 --reps 1 --backend cpu --json "$output"
    checks=$((checks + 1))
    timeout 60 "$TILEMM" banks --stride 1 --svg "$output" >stdout 2>stderr
    [ $? -eq 1 ] || fail "--svg $output"
    has stderr "exists and is not a regular file"
done

mkfifo fifo.svg
! gnuplot --version >/dev/null 2>&1 ||
    refused "fifo.svg: exists and is not" bench gemm --sizes 8 --backend cpu --plot fifo.svg

# ---- permissions, owners, links --------------------------------------------------------

# write NAME: every kind of output, by its suffix
write() {
    case $1 in
    *.npy) run_command 0 transpose a.npy -o "$1" ;;
    *.svg) run_command 0 banks --stride 1 --svg "$1" ;;
    *) run_command 0 bench reduce --sizes 8 --reps 1 --backend cpu "--${1##*.}" "$1" ;;
    esac
    left "$1"
}
for name in out.npy out.svg out.csv out.json; do
    write $name
    is $name 644
    for mode in 600 755 640 622; do
        echo old >$name
        chmod $mode $name
        write $name
        is $name $mode
        ! grep -q '^old$' $name || fail "$name was not replaced"
    done
    chmod 444 $name
    cp -f $name old
    case $name in
    *.npy) refused 'out.npy: exists and is read-only' transpose a.npy -o $name ;;
    *.svg) run_command 1 banks --stride 1 --svg $name ;;
    *) run_command 1 bench reduce --sizes 8 --backend cpu "--${name##*.}" $name ;;
    esac
    is $name 444
    cmp -s $name old || fail "a read-only $name was changed"
    rm -f $name
    umask 027
    write $name
    is $name 640
    umask 022
done
echo old >out.csv
run_command 1 bench gemm --sizes 1000000 --backend cpu --csv out.csv
[ "$(cat out.csv)" = old ] || fail "a run without results replaced a file"
mkdir folder
echo old >folder/real.npy
chmod 600 folder/real.npy
ln -s folder/real.npy named.npy
write named.npy
[ -L named.npy ] || fail "a symbolic link was replaced"
is folder/real.npy 600
cmp -s folder/real.npy out.npy || fail "the file behind a link was not written"
if chown 65534:65534 out.npy 2>/dev/null; then # root
    write out.npy
    [ "$(find out.npy -printf %U:%G)" = 65534:65534 ] || fail "the owner was not kept"
fi

# ---- escapes ---------------------------------------------------------------------------

# quiet TEXT ARGUMENT...: fails, its message has the text and no control characters
quiet() {
    text=$1
    shift
    run_command 1 "$@"
    grep -q -F -e "$text" stderr || fail "no '$text' in '$(cat -v stderr)'"
    if tr -d '\n' <stderr | LC_ALL=C grep -q '[[:cntrl:]]'; then fail "control characters: $*"; fi
}
npy '(1, 1)' '<f4\033[31m\007' >b.npy
quiet '\x1b[31m\x07' reduce sum b.npy
npy '(1, 1)' '<f4' 'k\033]0;x\007' >b.npy
quiet "'k\\x1b]0;x\\x07'" transpose b.npy -o b.out
npy '(1, 1)' '<M8[\377\302\233m]' >b.npy
quiet '\xff\xc2\x9bm' reduce sum b.npy
npy '(1, 1)' '<f4\000junk' >b.npy
quiet 'descr is malformed' reduce sum b.npy
npy '(1, 1)' '<f4' 'descr\000' >b.npy
quiet 'malformed' reduce sum b.npy
name=$(printf 'no\033[2Jthing\n\tfor \303\251')
quiet "no\\x1b[2Jthing\\x0a\\x09for $(printf '\303\251'): No such file" reduce sum "$name"
quiet '\x1b[2J' transpose a.npy -o "missing/$name"
cp list "$name"
run_command 0 banks "$name"
if tr -d '\n' <stdout | LC_ALL=C grep -q '[[:cntrl:]]'; then fail "control characters in a title"; fi
run_command 2 "$(printf 'verb\033')"
has stderr 'verb\\x1b'

# ---- shapes ----------------------------------------------------------------------------

# what NumPy cannot read, beside a size of 0 too
for shape in '(0, 4611686018427387904)' '(4611686018427387904, 0)' '(0, 2305843009213693952)' \
    '(3, 0, 1000000000000000000)'; do
    npy "$shape" >b.npy
    refused 'too large' transpose b.npy -o b.out
    refused 'too large' reduce sum b.npy
done
npy '(0, 2305843009213693951)' >b.npy
run_command 0 transpose b.npy -o b.out
run_command 0 reduce sum b.npy
# and a header that asks for more than a disk holds
npy '(40000, 0)' >tall.npy
npy '(0, 40000)' >wide.npy
refused 'a result of 40000 x 40000 is 6400000000 bytes.*--force' gemm tall.npy wide.npy -o b.out
npy '(0, 1152921504606846976)' >b.npy
ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0
export ASAN_OPTIONS
for output in '' '-o b.out'; do
    # shellcheck disable=SC2086
    refused '--force' reduce sum b.npy --axis rows $output
    # shellcheck disable=SC2086
    refused 'no memory' reduce sum b.npy --axis rows --force $output
done
refused 'too large' reduce imax b.npy --axis rows --force
unset ASAN_OPTIONS
npy '(0, 20000000)' >b.npy # 80 MB: as it is
"$TILEMM" reduce sum b.npy --axis rows 2>stderr | head -n 1 >stdout
has stdout '^0$'

# ---- signals ---------------------------------------------------------------------------

# Whether SIGKILL leaves nothing: known of these file systems.
case $(stat -f -c %T .) in
ext2/ext3 | tmpfs | xfs | btrfs) kill=KILL ;;
*) kill= ;;
esac
{ npy '(500, 800)' && head -c 1600000 /dev/zero; } >large.npy
run_command 0 transpose large.npy -o whole.npy
# AddressSanitizer's own handlers may wait for ever where the signal came within its locks.
for signal in segv sigbus sigfpe sigill abort; do
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_$signal=0
done
export ASAN_OPTIONS
runs=8
[ "${TILEMM_TEST_QUICK-0}" != 1 ] || runs=2
tries=0
ends=0
for signal in HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM STKFLT XCPU XFSZ \
    VTALRM PROF IO PWR SYS RTMIN RTMAX $kill; do
    i=0
    while [ $i -lt $runs ]; do
        i=$((i + 1))
        tries=$((tries + 1))
        rm -f out.npy
        case $i in
        7) set -- banks --stride 1 --svg out.svg ;;
        8) set -- bench reduce --sizes 8 --reps 1 --backend cpu --csv out.csv --json out.json ;;
        *) set -- transpose large.npy -o out.npy ;;
        esac
        delay=0.0$((tries * 3 % 10))$((tries * 7 % 10))
        start=$(date +%s)
        timeout -k 60 -s "$signal" "$delay" "$TILEMM" "$@" >stdout 2>&1 || ends=$((ends + 1))
        [ $(($(date +%s) - start)) -lt 60 ] || fail "goes on after SIG$signal: $*"
        [ ! -e out.npy ] || cmp -s out.npy whole.npy || fail "$signal left a part of a file"
        left "SIG$signal $*"
    done
done
echo "$ends of $tries runs were killed"

echo "$checks checks, $failures failed"
[ $failures -eq 0 ] && [ $checks -gt 0 ]
