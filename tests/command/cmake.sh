#!/bin/sh
# cmake.sh - README's program, built by CMake with find_package(tilemm) against an installed library:
# shared and static, in a multiarch folder, staged, moved, and with parts of it missing.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

if ! command -v cmake >/dev/null; then
    echo "skipped: there is no cmake"
    exit 77
fi
build=$(pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"
export CC
for word in $STATIC_LIBS; do
    case $word in -fsanitize=*) export CFLAGS="$word" ;; esac
done
[ -z "$HAVE_CUDA" ] || export CUDAToolkit_ROOT="${NVCC%/bin/nvcc}"
unset CMAKE_PREFIX_PATH LD_LIBRARY_PATH

# install_library VARIABLE=VALUE...: what a development package holds.
install_library() {
    MAKEFLAGS='' make -C "$build" "$@" install-libLTLIBRARIES install-includeHEADERS install-cmakeDATA \
        >log 2>&1 || { cat log && fail "make install $*"; }
}

# shellcheck disable=SC2016 # backquotes are text
sed -n '/^```c$/,/^```$/p' "$source/README.md" | sed '1d;$d' >program.c
printf '4 5\n10 11\nsum 30\n' >wanted
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(program C)
find_package(tilemm ${wanted} REQUIRED)
if(TARGET tilemm::tilemm_static)
  add_executable(static program.c)
  target_link_libraries(static PRIVATE tilemm::tilemm_static)
endif()
add_executable(default program.c)
target_link_libraries(default PRIVATE tilemm::tilemm)
END

# configure STATUS LIBDIR [VERSION]: whether find_package finds the library, of that version.
configure() {
    checks=$((checks + 1))
    rm -rf out
    cmake -S . -B out -Dtilemm_DIR="$2/cmake/tilemm" -Dwanted="${3-0.1}" >log 2>&1
    [ $? -eq "$1" ] || { cat log && fail "cmake of $2, version ${3-0.1}: must be $1"; }
}
# builds LIBDIR PROGRAM...: these programs are built, no other, and print what README says.
builds() {
    configure 0 "$1"
    cmake --build out >log 2>&1 || { cat log && fail "the build with $1"; }
    shift
    for program in default static; do
        checks=$((checks + 1))
        case " $* " in
        *" $program "*)
            $RUN "out/$program" >printed # the emulator is words
            cmp -s wanted printed || fail "$program printed: $(cat printed)"
            ;;
        *) [ ! -f "out/$program" ] || fail "$program was built" ;;
        esac
    done
}
# needs PROGRAM STATUS: whether it needs the shared library.
needs() {
    checks=$((checks + 1))
    grep -q 'libtilemm\.so\.0' "out/$1"
    [ $? -eq "$2" ] || fail "out/$1 needs libtilemm.so.0, or should"
}

static=$(ls "$build/.libs/libtilemm.a" 2>/dev/null)
shared=$(ls "$build/.libs/libtilemm.so" 2>/dev/null)

# Installed where configure was not told, in a multiarch folder.
install_library prefix="$dir/usr" libdir="$dir/usr/lib/multi-arch" includedir="$dir/usr/include"
lib=$dir/usr/lib/multi-arch
builds "$lib" default ${static:+static}
[ -z "$shared" ] || needs default 0
[ -z "$static" ] || needs static 1
checks=$((checks + 1))
! grep -q "$build\|$source" "$lib"/cmake/tilemm/*.cmake || fail "a package names the build's folders"

# Through a link, as /lib on a system whose /lib is /usr/lib.
ln -s usr/lib lib
builds "$dir/lib/multi-arch" default ${static:+static}

# Moved, by DESTDIR and by hand.
mkdir moved && mv usr moved/there
builds "$dir/moved/there/lib/multi-arch" default ${static:+static}
install_library DESTDIR="$dir/staged" prefix=/usr libdir=/usr/lib64 includedir=/usr/include
builds "$dir/staged/usr/lib64" default ${static:+static}

# Versions: the library's own, and another one.
lib=$dir/staged/usr/lib64
for version in 0.0 0.2 0.1.9 1 1.1 '0.2...<1' '0.0...<0.1'; do
    configure 1 "$lib" "$version"
done
for version in '' 0.1 0.1.0 0.1...0.5 '0.0...<1' '0.1.0;EXACT'; do
    configure 0 "$lib" "$version"
done
file=$lib/cmake/tilemm/tilemmConfigVersion.cmake
sed 's/set(PACKAGE_VERSION "[^"]*")/set(PACKAGE_VERSION "2.3.4")/' "$file" >log && mv log "$file"
for version in 0.1 1 2.4 2.3.5 3; do
    configure 1 "$lib" "$version"
done
for version in 2 2.0 2.2.9 '2.3.4;EXACT'; do
    configure 0 "$lib" "$version"
done
sed 's/EQUAL "[48]"/EQUAL "2"/' "$file" >log && mv log "$file"
configure 1 "$lib" 2

# Without the shared library, without the static one, without both.
lib=$dir/moved/there/lib/multi-arch
if [ -n "$shared" ] && [ -n "$static" ]; then
    mkdir aside && mv "$lib"/libtilemm.so* aside/
    builds "$lib" default static
    needs default 1
    mv aside/* "$lib" && mv "$lib/libtilemm.a" aside/
    builds "$lib" default
fi
rm -f "$lib"/libtilemm.*
configure 1 "$lib"
has log 'has no libtilemm.so'

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
