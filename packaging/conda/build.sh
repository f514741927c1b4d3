#!/bin/bash
# build.sh - configure, build, test and install for conda-forge.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # conda sets the variant's variables
set -eux

cp "$BUILD_PREFIX"/share/gnuconfig/config.* build-aux/

cuda=(--without-cuda)
[[ $cuda_compiler_version == None ]] || cuda=(--with-cuda --with-cudart=shared)
./configure --prefix="$PREFIX" --host="$HOST" --build="$BUILD" --disable-static --disable-fortran \
    --without-mpi --with-reference-blas=no "${cuda[@]}" || { cat config.log && exit 1; }
make -j"$CPU_COUNT"
[[ ${CONDA_BUILD_CROSS_COMPILATION:-0} == 1 ]] || make -j"$CPU_COUNT" check TILEMM_TEST_QUICK=1
make install
rm "$PREFIX"/lib/libtilemm.la "$PREFIX"/lib/libtilemm-blas.la
