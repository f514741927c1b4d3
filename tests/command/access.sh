#!/bin/sh
# access.sh - tilemm banks and tilemm coalescing: their pictures, figures, files and messages.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"
unset NO_COLOR

banks() { # SUMMARY ARGUMENT...
    summary=$1
    shift
    run_command 0 banks "$@"
    has stdout "$summary"
}
moves() {
    summary=$1
    shift
    run_command 0 coalescing "$@"
    has stdout "$summary"
}
refuses() { # MESSAGE ARGUMENT...
    message=$1
    shift
    for verb in banks coalescing; do
        run_command 2 $verb "$@"
        has stderr "$message"
    done
}

# ---- banks ------------------------------------------------------------------------------

banks '^32 wavefronts where 1 would do: 31 conflicts, 32-way at worst$' --tile 32x32 --access column
has stdout '^31 (conflict) '
has stdout '^  *bank$'
has stdout '^free of conflicts, as are rows: rows of 33 elements$'
has stdout '^free of conflicts, as are rows: row\*32 + (col ^ (row >> 0 & 31) \* 1)$'
# What the command advises holds.
banks '^free of conflicts: 1 wavefront$' --expr 'row*32 + (col ^ (row >> 0 & 31) * 1)' \
    --access column --at 0,7
banks '^free of conflicts: 1 wavefront$' --tile 32x33 --elem 4 --access column --cc 90
banks '^free of conflicts: 1 wavefront$' --expr 'row*33+col' --access column --cc 9.0
banks '^free of conflicts: 1 wavefront$' --tile 32x32
banks '^free of conflicts: 2 wavefronts$' --tile 32x33 --access column --cc 10
banks '^4 wavefronts where 2 would do' --stride 2 --cc 13
banks '^free of conflicts: 1 wavefront$' --stride 3
banks '^2 wavefronts where 1 would do: 1 conflict, 2-way' --stride 2
banks '^free of conflicts: 1 wavefront$' --stride 0
has stdout ' 0+'
banks '^free of conflicts: 4 wavefronts$' --stride 4 --vector 4
banks 'wavefronts where 4 would do' --tile 32x32 --vector 4 --access column
has stdout 'rows of 36 elements'
banks '^free of conflicts: 1 wavefront$' --tile 8x32 --access 4x8 --at 4,0 --active f
banks '^no lane is active$' --stride 1 --active 0
banks '1 conflict,' --expr 'lane*2 + i' --i 5
run_command 0 banks --stride 2 --color always
has stdout "$(printf '\033')\\[31m"
run_command 0 banks --stride 2
! grep -q "$(printf '\033')" stdout || fail 'colours in a file'
# A tile of fewer rows than lanes.
banks '^4 wavefronts where 1' --tile 4x32 --access column

# ---- coalescing ---------------------------------------------------------------------------

moves '^4 sectors of 32 bytes in 1 line of 128; 128 bytes wanted, 128 moved in 4 .*: efficiency 100 %' \
    --stride 1
moves '^5 sectors of 32 bytes in 2 lines of 128; .* 160 moved .*: efficiency 80 %' --stride 1 --base 4
moves '2 lines of 128; .* 256 moved in 2 transactions: efficiency 50 %' --stride 1 --base 4 --cc 20
moves '160 moved in 5 transactions: efficiency 80 %' --stride 1 --base 4 --cc 20 --no-l1
moves '160 moved in 5 transactions: efficiency 80 %' --stride 1 --base 4 --cc 20 --store
moves '1024 moved in 32 transactions: efficiency 12.5 %' --tile 1024x1024 --access column
moves '^1 sector of 32 bytes in 1 line of 128; 4 bytes wanted, 32 moved in 1 transaction:' --stride 0
moves '^no lane is active$' --stride 1 --active 0
# Groups of lanes whose neighbours load the same elements are served together.
banks '^free of conflicts: 1 wavefront$' --expr 'lane / 2' --elem 8
banks '^free of conflicts: 2 wavefronts$' --expr 'lane / 2' --elem 8 --store
run_command 2 banks --stride 1 --no-l1

# ---- addresses from a file ----------------------------------------------------------------

