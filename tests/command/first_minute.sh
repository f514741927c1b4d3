#!/bin/sh
# first_minute.sh - what a new user meets: help by topic, completion, messages that name what was meant,
# doctor, the examples of an installed library.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"
unset CUDA_VISIBLE_DEVICES OMP_NUM_THREADS

says() { # MESSAGE STATUS ARGUMENT...: a line of standard error
    message=$1
    shift
    run_command "$@"
    has stderr "$message"
}

# ---- help by topic ------------------------------------------------------------------------

verbs=$("$TILEMM" --complete '')
topics=$("$TILEMM" --complete help '')
for verb in info doctor bench tune gemm transpose reduce banks coalescing help; do
    "$TILEMM" $verb --help >help.$verb || fail "$verb --help"
    [ $verb = help ] || run_command 0 help $verb
    cmp -s stdout help.$verb || [ $verb = help ] || fail "help $verb is not $verb --help"
    echo "$verbs" | grep -q "^$verb\$" || fail "$verb is not completed"
done
run_command 0 help
cp stdout help.all
for topic in $topics; do
    run_command 0 help "$topic"
    checks=$((checks + 1))
    awk 'length($0) > 100 { exit 1 }' stdout || fail "a line of help that is too long: $topic"
    has help.all "^  $topic  "
done
run_command 0 help environment
for variable in $(grep -o '^| `TILEMM_[A-Z_]*' "$source/README.md" | tr -d '|` ') TILEMM_MODULE_DIR \
    TILEMM_BLAS TILEMM_BLAS_REPORT; do
    has stdout "^  $variable\$"
    has "$source/doc/tilemm.1" "$variable"
done
# Every suite that there is.
run_command 0 help suites
sed -n 's/^static const bench_row_t \([a-z]*\)_\([a-z0-9_]*\)\[.*/\1 \2/p' "$source/tools/bench_suite.c" |
    tr _ - >suites
[ -s suites ] || fail "no suites"
while read -r verb name; do
    has stdout "^  $name .*$verb ([1-9]"
    "$TILEMM" --complete bench --suite "$name" | grep -q "^$name\$" || fail "suite $name"
done <suites
run_command 2 help gemm bench

# ---- what was meant -----------------------------------------------------------------------

says "'bnech' is not a verb of tilemm; did you mean bench?" 2 bnech
says "'coal' is not a verb of tilemm; did you mean coalescing?" 2 coal
says "did you mean help suites?" 2 suite
says "option '--siezs=8' is not known here; did you mean --sizes?" 2 bench gemm --siezs=8
says 'did you mean --lda or --ldb or --ldc?' 2 bench gemm --ldx 4
says "bench takes gemm, transpose or reduce, not 'gmm'; did you mean gemm?" 2 bench gmm
says "math takes fp32, strict or tf32, not 'strct'; did you mean strict?" 2 bench gemm --math strct
says "invariance takes none, batch or across, not 'btch'; did you mean batch?" 2 gemm a b -o c --invariance btch
says "help takes .* did you mean environment?" 2 help enviroment
for wrong in nonsense --nonsense; do
    run_command 2 $wrong
    checks=$((checks + 1))
    ! grep -q 'did you mean' stderr || fail "meant by $wrong: $(cat stderr)"
done
# A value that is refused: which ones are taken.
says "sizes takes sizes .* MxNxK" 2 bench gemm --sizes x
says "option '--sizes' needs a value: sizes .* MxNxK" 2 bench gemm --sizes
says "option '-o' needs a value: a file's name" 2 gemm a b -o
says "trans takes nn, nt, tn or tt" 2 bench gemm --trans x
says "op takes .*sum, .* iamax or iamin, not" 2 bench reduce --op x
says "suite takes h200, everyday, ragged, data, host, cpu, cpu-avx2 or cpu-amx, not" 2 bench --suite x
says "bench transpose has no suite cpu-amx" 2 bench transpose --suite cpu-amx
says "reps takes a number from 1 to 1000000, not" 2 bench gemm --reps 0
says "threads takes a number from 0, not" 2 bench gemm --threads x
says "device takes a number from 0, not ' 1'" 2 bench gemm --device ' 1'
says "reduce takes sum, .* or iamin, not 'dot'" 2 reduce dot a.npy
says "csv takes a file's name, not ''" 2 bench gemm --csv ''
says '--markdown takes no value' 2 bench --markdown=1
for number in 1e400 -1e400 1e-400 ' 1' '' x 1x; do
    says 'alpha takes a number that a float holds, not' 2 gemm a.npy b.npy -o c.npy --alpha "$number"
