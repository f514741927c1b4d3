# Stand-ins for what package.nix takes of nixpkgs. Its build runs the phases with this machine's
# tools; a dependency is an empty folder; the source is the tarball, which must have the hash.
# SPDX-License-Identifier: BSD-3-Clause
{
  tarball,
  path,
  cudaSupport ? false,
}:
let
  lib = {
    inherit (builtins) replaceStrings;
    optionals = condition: list: if condition then list else [ ];
    enableFeature = on: name: "--${if on then "enable" else "disable"}-${name}";
    concatMapStringsSep = separator: f: list: builtins.concatStringsSep separator (map f list);
    licenses.bsd3 = { spdxId = "BSD-3-Clause"; };
    platforms.linux = [ "x86_64-linux" "aarch64-linux" ];
  };
  mkDerivation =
    make:
    let
      final = make final;
    in
    derivation (
      removeAttrs final [ "meta" ]
      // {
        name = "${final.pname}-${final.version}";
        system = builtins.currentSystem;
        builder = "/bin/sh";
        args = [ ./check-builder.sh ];
        PATH = path;
      }
    )
    // {
      inherit (final) meta;
    };
  empty = name: derivation {
    inherit name;
    system = builtins.currentSystem;
    builder = "/bin/sh";
    args = [ "-c" "/bin/mkdir $out" ];
  };
  pkgs = {
    inherit lib;
    stdenv = { inherit mkDerivation; };
    config = { };
    fetchurl =
      { url, hash }:
      "${builtins.path { path = tarball; name = baseNameOf url; recursive = false; sha256 = hash; }}";
    autoAddDriverRunpath = empty "autoAddDriverRunpath";
    gfortran = empty "gfortran";
    cudaPackages = {
      backendStdenv = { inherit mkDerivation; };
      cuda_cudart = empty "cuda_cudart";
      cuda_nvcc = empty "cuda_nvcc";
      flags.cudaCapabilities = [ "8.0" "9.0" "12.0" ];
    };
    callPackage =
      file: overrides:
      let
        function = import file;
      in
      function (builtins.intersectAttrs (builtins.functionArgs function) pkgs // overrides);
  };
in
import ./default.nix { inherit cudaSupport pkgs; }
