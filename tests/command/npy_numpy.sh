#!/bin/sh
# npy_numpy.sh - `tilemm gemm`, `transpose` and `reduce` on files that NumPy wrote: every version,
# order and element type; results compared by NumPy.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"

# Debian's python3-numpy belongs to /usr/bin/python3, which may not be the first in PATH.
for python in python3 /usr/bin/python3; do
    if $python -c 'import numpy' 2>/dev/null; then
        PYTHON=$python
        break
    fi
done
if [ -z "$PYTHON" ]; then
    echo "skipped: no NumPy"
    exit 77
fi

cat >check.py <<'PYTHON'
import itertools
import os
import subprocess
import sys

import numpy as np

command = sys.argv[1].split()
os.chdir(sys.argv[2])
random = np.random.default_rng(7)
checks = failures = runs = 0


def check(condition, what):
    global checks, failures
    checks += 1
    if not condition:
        failures += 1
        print("failed:", what, file=sys.stderr)


def run(*words):
    # One run of 50 on the best backend: opening a GPU takes most of a second.
    global runs
    runs += 1
    backend = "auto" if runs % 50 == 0 else "cpu"
    done = subprocess.run(command + list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True,
                          env=dict(os.environ, TILEMM_BACKEND=backend))
    check(done.returncode == 0, "%s: status %d: %s" % (words, done.returncode, done.stderr))
    return done.stdout


def save(name, array, version=(1, 0)):
    with open(name, "wb") as file:
        np.lib.format.write_array(file, array, version=version)


def load(name):
    return np.load(name, allow_pickle=False)


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def order(array, fortran):
    return np.asfortranarray(array) if fortran else np.ascontiguousarray(array)


def same_product(c, a, b, before=0.0):
    a, b = a.astype(np.float64), b.astype(np.float64)
    bound = (a.shape[1] + 2) * 2.0 ** -24 * (np.abs(a) @ np.abs(b) + np.abs(before)) + 1e-40
    return (c.dtype == np.float32 and c.shape == (a.shape[0], b.shape[1])
            and bool(np.all(np.abs(c - (a @ b + before)) <= bound)))


# gemm: shapes, transposes, orders, versions
versions = [(1, 0), (2, 0), (3, 0)]
for number, (m, n, k) in enumerate([(1, 1, 1), (5, 7, 3), (64, 33, 65), (100, 1, 9), (1, 50, 20),
                                    (0, 3, 2), (3, 0, 2), (4, 5, 0)]):
    for trans_a, trans_b, fortran_a, fortran_b in itertools.product([0, 1], repeat=4):
        a, b = floats(m, k), floats(k, n)
        save("a.npy", order(a.T if trans_a else a, fortran_a), versions[number % 3])
        save("b.npy", order(b.T if trans_b else b, fortran_b), versions[(number + 1) % 3])
        words = ["gemm", "a.npy", "b.npy", "-o", "c.npy"]
        words += ["--trans-a"] * trans_a + ["--trans-b"] * trans_b
        run(*words)
        check(same_product(load("c.npy"), a, b), (words, m, n, k, fortran_a, fortran_b))
        check(load("c.npy").flags.c_contiguous, "C order")

# alpha, beta, math
a, b, c = floats(20, 30), floats(30, 10), floats(20, 10)
save("a.npy", a)
save("b.npy", b)
for fortran in [0, 1]:
    save("c.npy", order(c, fortran))
    run("gemm", "a.npy", "b.npy", "-o", "c.npy", "--alpha", "-2", "--beta", "0.5", "--math",
        "strict")
    check(same_product(load("c.npy"), -2 * a, b, 0.5 * c.astype(np.float64)), "alpha and beta")
# invariance: an element's sum is cut otherwise
x, y = floats(40, 200), floats(200, 30)
save("x.npy", x)
save("y.npy", y)


def product_of(*words, **variables):
    os.environ.update(variables)
    run("gemm", "x.npy", "y.npy", "-o", "z.npy", "--backend", "cpu", *words)
    for variable in variables:
        del os.environ[variable]
    check(same_product(load("z.npy"), x, y), (words, variables))
    return load("z.npy").tobytes()


plain, invariant = product_of(), product_of(TILEMM_INVARIANCE="batch")
check(plain != invariant, "invariance shows")
check(product_of("--invariance", "batch") == invariant, "--invariance batch")
check(product_of("--invariance", "none", TILEMM_INVARIANCE="batch") == plain, "--invariance none")

os.symlink("c.npy", "link.npy")
run("gemm", "a.npy", "b.npy", "--output=link.npy", "--backend", "cpu", "--threads", "1")
check(os.path.islink("link.npy") and same_product(load("c.npy"), a, b), "through a link")
run("gemm", "a.npy", "b.npy", "-o", "a.npy")
check(same_product(load("a.npy"), a, b), "over an input")