done
for number in inf -inf nan 1e-40 0x1p3 +2 .5; do # no mistake: the file is missing
    run_command 1 gemm a.npy b.npy -o c.npy --alpha "$number"
done
for chip in 4.0 9.9 1000 99 5.1 100.0; do
    says "cc takes 1.0, .* or 12.1, not '$chip'" 2 banks --stride 1 --cc $chip
done
for chip in 1.0 13 89 9.0 100 12.1; do
    run_command 0 banks --stride 1 --cc $chip
done

# ---- completion ---------------------------------------------------------------------------

completes() { # WORDS PARTIAL...: what the command offers
    wanted=$1
    shift
    checks=$((checks + 1))
    got=$("$TILEMM" --complete "$@" | tr '\n' ' ')
    [ "$got" = "${wanted:+$wanted }" ] || fail "completes $*: '$got', must be '$wanted'"
}
completes 'bench banks' b
completes 'gemm transpose reduce' bench ''
completes '--trans --timeline --threads' bench gemm --t
completes 'nn nt tn tt' bench gemm --trans ''
completes 'tn tt' bench gemm --trans=t
completes 'tn tt' bench gemm --trans = t
completes 'nn nt tn tt' bench gemm --trans =
completes 'none batch across' gemm a.npy --invariance ''
completes ':files' gemm a.npy -o ''
completes ':files' gemm a.npy ''
completes ':files' bench gemm --sizes 8 --json x
completes 'sum sumsq' reduce s
completes ':files' reduce --axis rows sum ''
completes '' bench gemm --sizes ''
completes '' info ''
completes '' nonsense x

# Each verb's options: those of its help, and of the manual; no others.
sed 's/\\-/-/g; s/\\f.//g; s/"//g' "$source/doc/tilemm.1" >manual
for verb in $verbs; do
    for words in "$verb" $([ "$verb" != bench ] || echo 'bench.gemm bench.transpose bench.reduce'); do
        # shellcheck disable=SC2046
        "$TILEMM" --complete $(echo "$words" | tr . ' ') --
    done | sort -u >completed
    grep -o -e '--[a-z][a-z0-9-]*' help."$verb" | sort -u >documented
    checks=$((checks + 1))
    cmp -s completed documented ||
        fail "$verb --help and its options differ: $(diff completed documented | grep '^[<>]')"
    while read -r option; do
        has manual "[ B]$option\\([ ,]\\|\$\\)"
    done <completed
done
for file in completion/tilemm completion/_tilemm; do
    [ -f "$source/tools/$file" ] || fail "no $file"
done
if command -v zsh >/dev/null 2>&1; then
    checks=$((checks + 1))
    zsh -n "$source/tools/completion/_tilemm" || fail "zsh completion"
fi
if command -v bash >/dev/null 2>&1; then
    touch 'a file.npy' b.npy
    cat >complete.bash <<'BASH'
. "$1" || exit 1
shift
program=$1
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_tilemm "$program"
printf '%s\n' "${COMPREPLY[@]}"
BASH
    in_bash() { # WORDS PARTIAL...
        wanted=$1
        shift
        checks=$((checks + 1))
        got=$(bash complete.bash "$source/tools/completion/tilemm" "$TILEMM" "$@" | tr '\n' ' ')
        [ "$got" = "$wanted " ] || fail "bash completes $*: '$got', must be '$wanted'"
    }
    checks=$((checks + 1))
    bash -n "$source/tools/completion/tilemm" || fail "bash completion"
    in_bash doctor d
    in_bash 'nn nt' bench gemm --trans = n
    in_bash b.npy gemm -o b
    in_bash 'a file.npy' transpose a
    in_bash '' info ''
fi

# ---- info and doctor ----------------------------------------------------------------------

