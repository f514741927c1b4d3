# python.sh - for tests of the Python package: $python is a Python that has what they need, and finds the package
# and the library that was built. Included.
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh

if [ -z "${TILEMM_INSTALLED-}" ]; then
    case "${LINK_FLAGS-}${RUN-}" in *sanitize* | *qemu* | *valgrind*) TILEMM_LIB=none ;; esac
    if [ ! -f "$TILEMM_LIB" ]; then
        echo "skipped: no shared library that Python can load (--disable-shared, sanitizers or an emulator)"
        exit 77
    fi
    here=$(cd "$(dirname "$0")/../.." && pwd)
    PYTHONPATH=$here/python${PYTHONPATH:+:$PYTHONPATH}
    LD_LIBRARY_PATH=$(dirname "$TILEMM_LIB")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH PYTHONPATH
fi
# JAX would take three quarters of a GPU's memory, of which other tests need some.
export PYTHONDONTWRITEBYTECODE=1 XLA_PYTHON_CLIENT_PREALLOCATE=false
# Debian's python3-numpy belongs to /usr/bin/python3, which may not be the first in PATH.
python=
for candidate in "${PYTHON-}" python3 /usr/bin/python3; do
    if "$candidate" -c 'import sys, numpy, pytest; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "skipped: no Python 3.9 with NumPy and pytest"
    exit 77
fi
