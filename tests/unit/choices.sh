#!/bin/sh
# choices.sh - compares what the plans choose for 10,000 random problems on four machines with what
# they chose when choices.gz was written, and prints the difference.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
#
# usage: choices.sh, or choices.sh --renew to write choices.gz anew (make renew-choices does)
# Environment: CHOICES, the built program (tests/unit/choices)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
choices=${CHOICES:-tests/unit/choices}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
$choices >"$work/now" || exit 1
if [ "${1-}" = --renew ]; then
    gzip -9n <"$work/now" >"$here/choices.gz"
    exit
fi
gzip -dc "$here/choices.gz" >"$work/then" || exit 1
[ "$(wc -l <"$work/now")" -eq 10000 ] || { echo "not 10000 problems" >&2; exit 1; }
cmp -s "$work/then" "$work/now" && exit 0
echo "$(diff "$work/then" "$work/now" | grep -c '^>') of 10000 choices changed, the first of them:" >&2
diff "$work/then" "$work/now" | head -n 40 >&2
echo "If that is meant: make renew-choices" >&2
exit 1
