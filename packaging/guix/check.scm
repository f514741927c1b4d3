;;; check.scm FOLDER - load the recipes with stand-ins for what they take of Guix: their syntax, and
;;; that fields, keywords and variables are such as Guix has.
;;; SPDX-License-Identifier: BSD-3-Clause

;; (stand-in NAME DEFINITION...): a module that exports what is defined in it.
(define-syntax-rule (stand-in name definition ...)
  (let ((module (resolve-module 'name #f #:ensure #t)))
    (beautify-user-module! module)
    (for-each (lambda (form)
                (eval form module)
                (let ((head (if (pair? (cadr form)) (caadr form) (cadr form))))
                  (module-export! module (list head))))
              '(definition ...))
    (set-module-filename! module "stand-in")))

(read-hash-extend #\~ (lambda (char port) `(gexp ,(read port))))
(read-hash-extend #\$ (lambda (char port) `(ungexp ,(read port))))

(stand-in (guix packages)
  (define (known! field)
    (unless (memq field '(name version source build-system arguments inputs native-inputs
                          home-page synopsis description license))
      (error "no such field:" field))
    field)
  (define-syntax package
    (syntax-rules ()
      ((_ (field value) ...)
       (letrec* ((field value) ...)
         (for-each (lambda (wanted)
                     (or (memq wanted '(field ...)) (error "no field" wanted)))
                   '(name version source build-system home-page synopsis description license))
         (list (cons (known! 'field) field) ...)))))
  (define-syntax package/inherit
    (syntax-rules ()
      ((_ base (field value) ...)
       (letrec* ((field value) ...)
         (append (list (cons (known! 'field) field) ...) base)))))
  (define-syntax origin
    (syntax-rules (method uri sha256)
      ((_ (method m) (uri u) (sha256 s)) (list m u s))))
  (define-syntax base32
    (syntax-rules ()
      ((_ text) (if (and (= (string-length text) 52)
                         (string-every (string->char-set "0123456789abcdfghijklmnpqrsvwxyz") text))
                    text
                    (error "no base32 of a SHA-256:" text)))))
  (define (this-package-input name) name)
  (define-syntax modify-inputs
    (syntax-rules (append)
      ((_ inputs (append input ...)) (append inputs (list input ...)))))
  (define (package-field package field) (or (assq-ref package field) '()))
  (define (package-arguments package) (package-field package 'arguments))
  (define (package-inputs package) (package-field package 'inputs)))
(stand-in (guix gexp)
  (define-syntax-rule (gexp form) 'form))
(stand-in (guix download) (define url-fetch 'url-fetch))
(stand-in (guix licenses) (define bsd-3 'bsd-3))
(stand-in (guix build-system gnu) (define gnu-build-system 'gnu))
(stand-in (guix utils)
  (define-syntax substitute-keyword-arguments
    (syntax-rules ()
      ((_ arguments ((keyword variable) form))
       (if (memq keyword arguments)
           (let ((variable (cadr (memq keyword arguments)))) (list keyword form))
           (error "no such argument:" keyword))))))
(stand-in (gnu packages gcc) (define gfortran 'gfortran))
(stand-in (guix-science-nonfree packages cuda) (define cuda-12 'cuda-toolkit))

(let ((folder (cadr (command-line))))
  (for-each (lambda (name)
              (load (string-append folder "/" name ".scm"))
              (let ((package (module-ref (resolve-module (list (string->symbol name)))
                                         (string->symbol name))))
                (format #t "~a ~a: ~a~%" (assq-ref package 'name) (assq-ref package 'version)
                        (assq-ref package 'arguments))))
            '("libtilemm" "libtilemm-cuda")))
