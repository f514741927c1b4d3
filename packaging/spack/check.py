"""check.py RECIPE SOURCE - execute the Spack recipe with stand-ins for Spack's classes and
directives; SOURCE/configure must know each option that configure_args() returns.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""
import pathlib
import re
import subprocess
import sys
import types

DIRECTIVES = "conflicts depends_on license requires variant version".split()
called = []


class Spec:
    """A spec, by its variants."""

    def __init__(self, **variants):
        self.variants = {name: types.SimpleNamespace(value=variants[name]) for name in variants}

    def satisfies(self, text):
        return self.variants[text[1:]].value == {"+": True, "~": False}[text[0]]

    def __getitem__(self, name):
        assert name in ("cuda", "mpi")
        return types.SimpleNamespace(prefix="/nowhere", mpicc="/nowhere/bin/mpicc")


class AutotoolsPackage:
    def enable_or_disable(self, name):
        options = {args[0]: options for directive, args, options in called if directive == "variant"}
        value = self.spec.variants[name].value
        values = options[name].get("values", [name])
        return [f"--{'enable' if value is True or value and each in value else 'disable'}-{each}"
                for each in values]


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)


def directive(name):
    return lambda *args, **options: called.append((name, args, options))


for package in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
    module(package)
module("spack_repo.builtin.build_systems.autotools", AutotoolsPackage=AutotoolsPackage)
module("spack_repo.builtin.build_systems.cuda", CudaPackage=type("CudaPackage", (), {}))
module("spack.package", **{name: directive(name) for name in DIRECTIVES}, make=None, which=None)


def main(recipe, source):
    members = {}
    exec(compile(pathlib.Path(recipe).read_text(), recipe, "exec"), members)
    package = members["Libtilemm"]()
    missing = set(DIRECTIVES) - {name for name, _, _ in called}
    assert not missing, f"no {missing}"
    common = {"libs": ("shared",), "fortran": False, "mpi": False, "cuda_arch": ("none",)}
    given = []
    for changes in ({"cuda": False}, {"cuda": True}, {"cuda": True, "cuda_arch": ("80", "90")},
                    {"cuda": False, "libs": ("shared", "static")}, {"cuda": False, "mpi": True}):
        package.spec = Spec(**{**common, **changes})
        args = package.configure_args()
        print(" ".join(args))
        given += args
    assert "--with-cuda-arch=80,90a" in given and "--without-cuda" in given
    text = subprocess.run([source + "/configure", "--help"], check=True, capture_output=True,
                          text=True).stdout
    known = set(re.findall(r"--(?:enable|disable|with|without)-([a-z-]+)", text))
    for option in sorted({re.sub(r"--[a-z]+-|=.*", "", arg) for arg in given}):
        assert option in known, f"configure does not know {option}"
    print(f"{len(called)} directives, {len(set(given))} options")


main(*sys.argv[1:])