printf '0x80 132, .\n# none\n4 # the last\n' >addresses
banks '^2 wavefronts where 1 would do: 1 conflict' addresses
has stdout 'addresses from addresses'
moves '^2 sectors of 32 bytes in 2 lines of 128; 12 bytes wanted, 64 moved' addresses
checks=$((checks + 1))
"$TILEMM" banks - <addresses | grep -q '^2 wavefronts' || fail 'standard input'
for text in '' '1x' '-4' '99999999999999999999999' '0x' "$(seq 0 4 128)"; do
    echo "$text" >wrong
    run_command 1 banks wrong
    run_command 1 coalescing wrong
done
has stderr 'more than 32 addresses'
echo '0 6' >wrong
run_command 1 banks wrong
has stderr 'addr\[1\] = 6, must be a multiple of elem_bytes = 4'
run_command 1 banks nothing-there
has stderr 'nothing-there: '
run_command 1 banks . # a directory

# ---- files --------------------------------------------------------------------------------

for verb in banks coalescing; do
    run_command 0 $verb --stride 2 --svg picture.svg
    has picture.svg '^<svg '
    run_command 0 $verb --expr 'lane << 1 & 62' --svg -
    has stdout '&lt;&lt; 1 &amp; 62'
    tail -n 1 stdout | grep -q '^</svg>$' || fail 'SVG does not end'
    if command -v xmllint >/dev/null 2>&1; then
        checks=$((checks + 1))
        xmllint --noout stdout picture.svg || fail 'SVG is not XML'
    fi
    run_command 0 $verb --stride 2 --active 7 --json
    has stdout '"addr": \[0, 8, 16, null,'
    if command -v python3 >/dev/null 2>&1; then
        checks=$((checks + 1))
        python3 -c 'import json; json.load(open("stdout"))' || fail 'not JSON'
        run_command 0 $verb --stride 2 --active 0 --json
        python3 -c 'import json; json.load(open("stdout"))' || fail 'not JSON: no lane'
    fi
    run_command 1 $verb --stride 1 --svg nowhere/picture.svg
    run_command 1 $verb --stride 1 --svg .
done
run_command 0 banks --stride 2 --json
has stdout '"wavefronts": 2,'
has stdout '"conflicts": 1,'
run_command 0 coalescing --stride 2 --json
has stdout '"sectors": 8,'
has stdout '"efficiency": 0.5,'

# All of a picture lies within it, in the widest of the common fonts: 7 points a letter, 9 in the title.
fits() { # FILE
    checks=$((checks + 1))
    awk -F '[<>"]' '/^<svg/ { width = $5; height = $7 }
        /^<text x="12"/ { text = $(NF - 2); gsub(/&[a-z]*;/, "x", text)
            if (12 + length(text) * (/bold/ ? 9 : 7) > width || $5 > height - 3) bad = 1 }
        END { exit bad || !width }' "$1" || fail "cut: $1"
}
run_command 0 banks --stride 2 --cc 1.3 --svg -
fits stdout
has stdout '>8!</text>'
has stdout '>bank</text>'
run_command 0 banks --access column --svg - --expr 'row*33 + (col ^ row) + 0*(lane + 1111111111111111) + 0*(col + 222222)'
fits stdout
[ "$(grep -c 'font-weight="bold"' stdout)" -eq 2 ] || fail 'a long title is not broken'
run_command 0 coalescing --stride 2 --svg -
has stdout '>-</text>'
run_command 0 coalescing --expr 'lane / 2' --svg -
has stdout '>30+</text>'
# On a terminal of 80 columns: fewer numbers, which do not touch, and no mark that is not drawn.
if script -qec 'stty cols 80' /dev/null </dev/null >/dev/null 2>&1; then
    for verb in banks coalescing; do
        checks=$((checks + 2))
        script -qec "stty cols 80; '$TILEMM' $verb --stride 2 --color never" /dev/null </dev/null |
            tr -d '\r' >narrow
        awk 'length($0) > 80 && !/[.%]$/ { exit 1 }' narrow || fail "wider than 80: $(cat narrow)"
        ! grep -q '[!+] a lane\|+ several\|[0-9]!' narrow || fail "marks: $(cat narrow)"
    done
    script -qec "stty cols 80; '$TILEMM' banks --stride 2 --color always" /dev/null </dev/null |
        tr -d '\r' >narrow
    has narrow '^wavefront  *0   2   4   6   8  10  12 .* 30$'
    has narrow '; cyan several lanes share a word; red a lane had to wait\.$'
