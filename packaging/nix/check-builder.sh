# check-builder.sh - the phases of nixpkgs' stdenv that package.nix uses, in short.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2086,SC2154 # lists of words; variables of the derivation
set -eu
runHook() { :; }
cd "$(mktemp -d)"
tar xf "$src"
cd "$pname-$version"
./configure --prefix="$out" $configureFlags
make -j2
[ -z "$doCheck" ] || make check $checkFlags
make install
[ -z "$doInstallCheck" ] || eval "$installCheckPhase"
