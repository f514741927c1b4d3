# nix-build packaging/nix [--arg cudaSupport true]
# SPDX-License-Identifier: BSD-3-Clause
{
  cudaSupport ? false,
  pkgs ? import <nixpkgs> { config = { inherit cudaSupport; allowUnfree = cudaSupport; }; },
}:
pkgs.callPackage ./package.nix { inherit cudaSupport; }
