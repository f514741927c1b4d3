# share_gpus.sh - sourced by scripts that may use a GPU, in the folder of the build: until they end no test
# runs that needs a GPU alone (test_begin_alone, program.h).
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
if { [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; } && command -v flock >/dev/null && : 2>/dev/null >>gpu.lock; then
    exec 9<gpu.lock
    flock -s 9
fi