# The kernels that are compiled in, as the library's symbols say.
if [ -f "$TILEMM_LIB" ] && ${NM:-nm} "$TILEMM_LIB" >symbols 2>/dev/null && [ -s symbols ]; then
    run_command 0 info
    for isa in generic neon avx2 avx512; do
        echo "$isa tilemm__sgemm_cpu_$isa\$"
    done >kernels
    echo "amx tilemm__sgemm_planes_amx_fp32\$" >>kernels
    while read -r isa symbol; do
        checks=$((checks + 1))
        listed=$(grep -c "^CPU kernels.* $isa\\( \\|\$\\)" stdout)
        [ "$listed" -eq "$(grep -c "$symbol" symbols)" ] || fail "info lists $isa: $listed"
    done <kernels
fi
for setting in TILEMM_ARCH=x TILEMM_NUM_THREADS=0 TILEMM_BACKEND=gpu TILEMM_LOG=2 TILEMM_DEVICES=x \
    TILEMM_INVARIANCE=x TILEMM_PEER=x; do
    checks=$((checks + 1))
    env $setting "$TILEMM" info >stdout 2>stderr
    [ $? -eq 1 ] || fail "info with $setting"
    has stderr "^tilemm: create: ${setting%=*} = ${setting#*=}, must be"
    has stdout "^environment  *$setting  (the library refuses this value)\$"
    env $setting "$TILEMM" doctor >stdout 2>stderr
    [ $? -eq 3 ] || fail "doctor with $setting"
    has stdout "^FINDING .*${setting%=*} = ${setting#*=}, must be"
    has stdout "^  type  *unset ${setting%=*}\$"
done

doctor() { # [VARIABLE=VALUE...]: its status is right for what it finds
    checks=$((checks + 1))
    env "$@" "$TILEMM" doctor >stdout 2>stderr
    status=$?
    found=$(grep -c '^FINDING' stdout)
    [ $status -eq $((found ? 3 : 0)) ] || fail "doctor $*: status $status, $found findings"
    [ "$(grep -c '^FINDING\|^note' stdout)" -eq "$(grep -c '^  type' stdout)" ] ||
        fail "doctor $*: without what to type: $(cat stdout)"
    grep -q "^$found finding" stdout || fail "doctor $*: another count"
}
doctor
for line in 'CPU  ' '  features ' 'GPU ' 'threads  ' 'memory  *[0-9.]* GiB free of' 'toolkit ' \
    'compares with '; do
    has stdout "^$line"
done
clean=$found
doctor TILEMM_REFERENCE_BLAS=none
has stdout '^note .*no BLAS to compare with'
[ "$found" -eq "$clean" ] || fail "a note is no finding"
if "$TILEMM" info | grep -q 'features.* avx2' && "$TILEMM" info | grep -q '^CPU kernels.* avx2'; then
    doctor TILEMM_ARCH=generic
    has stdout '^FINDING .*TILEMM_ARCH=generic: products on the CPU take sgemm_.*generic.*, without'
    has stdout '^  type  *unset TILEMM_ARCH$'
fi
if [ "$(nproc)" -gt 1 ]; then
    doctor TILEMM_NUM_THREADS=1
    has stdout '^FINDING .*TILEMM_NUM_THREADS=1: [0-9]* processors could compute'
fi
doctor OMP_NUM_THREADS=9999
has stdout '^FINDING .*OMP_NUM_THREADS=9999: threads take turns'
run_command 2 doctor more

# A driver that knows one GPU, and a library without the CUDA module.
symbols=$(sed -n 's/.*"\(cu[A-Z][A-Za-z0-9_]*\)".*/\1/p' "$source/tools/gpu.c" | sort -u)
mkdir -p driver modules
{
    echo '#include <string.h>'
    for symbol in $symbols; do
        case $symbol in
        cuCtxSetCurrent) echo 'int cuCtxSetCurrent(void) { return 1; }' ;; # no cuBLAS on it
        cuDeviceGetCount | cuDriverGetVersion | cuDeviceGetName | cuDeviceGetAttribute) ;;
        *) echo "int $symbol(void) { return 0; }" ;;
        esac
    done
    echo 'int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDriverGetVersion(int *n) { *n = 12040; return 0; }
