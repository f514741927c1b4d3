! tilemm.f90 - the functions of tilemm.h for Fortran, with their C names and arguments.
!
! Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
!
! tilemm.h says what each function does. Here
!   - a context, a CUDA stream and a workspace are a type(c_ptr); c_null_ptr is NULL;
!   - operands are arrays, of any rank, and results arrays or scalars; for memory at a type(c_ptr),
!     such as device memory, c_f_pointer makes the array;
!   - a matrix of Fortran is TILEMM_COL_MAJOR, its leading dimension size(a, 1); to the transposes
!     without a layout argument, which take row-major matrices, a(n, m) has rows = m and cols = n;
!   - indices start at 0, as in C;
!   - an argument that is optional is NULL where it is left out;
!   - functions that return text return an allocatable character.
!
! A program is built from this file, or with the module and library that are made of it:
!   gfortran /usr/include/tilemm.f90 program.f90 -ltilemm
!   gfortran -I/usr/lib/gfortran/modules program.f90 -ltilemm_fortran -ltilemm
module tilemm
    use, intrinsic :: iso_c_binding
    implicit none

    enum, bind(c)
        enumerator :: TILEMM_VERSION_MAJOR = 0, TILEMM_VERSION_MINOR = 1, TILEMM_VERSION_PATCH = 0
    end enum

    integer, parameter :: tilemm_status_t = c_int
    enum, bind(c)
        enumerator :: TILEMM_SUCCESS = 0, TILEMM_INVALID_ARGUMENT, TILEMM_OUT_OF_MEMORY, &
            TILEMM_NO_DEVICE, TILEMM_NOT_SUPPORTED, TILEMM_DEVICE_FAILURE, TILEMM_INTERNAL_ERROR
    end enum

    integer, parameter :: tilemm_backend_t = c_int
    enum, bind(c)
        enumerator :: TILEMM_BACKEND_AUTO = 0, TILEMM_BACKEND_CPU, TILEMM_BACKEND_CUDA
    end enum

    integer, parameter :: tilemm_layout_t = c_int, tilemm_op_t = c_int
    enum, bind(c)
        enumerator :: TILEMM_ROW_MAJOR = 101, TILEMM_COL_MAJOR = 102
        enumerator :: TILEMM_NO_TRANS = 111, TILEMM_TRANS = 112
    end enum

    integer, parameter :: tilemm_math_t = c_int
    enum, bind(c)
        enumerator :: TILEMM_MATH_FP32 = 0, TILEMM_MATH_FP32_STRICT, TILEMM_MATH_TF32
    end enum

    integer, parameter :: tilemm_invariance_t = c_int
    enum, bind(c)
        enumerator :: TILEMM_INVARIANCE_NONE = 0, TILEMM_INVARIANT, TILEMM_INVARIANT_ACROSS
    end enum

    integer, parameter :: tilemm_nan_t = c_int
    enum, bind(c)
        enumerator :: TILEMM_NAN_PROPAGATE = 0, TILEMM_NAN_IGNORE
    end enum

    integer, parameter :: tilemm_memory_t = c_int
    enum, bind(c)
        enumerator :: TILEMM_MEMORY_HOST = 0, TILEMM_MEMORY_PINNED, TILEMM_MEMORY_DEVICE, &
            TILEMM_MEMORY_MANAGED
    end enum

    integer, parameter :: tilemm_axis_t = c_int
    enum, bind(c)
        enumerator :: TILEMM_AXIS_ROWS = 0, TILEMM_AXIS_COLS
    end enum

    integer, parameter :: tilemm_reduce_t = c_int
    enum, bind(c)
        enumerator :: TILEMM_SUM = 0, TILEMM_ASUM, TILEMM_SUMSQ, TILEMM_NRM2, TILEMM_MEAN, &
            TILEMM_MAX, TILEMM_MIN, TILEMM_AMAX, TILEMM_AMIN
    end enum

    enum, bind(c)
        enumerator :: TILEMM_MODEL_MOST_USES = 128
    end enum

    type, bind(c) :: tilemm_warp_access_t
        integer(c_int) :: elem_bytes
        integer(c_int32_t) :: active
        integer(c_int64_t) :: addr(32)
    end type

    type, bind(c) :: tilemm_shared_cost_t
        integer(c_int) :: wavefronts, ideal, conflicts, degree
    end type

    type, bind(c) :: tilemm_global_cost_t
        integer(c_int) :: transactions, transaction_bytes_total, bytes_requested
        real(c_double) :: efficiency
    end type

    type, bind(c) :: tilemm_bank_use_t
        integer(c_int) :: lane, part, bank, group, wavefront
    end type

    type, bind(c) :: tilemm_transaction_t
        integer(c_int64_t) :: addr
        integer(c_int) :: bytes
    end type

    type, bind(c) :: tilemm_tile_access_t
        integer(c_int) :: high, wide, vector
    end type

    type, bind(c) :: tilemm_tile_layout_t
        integer(c_int) :: pitch, group, shift, mask, conflicts
    end type

    ! What tilemm_set_log takes the c_funloc of; tilemm_text(line) is the line.
    abstract interface
        subroutine tilemm_log_t(line, user) bind(c)
            import
            type(c_ptr), value :: line, user
        end subroutine
    end interface

    interface
        integer(tilemm_status_t) function tilemm_create(ctx, backend, device) bind(c)
            import
            type(c_ptr), intent(out) :: ctx
            integer(tilemm_backend_t), value :: backend
            integer(c_int), value :: device
        end function

        integer(tilemm_status_t) function tilemm_create_multi(ctx, count, devices) bind(c)
            import
            type(c_ptr), intent(out) :: ctx
            integer(c_int), value :: count
            integer(c_int), intent(in) :: devices(*)
        end function

        integer(tilemm_status_t) function tilemm_destroy(ctx) bind(c)
            import
            type(c_ptr), value :: ctx
        end function

        integer(tilemm_status_t) function tilemm_get_backend(ctx, backend) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_backend_t), intent(out) :: backend
        end function

        integer(tilemm_status_t) function tilemm_get_device(ctx, device) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int), intent(out) :: device
        end function

        integer(tilemm_status_t) function tilemm_set_stream(ctx, cuda_stream) bind(c)
            import
            type(c_ptr), value :: ctx, cuda_stream
        end function

        integer(tilemm_status_t) function tilemm_get_stream(ctx, cuda_stream) bind(c)
            import
            type(c_ptr), value :: ctx
            type(c_ptr), intent(out) :: cuda_stream
        end function

        integer(tilemm_status_t) function tilemm_synchronize(ctx) bind(c)
            import
            type(c_ptr), value :: ctx
        end function

        integer(tilemm_status_t) function tilemm_set_math(ctx, math) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_math_t), value :: math
        end function

        integer(tilemm_status_t) function tilemm_get_math(ctx, math) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_math_t), intent(out) :: math
        end function

        integer(tilemm_status_t) function tilemm_set_invariance(ctx, invariance) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_invariance_t), value :: invariance
        end function

        integer(tilemm_status_t) function tilemm_get_invariance(ctx, invariance) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_invariance_t), intent(out) :: invariance
        end function

        integer(tilemm_status_t) function tilemm_set_nan_policy(ctx, policy) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_nan_t), value :: policy
        end function

        integer(tilemm_status_t) function tilemm_get_nan_policy(ctx, policy) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_nan_t), intent(out) :: policy
        end function

        integer(tilemm_status_t) function tilemm_set_threads(ctx, threads) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int), value :: threads
        end function

        integer(tilemm_status_t) function tilemm_get_threads(ctx, threads) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int), intent(out) :: threads
        end function

        integer(tilemm_status_t) function tilemm_set_workspace(ctx, workspace, bytes) bind(c)
            import
            type(c_ptr), value :: ctx, workspace
            integer(c_size_t), value :: bytes
        end function

        integer(tilemm_status_t) function tilemm_get_workspace(ctx, workspace, bytes) bind(c)
            import
            type(c_ptr), value :: ctx
            type(c_ptr), intent(out) :: workspace
            integer(c_size_t), intent(out) :: bytes
        end function

        integer(tilemm_status_t) function tilemm_set_device_memory(ctx, bytes) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_size_t), value :: bytes
        end function

        integer(tilemm_status_t) function tilemm_get_device_memory(ctx, bytes) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_size_t), intent(out) :: bytes
        end function

        integer(tilemm_status_t) function tilemm_set_log(ctx, function, user) bind(c)
            import
            type(c_ptr), value :: ctx, user
            type(c_funptr), value :: function
        end function

        integer(tilemm_status_t) function tilemm_alloc_matrix(ctx, where, rows, cols, elem_size, &
            matrix, ld) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_memory_t), value :: where
            integer(c_int64_t), value :: rows, cols
            integer(c_size_t), value :: elem_size
            type(c_ptr), intent(out) :: matrix
            integer(c_int64_t), intent(out) :: ld
        end function

        integer(tilemm_status_t) function tilemm_free_matrix(ctx, matrix) bind(c)
            import
            type(c_ptr), value :: ctx, matrix
        end function

        integer(tilemm_status_t) function tilemm_register_host(ctx, memory, bytes) bind(c)
            import
            type(c_ptr), value :: ctx, memory
            integer(c_size_t), value :: bytes
        end function

        integer(tilemm_status_t) function tilemm_unregister_host(ctx, memory) bind(c)
            import
            type(c_ptr), value :: ctx, memory
        end function

        integer(tilemm_status_t) function tilemm_copy_matrix(ctx, rows, cols, elem_size, src, &
            ld_src, dst, ld_dst) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: rows, cols, ld_src, ld_dst
            integer(c_size_t), value :: elem_size
            type(*), intent(in) :: src(*)
            type(*), intent(inout) :: dst(*)
        end function

        integer(tilemm_status_t) function tilemm_copy_matrix_strided_batched(ctx, rows, cols, &
            elem_size, src, ld_src, stride_src, dst, ld_dst, stride_dst, batch_count) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: rows, cols, ld_src, stride_src, ld_dst, stride_dst, &
                batch_count
            integer(c_size_t), value :: elem_size
            type(*), intent(in) :: src(*)
            type(*), intent(inout) :: dst(*)
        end function

        integer(tilemm_status_t) function tilemm_sgemm(ctx, layout, transa, transb, m, n, k, &
            alpha, a, lda, b, ldb, beta, c, ldc) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_layout_t), value :: layout
            integer(tilemm_op_t), value :: transa, transb
            integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
            real(c_float), value :: alpha, beta
            real(c_float), intent(in) :: a(*), b(*)
            real(c_float), intent(inout) :: c(*)
        end function

        integer(tilemm_status_t) function tilemm_sgemm_strided_batched(ctx, layout, transa, &
            transb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, &
            batch_count) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_layout_t), value :: layout
            integer(tilemm_op_t), value :: transa, transb
            integer(c_int64_t), value :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, &
                batch_count
            real(c_float), value :: alpha, beta
            real(c_float), intent(in) :: a(*), b(*)
            real(c_float), intent(inout) :: c(*)
        end function

        integer(tilemm_status_t) function tilemm_sgemm_batched(ctx, layout, transa, transb, m, n, &
            k, alpha, a, lda, b, ldb, beta, c, ldc, batch_count) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_layout_t), value :: layout
            integer(tilemm_op_t), value :: transa, transb
            integer(c_int64_t), value :: m, n, k, lda, ldb, ldc, batch_count
            real(c_float), value :: alpha, beta
            type(c_ptr), intent(in) :: a(*), b(*), c(*)
        end function

        integer(tilemm_status_t) function tilemm_sgemm_workspace(ctx, layout, transa, transb, m, &
            n, k, batch_count, bytes) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_layout_t), value :: layout
            integer(tilemm_op_t), value :: transa, transb
            integer(c_int64_t), value :: m, n, k, batch_count
            integer(c_size_t), intent(out) :: bytes
        end function

        integer(tilemm_status_t) function tilemm_transpose(ctx, rows, cols, elem_size, src, &
            ld_src, dst, ld_dst) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: rows, cols, ld_src, ld_dst
            integer(c_size_t), value :: elem_size
            type(*), intent(in) :: src(*)
            type(*), intent(inout) :: dst(*)
        end function

        integer(tilemm_status_t) function tilemm_transpose_strided_batched(ctx, rows, cols, &
            elem_size, src, ld_src, stride_src, dst, ld_dst, stride_dst, batch_count) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: rows, cols, ld_src, stride_src, ld_dst, stride_dst, &
                batch_count
            integer(c_size_t), value :: elem_size
            type(*), intent(in) :: src(*)
            type(*), intent(inout) :: dst(*)
        end function

        integer(tilemm_status_t) function tilemm_transpose_inplace(ctx, rows, cols, elem_size, a, &
            ld_in, ld_out) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: rows, cols, ld_in, ld_out
            integer(c_size_t), value :: elem_size
            type(*), intent(inout) :: a(*)
        end function

        integer(tilemm_status_t) function tilemm_somatcopy(ctx, layout, trans, rows, cols, alpha, &
            a, lda, b, ldb) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_layout_t), value :: layout
            integer(tilemm_op_t), value :: trans
            integer(c_int64_t), value :: rows, cols, lda, ldb
            real(c_float), value :: alpha
            real(c_float), intent(in) :: a(*)
            real(c_float), intent(inout) :: b(*)
        end function

        integer(tilemm_status_t) function tilemm_simatcopy(ctx, layout, trans, rows, cols, alpha, &
            a, lda, ldb) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_layout_t), value :: layout
            integer(tilemm_op_t), value :: trans
            integer(c_int64_t), value :: rows, cols, lda, ldb
            real(c_float), value :: alpha
            real(c_float), intent(inout) :: a(*)
        end function

        integer(tilemm_status_t) function tilemm_ssum(ctx, n, x, incx, result) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: n, incx
            real(c_float), intent(in) :: x(*)
            real(c_float), intent(out) :: result
        end function

        integer(tilemm_status_t) function tilemm_sasum(ctx, n, x, incx, result) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: n, incx
            real(c_float), intent(in) :: x(*)
            real(c_float), intent(out) :: result
        end function

        integer(tilemm_status_t) function tilemm_snrm2(ctx, n, x, incx, result) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: n, incx
            real(c_float), intent(in) :: x(*)
            real(c_float), intent(out) :: result
        end function

        integer(tilemm_status_t) function tilemm_smax(ctx, n, x, incx, result) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: n, incx
            real(c_float), intent(in) :: x(*)
            real(c_float), intent(out) :: result
        end function

        integer(tilemm_status_t) function tilemm_smin(ctx, n, x, incx, result) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: n, incx
            real(c_float), intent(in) :: x(*)
            real(c_float), intent(out) :: result
        end function

        integer(tilemm_status_t) function tilemm_sdot(ctx, n, x, incx, y, incy, result) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: n, incx, incy
            real(c_float), intent(in) :: x(*), y(*)
            real(c_float), intent(out) :: result
        end function

        integer(tilemm_status_t) function tilemm_isamax(ctx, n, x, incx, index) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: n, incx
            real(c_float), intent(in) :: x(*)
            integer(c_int64_t), intent(out) :: index
        end function

        integer(tilemm_status_t) function tilemm_isamin(ctx, n, x, incx, index) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: n, incx
            real(c_float), intent(in) :: x(*)
            integer(c_int64_t), intent(out) :: index
        end function

        integer(tilemm_status_t) function tilemm_ismax(ctx, n, x, incx, index) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: n, incx
            real(c_float), intent(in) :: x(*)
            integer(c_int64_t), intent(out) :: index
        end function

        integer(tilemm_status_t) function tilemm_ismin(ctx, n, x, incx, index) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(c_int64_t), value :: n, incx
            real(c_float), intent(in) :: x(*)
            integer(c_int64_t), intent(out) :: index
        end function

        integer(tilemm_status_t) function tilemm_sreduce(ctx, op, axis, layout, rows, cols, a, &
            lda, out, incout) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_reduce_t), value :: op
            integer(tilemm_axis_t), value :: axis
            integer(tilemm_layout_t), value :: layout
            integer(c_int64_t), value :: rows, cols, lda, incout
            real(c_float), intent(in) :: a(*)
            real(c_float), intent(inout) :: out(*)
        end function

        integer(tilemm_status_t) function tilemm_sargreduce(ctx, op, axis, layout, rows, cols, a, &
            lda, out, incout, index_out) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_reduce_t), value :: op
            integer(tilemm_axis_t), value :: axis
            integer(tilemm_layout_t), value :: layout
            integer(c_int64_t), value :: rows, cols, lda, incout
            real(c_float), intent(in) :: a(*)
            real(c_float), intent(inout), optional :: out(*)
            integer(c_int64_t), intent(inout) :: index_out(*)
        end function

        integer(tilemm_status_t) function tilemm_sreduce_segments(ctx, op, segments, x, offsets, &
            out) bind(c)
            import
            type(c_ptr), value :: ctx
            integer(tilemm_reduce_t), value :: op
            integer(c_int64_t), value :: segments
            real(c_float), intent(in) :: x(*)
            integer(c_int64_t), intent(in) :: offsets(*)
            real(c_float), intent(inout) :: out(*)
        end function

        integer(tilemm_status_t) function tilemm_model_shared(cc, access, cost) bind(c)
            import
            integer(c_int), value :: cc
            type(tilemm_warp_access_t), intent(in) :: access
            type(tilemm_shared_cost_t), intent(out) :: cost
        end function

        integer(tilemm_status_t) function tilemm_model_shared_load(cc, access, cost) bind(c)
            import
            integer(c_int), value :: cc
            type(tilemm_warp_access_t), intent(in) :: access
            type(tilemm_shared_cost_t), intent(out) :: cost
        end function

        integer(tilemm_status_t) function tilemm_model_global(cc, cached_in_l1, is_store, access, &
            cost) bind(c)
            import
            integer(c_int), value :: cc, cached_in_l1, is_store
            type(tilemm_warp_access_t), intent(in) :: access
            type(tilemm_global_cost_t), intent(out) :: cost
        end function

        integer(tilemm_status_t) function tilemm_model_check(cc, access, message, size) bind(c)
            import
            integer(c_int), value :: cc
            type(tilemm_warp_access_t), intent(in) :: access
            character(kind=c_char), intent(inout), optional :: message(*)
            integer(c_size_t), value :: size
        end function

        integer(tilemm_status_t) function tilemm_model_banks(cc, is_store, access, uses, &
            count) bind(c)
            import
            integer(c_int), value :: cc, is_store
            type(tilemm_warp_access_t), intent(in) :: access
            type(tilemm_bank_use_t), intent(inout) :: uses(*)
            integer(c_int), intent(out) :: count
        end function

        integer(tilemm_status_t) function tilemm_model_transactions(cc, cached_in_l1, is_store, &
            access, moved, count) bind(c)
            import
            integer(c_int), value :: cc, cached_in_l1, is_store
            type(tilemm_warp_access_t), intent(in) :: access
            type(tilemm_transaction_t), intent(inout) :: moved(*)
            integer(c_int), intent(out) :: count
        end function

        integer(c_int64_t) function tilemm_model_tile_index(layout, row, col) bind(c)
            import
            type(tilemm_tile_layout_t), intent(in) :: layout
            integer(c_int), value :: row, col
        end function

        integer(tilemm_status_t) function tilemm_model_best_padding(cc, rows, cols, elem_bytes, &
            accesses, count, swizzle, best) bind(c)
            import
            integer(c_int), value :: cc, rows, cols, elem_bytes, count, swizzle
            type(tilemm_tile_access_t), intent(in) :: accesses(*)
            type(tilemm_tile_layout_t), intent(out) :: best
        end function
    end interface

