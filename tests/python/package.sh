#!/bin/sh
# package.sh - the tests of the Python package. TILEMM_INSTALLED=1: of the one that is installed.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

# shellcheck source=tests/python/python.sh
. "$(dirname "$0")/python.sh"
# shellcheck source=tests/support/share_gpus.sh
. "$(dirname "$0")/../support/share_gpus.sh"
# NumPy may multiply by OpenBLAS, which stops its threads before a fork, and sometimes waits for ever
# if another thread multiplies then.
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS
cd "$(dirname "$0")" && exec "$python" -m pytest -q -p no:cacheprovider -W error::RuntimeWarning -rs .