int cuDeviceGetName(char *name) { strcpy(name, "Fake 90"); return 0; }
int cuDeviceGetAttribute(int *value, int which) { *value = which == 75 ? 9 : 0; return 0; }'
} >driver.c
if ! grep -q ' tilemm__cuda_backend$' symbols 2>/dev/null && [ -s symbols ] &&
    "${CC:-cc}" -shared -fPIC -o driver/libcuda.so.1 driver.c 2>/dev/null; then
    echo 'no library' >modules/libtilemm-cuda.so
    doctor LD_LIBRARY_PATH="$dir/driver" TILEMM_MODULE_DIR="$dir/modules"
    has stdout '^GPU 0 .*Fake 90, compute capability 9.0'
    has stdout '^FINDING .*GPU 0, Fake 90, is not used: create: the CUDA backend cannot be loaded'
    doctor LD_LIBRARY_PATH="$dir/driver" TILEMM_MODULE_DIR="$dir/modules" TILEMM_BACKEND=cpu \
        TILEMM_ARCH=sm80
    has stdout '^FINDING .*TILEMM_BACKEND=cpu: no GPU is used'
    has stdout '^FINDING .*TILEMM_ARCH=sm80: GPU 0, of compute capability 9.0'
fi

# ---- where it computes --------------------------------------------------------------------

for words in '--device 9999' '--device 9999 --backend auto'; do
    # shellcheck disable=SC2086
    run_command 0 bench gemm --sizes 8 --reps 1 --vs none $words
    has stderr '^tilemm: the CPU is used, not device 9999: create: '
done
checks=$((checks + 1))
TILEMM_BACKEND=cpu "$TILEMM" bench gemm --sizes 8 --reps 1 --device 0 2>&1 >stdout |
    grep -q '^tilemm: the CPU is used, not device 0: TILEMM_BACKEND = cpu$' || fail "TILEMM_BACKEND"
run_command 0 bench gemm --sizes 8 --reps 1 --vs none --backend cpu --device 9999
[ ! -s stderr ] || fail "asked for the CPU: $(cat stderr)"
"$TILEMM" info >about
if grep -q '^GPU  *none: ' about; then # what info knows
    run_command 1 bench gemm --sizes 8 --backend cuda
    checks=$((checks + 1))
    grep -q -F "($(sed -n 's/^GPU  *none: //p' about))" stderr || fail "the reason: $(cat stderr)"
fi

# ---- documents and examples ---------------------------------------------------------------

grep -o -h 'tilemm_[a-z0-9_]*' "$source/include/tilemm.h" "$source/include/tilemm_mpi.h" | sort -u >names
grep -o -h '`tilemm_[a-z0-9_]*' "$source"/doc/*.md "$source"/doc/notes/*.md "$source/README.md" | tr -d '`' | grep -v tilemm__ | sort -u >named
while read -r name; do
    has names "^$name\$"
done <named

# Installed examples, built by a user who may not write beside them, against a library at a place that
# the linker does not know.
as_user=
[ "$(id -u)" -ne 0 ] || as_user='setpriv --reuid=65534 --regid=65534 --clear-groups'
if [ -f "$TILEMM_LIB" ] && make --version 2>/dev/null | grep -q GNU && $as_user true 2>/dev/null; then
    mkdir -p usr/lib usr/share home
    cp -r "$source/examples" "$source/include" usr/share/
    rm -rf usr/share/examples/*/*.o
    cp "$TILEMM_LIB" usr/lib/libtilemm.so.0 && ln -s libtilemm.so.0 usr/lib/libtilemm.so
    cat >pkg-config <<END
#!/bin/sh
case \$1 in
--variable=libdir) echo '$dir/usr/lib' ;;
*) echo '-I$dir/usr/share/include -L$dir/usr/lib -ltilemm' ;;
esac
END
    chmod -R a+rX,a-w . && chmod a+x pkg-config && chmod 755 . && chmod 777 home
    checks=$((checks + 1))
    # shellcheck disable=SC2086
    (unset LD_LIBRARY_PATH MAKEFLAGS MAKELEVEL && cd home &&
        PWD=$dir/home $as_user make -C ../usr/share/examples BUILD= NVCC= PKG_CONFIG="$dir/pkg-config" \
            CC="${CC:-cc}" api/sgemm && $as_user tilemm-examples/api/sgemm) >example 2>&1 ||
        fail "examples: $(cat example)"
    chmod -R u+w .
fi

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
