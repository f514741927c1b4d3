#!/bin/sh
# symbols.sh - the shared library defines the functions of the header and nothing else, and needs
# neither a C++ runtime nor a peer library.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# Environment: TILEMM_LIB, the shared library; NM (nm) and READELF (readelf).
set -u
header=$(cd "$(dirname "$0")/../.." && pwd)/include/tilemm.h
lib=${TILEMM_LIB:-}
nm=${NM:-nm}
readelf=${READELF:-readelf}
failed=0

if [ -z "$lib" ] || [ ! -f "$lib" ]; then
    echo "skipped: no shared library was built (TILEMM_LIB=$lib)"
    exit 77
fi
# NM may come with options, as Libtool finds it.
nm=${nm%% *}
if ! command -v "$nm" >/dev/null 2>&1 || ! command -v "$readelf" >/dev/null 2>&1; then
    echo "skipped: no $nm or no $readelf"
    exit 77
fi
fail()
{
    echo "FAILED: $*"
    failed=1
}

# Versioned names are name@@VERSION; the version itself is an absolute symbol. Those of TILEMM_PRIVATE are for
# the libraries that are built with this one.
all=$("$nm" -D --defined-only "$lib" | awk '$2 != "A" { print $NF }')
private=$(echo "$all" | sed -n 's/@@TILEMM_PRIVATE$//p')
defined=$(echo "$all" | grep -v '@@TILEMM_PRIVATE$' | sed 's/@.*//' | sort -u)
[ "$private" = tilemm__fail ] || fail "private are: $private"
[ -n "$defined" ] || fail "$lib defines nothing"
for symbol in $defined; do
    case $symbol in
    tilemm__*) fail "$symbol is internal, and exported" ;;
    tilemm_*) ;;
    *) fail "$symbol is exported" ;;
    esac
done

# Functions that the header declares: a tilemm_name before an opening parenthesis, outside
# comments and preprocessor lines.
declared=$(awk '
    /^[ \t]*#/ { next }
    {
        line = $0
        out = ""
        while (line != "") {
            if (inside) {
                at = index(line, "*/")
                if (!at) { line = ""; break }
                line = substr(line, at + 2)
                inside = 0
            } else {
                at = index(line, "/*")
                if (!at) { out = out line; break }
                out = out substr(line, 1, at - 1)
                line = substr(line, at + 2)
                inside = 1
            }
        }
        while (match(out, /tilemm_[a-z0-9_]+ *\(/)) {
            name = substr(out, RSTART, RLENGTH - 1)
            sub(/ *$/, "", name)
            print name
            out = substr(out, RSTART + RLENGTH)
        }
    }' "$header" | sort -u)
count=0
for function in $declared; do
    count=$((count + 1))
    echo "$defined" | grep -qx "$function" || fail "$function is declared, and not exported"
done
[ "$count" -ge 36 ] || fail "only $count declarations were found in $header"
for symbol in $defined; do
    echo "$declared" | grep -qx "$symbol" || fail "$symbol is exported, and not declared"
done

needed=$("$readelf" -d "$lib" | awk '/NEEDED/ { print $NF }')
for name in $needed; do
    case $name in
    *libstdc++* | *libc++* | *cublas* | *openblas* | *libblas* | *libcuda.*)
        fail "$lib needs $name" ;;
    esac
done
undefined=$("$nm" -D --undefined-only "$lib" | awk '{ print $NF }')
for symbol in $undefined; do
    case $symbol in
    _Z* | __cxa_throw* | __cxa_begin_catch* | __gxx_personality* | cublas* | cblas_* | openblas* | sgemm_*)
        fail "$lib uses $symbol" ;;
    esac
done
[ $failed -eq 0 ] && printf "%s functions exported, nothing else; needed: %s\n" "$count" "$needed"
exit $failed
