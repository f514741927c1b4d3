;;; guix build -L packaging/guix libtilemm-cuda, with the channel guix-science-nonfree for CUDA
;;; SPDX-License-Identifier: BSD-3-Clause
(define-module (libtilemm-cuda)
  #:use-module (guix gexp)
  #:use-module (guix packages)
  #:use-module (guix utils)
  #:use-module (guix-science-nonfree packages cuda)
  #:use-module (libtilemm))

(define-public libtilemm-cuda
  (package/inherit libtilemm
    (name "libtilemm-cuda")
    (arguments
     (substitute-keyword-arguments (package-arguments libtilemm)
       ((#:configure-flags flags)
        #~(append (delete "--without-cuda" #$flags)
                  (list (string-append "--with-cuda="
                                       #$(this-package-input "cuda-toolkit"))
                        "--with-cudart=shared")))))
    (inputs
     (modify-inputs (package-inputs libtilemm)
       (append cuda-12)))
    (synopsis "Tiled SGEMM, transpose and reductions on CUDA GPUs and CPUs")))
