# Copyright (c) 2026 The libtilemm authors.
#
# SPDX-License-Identifier: BSD-3-Clause

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Libtilemm(AutotoolsPackage, CudaPackage):
    """Tiled single-precision matrix products, transposes and reductions on CUDA GPUs and CPUs.
    Sums have the same bits on every run, backend and number of threads."""

    homepage = "https://example.org/libtilemm"
    url = "https://example.org/libtilemm/libtilemm-0.1.0.tar.gz"

    license("BSD-3-Clause")

    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant(
        "libs",
        default="shared,static",
        values=("shared", "static"),
        multi=True,
        description="Which libraries to build",
    )
    variant("fortran", default=False, description="Compile the Fortran module")
    variant("mpi", default=False, description="Build libtilemm-mpi, for distributed matrices")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("gmake", type="build")
    depends_on("mpi@3:", when="+mpi")
    depends_on("cuda@11.8:", when="+cuda")

    requires("%fortran=gcc", when="+fortran", msg="gfortran compiles the module")
    conflicts("platform=darwin", msg="Linux alone is supported")
    conflicts("platform=windows", msg="Linux alone is supported")
    for _arch in (10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72):
        conflicts(f"cuda_arch={_arch}", when="+cuda", msg="compute capability 7.5 or more")

    def configure_args(self):
        args = ["--with-reference-blas=no", "--without-python"]
        args += self.enable_or_disable("libs")
        args += self.enable_or_disable("fortran")
        has_mpi = self.spec.satisfies("+mpi")
        args += [f"--with-mpi={self.spec['mpi'].mpicc}" if has_mpi else "--without-mpi"]
        if not self.spec.satisfies("+cuda"):
            return args + ["--without-cuda"]
        args += [f"--with-cuda={self.spec['cuda'].prefix}", "--with-cudart=shared"]
        # The kernels for Hopper are in code for 90a.
        archs = ["90a" if arch == "90" else arch for arch in self.spec.variants["cuda_arch"].value]
        return args if archs == ["none"] else args + ["--with-cuda-arch=" + ",".join(archs)]

    def check(self):
        """The tests, the shorter ones."""
        make("check", "TILEMM_TEST_QUICK=1")

    def test_command(self):
        """the command tells its version and what it can use"""
        tilemm = which(self.prefix.bin.tilemm)
        assert str(self.spec.version) in tilemm("--version", output=str.split, error=str.split)
        assert "backend" in tilemm("info", output=str.split, error=str.split)
