# SPDX-License-Identifier: BSD-3-Clause
{
  lib,
  stdenv,
  fetchurl,
  autoAddDriverRunpath,
  config,
  cudaPackages,
  gfortran,
  cudaSupport ? config.cudaSupport or false,
  fortranSupport ? true,
}:

let
  # nvcc needs the compiler that it supports.
  effectiveStdenv = if cudaSupport then cudaPackages.backendStdenv else stdenv;
  # "9.0" as 90a, which holds the kernels for Hopper.
  arch =
    capability:
    let
      digits = lib.replaceStrings [ "." ] [ "" ] capability;
    in
    if digits == "90" then "90a" else digits;
in
effectiveStdenv.mkDerivation (finalAttrs: {
  pname = "libtilemm";
  version = "0.1.0";

  src = fetchurl {
    url = "https://example.org/libtilemm/libtilemm-${finalAttrs.version}.tar.gz";
    hash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
  };

  strictDeps = true;

  nativeBuildInputs =
    lib.optionals fortranSupport [ gfortran ]
    ++ lib.optionals cudaSupport [
      autoAddDriverRunpath
      cudaPackages.cuda_nvcc
    ];

  buildInputs = lib.optionals cudaSupport [ cudaPackages.cuda_cudart ];

  configureFlags = [
    "--disable-static"
    "--with-reference-blas=no"
    "--without-mpi"
    (lib.enableFeature fortranSupport "fortran")
  ]
  ++ (
    if cudaSupport then
      [
        "--with-cuda"
        "--with-cudart=shared"
        "--with-cuda-arch=${lib.concatMapStringsSep "," arch cudaPackages.flags.cudaCapabilities}"
      ]
    else
      [ "--without-cuda" ]
  );

  enableParallelBuilding = true;

  doCheck = true;
  checkFlags = [ "TILEMM_TEST_QUICK=1" ];

  doInstallCheck = true;
  installCheckPhase = ''
    runHook preInstallCheck
    $out/bin/tilemm --version | grep -F ${finalAttrs.version}
    $out/bin/tilemm info
    runHook postInstallCheck
  '';

  meta = {
    description = "Tiled SGEMM, matrix transpose and reductions on CUDA GPUs and CPUs";
    homepage = "https://example.org/libtilemm";
    license = lib.licenses.bsd3;
    mainProgram = "tilemm";
    maintainers = [ ];
    platforms = lib.platforms.linux;
  };
})
