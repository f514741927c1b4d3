#!/bin/sh
# suites.sh - the test suites of NumPy, SciPy and Octave's products pass alike with the BLAS drop-in
# and without it. It takes some minutes, and is no part of `make check`.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# Usage: tests/blas/suites.sh LIBRARY [SUITE]...
#     LIBRARY  libtilemm-blas.so
#     SUITE    PYTHON:numpy, PYTHON:scipy (PYTHON has the package and pytest) or octave
# By default those of /usr/bin/python3 and of Octave. A wheel's: python3 -m venv DIR,
# DIR/bin/pip install numpy scipy pytest hypothesis, and DIR/bin/python:numpy.
set -u
if [ $# = 0 ] || [ ! -f "$1" ]; then
    sed -n 's/^# \(Usage.*\)/\1/p' "$0"
    exit 2
fi
library=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
[ $# -gt 0 ] || set -- /usr/bin/python3:numpy /usr/bin/python3:scipy octave
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# outcomes NAME COMMAND...: what each test gave, a line each, in NAME.with and NAME.without.
python_outcomes()
{
    python=$1 out=$2
    shift 2
    "$python" -m pytest -q -p no:cacheprovider --pyargs "$@" --junitxml="$out.xml" >"$out.log" 2>&1
    "$python" - "$out.xml" >"$out" <<'END'
import sys, xml.etree.ElementTree
for case in xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"):
    outcome = next((c.tag for c in case if c.tag in ("failure", "error", "skipped")), "passed")
    print(outcome, case.get("classname"), case.get("name"))
END
}

octave_outcomes()
{
    octave-cli --no-history --eval '
        failed = 0;
        for n = [1 2 3 7 31 64 100 257 600]
            for t = 0:3
                rand("seed", n); a = rand(n, n + 3, "single"); b = rand(n + 3, n, "single");
                switch t
                    case 0, c = a * b;   d = double(a) * double(b);
                    case 1, c = b'"'"' * a'"'"'; d = double(b)'"'"' * double(a)'"'"';
                    case 2, c = a * a'"'"';  d = double(a) * double(a)'"'"';
                    case 3, c = a'"'"' * a;  d = double(a)'"'"' * double(a);
                end
                good = isa(c, "single") && max(abs(double(c) - d)(:)) <= 2e-7 * (n + 3) * max(d(:));
                printf("%s product %d %d\n", {"failure", "passed"}{good + 1}, n, t);
            end
            x = rand(n, 1, "single"); y = rand(n, 1, "single");
            good = abs(x'"'"' * y - double(x)'"'"' * double(y)) <= 1e-6 * n && ...
                   abs(norm(x) - norm(double(x))) <= 1e-5 * n;
            printf("%s vectors %d\n", {"failure", "passed"}{good + 1}, n);
            s = single(a(:, 1:n)) + n * eye(n, "single");
            good = norm(s * (s \ x) - x) <= 1e-4 * norm(x);
            printf("%s solve %d\n", {"failure", "passed"}{good + 1}, n);
        end
        printf("%s NaN\n", {"failure", "passed"}{1 + isnan(single([NaN 1]) * single([0; 1]))});
        ' >"$1" 2>"$1.log"
}

# Each suite without the drop-in and with it.
for suite in "$@"; do
    name=$(printf %s "$suite" | tr -c 'a-z0-9\n' _)
    for with in without with; do
        preload=
        [ $with = without ] || preload=$library
        (
            [ -z "$preload" ] || export LD_PRELOAD="$preload${LD_PRELOAD:+:$LD_PRELOAD}"
            case $suite in
            *:numpy) python_outcomes "${suite%:*}" "$name.$with" numpy.linalg \
                "$("${suite%:*}" -c 'import numpy
print("numpy._core" if hasattr(numpy, "_core") else "numpy.core")').tests.test_multiarray" ;;
            *:scipy) python_outcomes "${suite%:*}" "$name.$with" scipy.linalg ;;
            octave) octave_outcomes "$name.$with" ;;
            *) echo "no suite $suite" >&2 ;;
            esac
        )
        printf '%-40s %-8s' "$suite" "$with"
        cut -d' ' -f1 "$name.$with" | sort | uniq -c | tr '\n' ' '
        echo
    done
    if [ ! -s "$name.with" ] || ! grep -q '^passed' "$name.without"; then
        tail -n 5 "$name.with.log" && failed=1
    elif ! diff "$name.without" "$name.with"; then
        failed=1
    fi
done
[ $failed = 0 ] && echo "no difference"
exit $failed