# transpose: every type of 1 to 16 bytes, both byte orders
types = ["?", "i1", "u1", "S1", "V1", "<i2", ">i2", "<u2", "<f2", ">f2", "S2", "V2", "<i4", ">u4",
         "<f4", ">f4", "S4", "<U1", ">U1", "V4", "<i8", ">i8", "<f8", ">f8", "<c8", ">c8", "S8",
         "<U2", "<M8[ns]", "<m8[25s]", "V8", "<c16", ">c16", "S16", "<U4", "V16"]
for number, name in enumerate(types):
    dtype = np.dtype(name)
    for rows, cols, fortran in [(1, 1, 0), (3, 5, 0), (3, 5, 1), (67, 130, 0), (0, 4, 0),
                                (1, 9, 1)]:
        raw = random.integers(0, 256, rows * cols * dtype.itemsize, dtype=np.uint8)
        if dtype.kind == "b":
            raw &= 1
        elif dtype.kind == "U":  # code points must be ones
            raw[:] = 0
            raw[0 if dtype.byteorder in "<=|" else 3::4] = 65
        a = order(np.frombuffer(raw.tobytes(), dtype).reshape(rows, cols), fortran)
        save("a.npy", a, versions[number % 3])
        run("transpose", "a.npy", "-o", "t.npy")
        t = load("t.npy")
        check(t.dtype == dtype and t.shape == (cols, rows) and t.tobytes() == a.T.tobytes(),
              ("transpose", name, rows, cols, fortran))

# reduce
operations = {
    "sum": lambda x, axis: np.sum(x, axis), "asum": lambda x, axis: np.sum(np.abs(x), axis),
    "sumsq": lambda x, axis: np.sum(x * x, axis),
    "nrm2": lambda x, axis: np.sqrt(np.sum(x * x, axis)),
    "mean": lambda x, axis: np.mean(x, axis), "max": lambda x, axis: np.max(x, axis),
    "min": lambda x, axis: np.min(x, axis), "amax": lambda x, axis: np.max(np.abs(x), axis),
    "amin": lambda x, axis: np.min(np.abs(x), axis),
    "imax": lambda x, axis: np.argmax(x, axis), "imin": lambda x, axis: np.argmin(x, axis),
    "iamax": lambda x, axis: np.argmax(np.abs(x), axis),
    "iamin": lambda x, axis: np.argmin(np.abs(x), axis),
}
for shape in [(1,), (1000,), (7, 11), (40, 3), (1, 5)]:
    for fortran in [0, 1]:
        # integers tie often: the first position in C order counts (+ 0: NumPy takes -0 for +0,
        # libtilemm orders it before)
        for x in [floats(*shape), np.round(3 * floats(*shape)) + np.float32(0)]:
            save("x.npy", order(x, fortran), versions[len(shape)])
            exact = x.astype(np.float64)
            for name, function in operations.items():
                for axis in [None] + ([0, 1] if len(shape) == 2 else []):
                    words = ["reduce", name, "x.npy"]
                    if axis is not None:
                        words += ["--axis", ["rows", "cols"][axis]]
                    want = function(exact, axis)
                    got = np.array([float(line) for line in run(*words).split()])
                    run(*words, "-o", "r.npy")
                    stored = load("r.npy")
                    integer = name[0] == "i"
                    check(stored.dtype == (np.int64 if integer else np.float32)
                          and stored.shape == np.shape(want), (words, stored.dtype, stored.shape))
                    check(np.all(np.abs(got - np.ravel(want)) <= 1e-6 * np.abs(np.ravel(want))
                                 + 1e-6)
                          and np.array_equal(got.astype(stored.dtype), np.ravel(stored)),
                          (words, shape, fortran, got, want))

x = floats(6, 4)
x[2, 1] = np.nan
for fortran in [0, 1]:
    save("x.npy", order(x, fortran))
    check(run("reduce", "max", "x.npy").strip() == "nan", "NaN propagates")
    check(np.float32(run("reduce", "max", "x.npy", "--nan", "ignore")) == np.nanmax(x),
          "NaN ignored")
    check(int(run("reduce", "imax", "x.npy")) == 9, "position of NaN")
    check(int(run("reduce", "imax", "x.npy", "--nan=ignore")) == np.nanargmax(x), "NaN left out")
save("x.npy", np.zeros((0, 3), np.float32))
check(run("reduce", "sum", "x.npy", "--axis", "rows").split() == ["0", "0", "0"], "empty axis")
check(run("reduce", "sum", "x.npy", "--axis", "cols") == "", "no results")
check(run("reduce", "imax", "x.npy") == "-1\n", "no position")

left = [name for name in os.listdir(".") if name.startswith(".")]
check(not left, ("temporary files", left))
print("%d checks, %d failed" % (checks, failures))
sys.exit(1 if failures or not checks else 0)
PYTHON

mkdir work || exit 1
$PYTHON check.py "$TILEMM" work