fi

# The documentation's pictures are what the command draws.
mkdir pictures
checks=$((checks + 1))
TILEMM=$TILEMM "$source/doc/pictures.sh" pictures || fail 'doc/pictures.sh'
for picture in pictures/*.svg "$source"/doc/pictures/*.svg; do
    checks=$((checks + 1))
    fits "$picture"
    cmp -s "pictures/${picture##*/}" "$source/doc/pictures/${picture##*/}" ||
        fail "doc/$picture is not what the command draws: doc/pictures.sh"
done

# ---- expressions --------------------------------------------------------------------------

value() { # VALUE EXPRESSION: the element of lane 3, row 2, column 5, i 7
    checks=$((checks + 1))
    "$TILEMM" banks --expr "$2" --access 1x4 --at 2,2 --i 7 --active 8 --elem 1 --json >stdout 2>&1
    grep -q "null, null, null, $1, null" stdout || fail "$2 is not $1: $(head -n 5 stdout)"
}
value 3 lane
value 2 row
value 5 col
value 7 i
value 14 '2 + 3*4'
value 20 '(2 + 3) * 4'
value 5 '10 - 3 - 2'
value 2 '17 / 4 / 2'
value 3 '17 % 7'
value 24 '3 << 2 + 1'
value 2 '2 | 4 ^ 6 & 7 ^ 2'
value 18 '0x10 | 2'
value 4 '-3 + i'
value 4 '- -4'
value 1 '~-2'
for wrong in '1 +' '(1' '1)' '1 2' 'x' 'lanes' '1 < 2' '1 << 63' '1 << -1' '1 / (lane - lane)' '1 % 0' \
    '9223372036854775807 + 1' '99999999999999999999' '1.5' '12ab' '0x' '$' '!1' '-1' '' ')' '*2' \
    '9223372036854775807' '1 << 62'; do
    run_command 2 banks --expr "$wrong"
done
refuses "--expr '1 +', at character 4: it ends where a number, a variable or '(' must be" --expr '1 +'
refuses "at character 7: 'y' is no variable; there are lane, row, col and i" --expr 'row + y'
refuses 'division by zero (lane 0)' --expr '1 / lane'
refuses 'lane 1 accesses element -1, must be' --expr '0 - lane'
run_command 2 banks --expr "$(printf '%1000s1' '' | tr ' ' '(')"
has stderr 'nested too deep'
run_command 2 banks --expr "$(printf '%100000s1' '' | tr ' ' '-')"

# ---- mistakes -----------------------------------------------------------------------------

refuses 'which addresses?'
refuses 'not two' --stride 1 --tile 2x2
refuses 'not two' --stride 1 file
refuses 'takes one file' file other
refuses '--tile takes' --tile 32
for tile in 0x4 4x0 x -1x4 4x 4x4x4 99999999x2 axb ''; do
    refuses '--tile takes' --tile "$tile"
done
refuses '--elem takes 1, 2, 4, 8 or 16' --stride 1 --elem 3
refuses '--elem takes' --stride 1 --elem 32
refuses '--vector takes' --stride 1 --vector 5
refuses 'a lane takes 1, 2, 4, 8 or 16 bytes at once' --stride 1 --elem 8 --vector 4
refuses 'must be a multiple of elem_bytes = 4' --stride 1 --base 2
refuses 'must be a multiple of elem_bytes = 8' --stride 1 --vector 2
refuses '--stride takes' --stride -1
refuses '--access takes' --tile 4x4 --access diagonal
refuses '--access takes' --tile 4x4 --access 8x8
refuses 'need --tile or --expr' --stride 1 --access row
refuses '--at takes' --tile 4x4 --at 3
refuses '--at 4,0 is not in a tile of 4 x 4' --tile 4x4 --at 4,0
refuses '--active takes' --stride 1 --active g
refuses '--active takes' --stride 1 --active 123456789
for cc in 9 0.9 9.10 x 9. ''; do
    refuses '--cc takes' --stride 1 --cc "$cc"
done
refuses '--color takes' --stride 1 --color sometimes
refuses 'needs a value' --stride
refuses 'not known' --nonsense

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
