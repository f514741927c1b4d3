#!/bin/sh
# fortran_header.sh - fortran/tilemm.f90 has every function and structure of tilemm.h, and no other,
# with the same arguments and members: names, types, and whether they are addresses.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

source=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# Lines "FUNCTION returns TYPE", "FUNCTION 1 NAME TYPE"; "STRUCTURE MEMBER TYPE". A type ends in &
# for an address, in const& for one of constants; void * and a handle are "address".
awk '
BEGIN {
    fortran["int"] = "c_int"; fortran["size_t"] = "c_size_t"; fortran["float"] = "c_float"
    fortran["double"] = "c_double"; fortran["char"] = "c_char"; fortran["uint32_t"] = "c_int32_t"
    fortran["int64_t"] = fortran["uint64_t"] = "c_int64_t"
    fortran["tilemm_t"] = "address"; fortran["tilemm_log_t"] = "function"
}
function type_of(c, stars, constant, base) {
    stars = gsub(/\*/, "*", c)
    constant = stars == 1 ? c ~ /^const / : c ~ /\*const ?\*/
    base = c
    gsub(/const|[* ]/, "", base)
    if (base == "void" || stars == 2) { base = "address"; stars-- }
    return (base in fortran ? fortran[base] : base) (stars > 0 ? (constant ? " const&" : " &") : "")
}
/^#/ { next }
{ text = text " " $0 }
END {
    while (match(text, /\/\*([^*]|\*+[^*\/])*\*+\//))
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
    gsub(/ +/, " ", text)
    rest = text
    while (match(rest, /(const )?[a-z0-9_]+ \**tilemm_[a-z0-9_]+\([^()]*\);/)) {
        found = substr(rest, RSTART, RLENGTH - 2)
        rest = substr(rest, RSTART + RLENGTH)
        name = found; sub(/\(.*/, "", name); result = name
        sub(/.*[ *]/, "", name); sub(/tilemm_[a-z0-9_]+$/, "", result); sub(/ $/, "", result)
        print name " returns " (result == "const char *" ? "address" : type_of(result))
        sub(/^[^(]*\(/, "", found)
        count = found == "void" ? 0 : split(found, list, /, */)
        for (i = 1; i <= count; i++) {
            type = argument = list[i]
            sub(/.*[ *]/, "", argument); sub(/[a-z0-9_]+$/, "", type)
            print name, i, argument, type_of(type)
        }
    }
    while (match(text, /struct \{[^}]*\} tilemm_[a-z_]+;/)) {
        found = substr(text, RSTART + 8, RLENGTH - 9)
        text = substr(text, RSTART + RLENGTH)
        name = found; sub(/.*\} /, "", name); sub(/\}.*/, "", found)
        count = split(found, list, /;/)
        for (i = 1; i < count; i++) {
            type = list[i]; sub(/^ /, "", type); sub(/ .*/, "", type)
            sub(/^ *[a-z0-9_]+ /, "", list[i])
            members = split(list[i], member, /, */)
            for (j = 1; j <= members; j++)
                print name, member[j], type_of(type)
        }
    }
}' "$source/include/tilemm.h" >"$dir/c" || exit 1

awk '
function type_of(declared, base) {
    base = declared
    sub(/^[a-z]+\((kind=)?/, "", base); sub(/\).*/, "", base)
    if (base == "c_ptr" || base == "*") base = "address"
    if (base == "c_funptr") base = "function"
    if (declared ~ /value/ || declared ~ /^type\(\*\)/ || declared !~ /intent/) return base
    return base (declared ~ /intent\(in\)/ ? " const&" : " &")
}
{ sub(/^ +/, "") }
/^!/ { next }
/&$/ { sub(/ *&$/, " "); before = before $0; next }
{ line = before $0; before = "" }
line ~ /bind\(c/ && line ~ / function / {
    name = line
    if (!sub(/.*name="/, "", name)) { sub(/.* function /, "", name); sub(/\(.*/, "", name) }
    sub(/".*/, "", name)
    result = line; sub(/ function .*/, "", result)
    arguments = line; sub(/.* function [a-z0-9_]+\(/, "", arguments); sub(/\).*/, "", arguments)
    split("", types)
    within = 1
    next
}
line ~ /^type, bind\(c\) ::/ { structure = line; sub(/.*:: /, "", structure); next }
line == "end type" { structure = ""; next }
line == "end function" && within {
    within = 0
    if (name !~ /^tilemm_/) next
    print name " returns " type_of(result)
    count = split(arguments, list, /, */)
    for (i = 1; i <= count; i++) print name, i, list[i], types[list[i]]
    next
}
line ~ / :: / && (within || structure != "") {
    split(line, halves, / :: /)
    count = split(halves[2], list, /, */)
    for (i = 1; i <= count; i++) {
        declared = list[i]
        if (within) sub(/\(\*\)/, "", declared)
        sub(/\(/, "[", declared); sub(/\)/, "]", declared)
        if (within) types[declared] = type_of(halves[1])
        else print structure, declared, type_of(halves[1])
    }
}' "$source/fortran/tilemm.f90" >"$dir/fortran" || exit 1

sort "$dir/c" >"$dir/c.sorted"
sort "$dir/fortran" | diff "$dir/c.sorted" - || { echo "failed: < tilemm.h, > tilemm.f90"; exit 1; }
functions=$(grep -c returns "$dir/c")
[ "$functions" -gt 40 ] || { echo "failed: only $functions functions in tilemm.h"; exit 1; }
echo "$functions functions, $(wc -l <"$dir/c") checks, 0 failed"
