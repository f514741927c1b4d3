;;; guix build -L packaging/guix libtilemm
;;; SPDX-License-Identifier: BSD-3-Clause
(define-module (libtilemm)
  #:use-module (gnu packages gcc)
  #:use-module (guix build-system gnu)
  #:use-module (guix download)
  #:use-module (guix gexp)
  #:use-module ((guix licenses) #:prefix license:)
  #:use-module (guix packages))

(define-public libtilemm
  (package
    (name "libtilemm")
    (version "0.1.0")
    (source
     (origin
       (method url-fetch)
       (uri (string-append "https://example.org/libtilemm/libtilemm-"
                           version ".tar.gz"))
       (sha256
        (base32 "0000000000000000000000000000000000000000000000000000"))))
    (build-system gnu-build-system)
    (arguments
     (list
      #:configure-flags
      #~(list "--disable-static" "--with-reference-blas=no" "--without-cuda"
              "--without-mpi")
      #:phases
      #~(modify-phases %standard-phases
          (add-before 'check 'shorten-tests
            (lambda _
              (setenv "TILEMM_TEST_QUICK" "1"))))))
    (native-inputs (list gfortran))
    (home-page "https://example.org/libtilemm")
    (synopsis "Tiled SGEMM, matrix transpose and reductions")
    (description
     "This package provides a C library, a Fortran module and a command for
single-precision matrix products, transposes and reductions.  Sums have the
same bits on every run and with every number of threads.")
    (license license:bsd-3)))