contains

    function tilemm_create_error() result(text)
        character(:), allocatable :: text
        interface
            type(c_ptr) function c_create_error() bind(c, name="tilemm_create_error")
                import
            end function
        end interface
        text = tilemm_text(c_create_error())
    end function

    function tilemm_status_string(status) result(text)
        integer(tilemm_status_t), intent(in) :: status
        character(:), allocatable :: text
        interface
            type(c_ptr) function c_status_string(status) bind(c, name="tilemm_status_string")
                import
                integer(tilemm_status_t), value :: status
            end function
        end interface
        text = tilemm_text(c_status_string(status))
    end function

    function tilemm_last_error(ctx) result(text)
        type(c_ptr), intent(in) :: ctx
        character(:), allocatable :: text
        interface
            type(c_ptr) function c_last_error(ctx) bind(c, name="tilemm_last_error")
                import
                type(c_ptr), value :: ctx
            end function
        end interface
        text = tilemm_text(c_last_error(ctx))
    end function

    function tilemm_last_kernel(ctx) result(text)
        type(c_ptr), intent(in) :: ctx
        character(:), allocatable :: text
        interface
            type(c_ptr) function c_last_kernel(ctx) bind(c, name="tilemm_last_kernel")
                import
                type(c_ptr), value :: ctx
            end function
        end interface
        text = tilemm_text(c_last_kernel(ctx))
    end function

    function tilemm_tuning(ctx) result(text)
        type(c_ptr), intent(in) :: ctx
        character(:), allocatable :: text
        interface
            type(c_ptr) function c_tuning(ctx) bind(c, name="tilemm_tuning")
                import
                type(c_ptr), value :: ctx
            end function
        end interface
        text = tilemm_text(c_tuning(ctx))
    end function

    function tilemm_version() result(text)
        character(:), allocatable :: text
        interface
            type(c_ptr) function c_version() bind(c, name="tilemm_version")
                import
            end function
        end interface
        text = tilemm_text(c_version())
    end function

    ! The characters of a C string.
    function tilemm_text(string) result(text)
        type(c_ptr), intent(in) :: string
        character(:), allocatable :: text
        character(kind=c_char), pointer :: characters(:)
        integer :: i
        interface
            integer(c_size_t) function strlen(string) bind(c)
                import
                type(c_ptr), value :: string
            end function
        end interface
        call c_f_pointer(string, characters, [strlen(string)])
        allocate (character(size(characters)) :: text)
        do i = 1, size(characters)
            text(i:i) = characters(i)
        end do
    end function
end module
