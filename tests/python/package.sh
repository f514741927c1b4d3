#!/bin/sh
# package.sh - the tests of the Python package. TILEMM_INSTALLED=1: of the one that is installed.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

# shellcheck source=tests/python/python.sh
. "$(dirname "$0")/python.sh"
# shellcheck source=tests/support/share_gpus.sh
. "$(dirname "$0")/../support/share_gpus.sh"
cd "$(dirname "$0")" && exec "$python" -m pytest -q -p no:cacheprovider -W error::RuntimeWarning -rs .
