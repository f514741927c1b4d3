#!/bin/sh
# manual_html.sh - the man pages are clean for mandoc and groff, and as HTML they have no dead links.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$TILEMM_LIB")/.." && pwd)
if ! command -v mandoc >/dev/null; then
    echo "skipped: mandoc is not installed"
    exit 77
fi
# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL

pages=$build/doc/man
[ -d "$pages" ] || pages=$source/doc/man
for page in "$pages"/*.[37] "$source/doc/tilemm.1"; do
    checks=$((checks + 1))
    said=$(mandoc -T lint -W warning "$page") || fail "$said"
    if command -v groff >/dev/null; then
        said=$(groff -mandoc -ww -z -Tutf8 "$page" 2>&1)
        [ -z "$said" ] || fail "$page: $said"
    fi
done

make -s -C "$build" MANDOC=mandoc DESTDIR="$dir/dest" htmldir=/html install-html >log 2>&1 || fail "$(cat log)"
cd "$dir/dest/html" || exit 1
while read -r link page; do
    [ -f "$link.html" ] || fail "no $link.html"
    [ -f "$page.html" ] || fail "no $page.html"
done <"$pages/links"
grep -oE '(href="|url=)[^"]*' ./*.html | sed 's/^\.\///; s/:\(href="\|url=\)/ /' | sort -u >"$dir/links"
while read -r file target; do
    checks=$((checks + 1))
    page=${target%%#*}
    page=${page:-$file}
    [ -f "$page" ] || fail "$file: $target"
    case $target in
    *#*) grep -q "id=\"${target#*#}\"" "$page" || fail "$file: $target" ;;
    esac
done <"$dir/links"
[ $checks -gt 300 ] || fail "only $checks links"

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
