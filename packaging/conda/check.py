"""check.py FOLDER [TARBALL] - render the conda recipe in both variants; build and test the CPU one from
the tarball, with this machine's compiler: conda-forge's packages are stood in for by empty ones.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import rattler_build

# What the stand-ins hold: the compiler's tells the build where it is.
COMPILER = os.environ.get("CC", "gcc")
MACHINE = subprocess.run(
    [*COMPILER.split(), "-dumpmachine"], check=True, capture_output=True, text=True).stdout.strip()
SCRIPTS = {
    "gcc": f"""mkdir -p $PREFIX/etc/conda/activate.d
echo 'export CC="{COMPILER}" HOST={MACHINE} BUILD={MACHINE}' >$PREFIX/etc/conda/activate.d/gcc.sh""",
    "gnuconfig": """mkdir -p $PREFIX/share/gnuconfig
cp /usr/share/misc/config.* $PREFIX/share/gnuconfig""",
}


class Log:
    """Prints what the build prints."""

    def on_log(self, event):
        print(event.message)


def render(folder, address):
    text = (folder / "recipe.yaml").read_text().replace("https://example.org/libtilemm", address)
    assert address in text, "the source's address is another"
    (folder / "recipe.yaml").write_text(text)
    recipe = rattler_build.Stage0Recipe.from_file(folder / "recipe.yaml")
    variants = recipe.render(rattler_build.VariantConfig.from_file(folder / "variants.yaml"))
    variants.sort(key=lambda variant: variant.recipe.build.number)
    names = [variant.recipe.build.string for variant in variants]
    print("renders: " + ", ".join(names))
    assert [name.split("_")[0] for name in names] == ["cpu", "cuda"]
    return variants


def build(variant, channel):
    needs = variant.recipe.requirements
    for need in needs.build + needs.host + needs.run:
        empty = {
            "package": {"name": need, "version": "1"},
            "build": {"script": SCRIPTS.get(need.split("_")[0], "true")},
            "about": {"license": "BSD-3-Clause"},
        }
        rattler_build.Stage0Recipe.from_dict(empty).run_build(output_dir=channel, channels=[])
    built = variant.run_build(
        tool_config=rattler_build.ToolConfiguration(test_strategy="native"),
        output_dir=channel, channels=[channel.as_uri()], progress_callback=Log())
    print("built and tested: " + ", ".join(pathlib.Path(file).name for file in built.packages))


with tempfile.TemporaryDirectory() as work:
    recipe = shutil.copytree(sys.argv[1], work + "/recipe")
    tarball = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    cpu, _ = render(pathlib.Path(recipe), tarball.parent.as_uri() if tarball else "https://example.org")
    if tarball:
        build(cpu, pathlib.Path(work) / "channel")
