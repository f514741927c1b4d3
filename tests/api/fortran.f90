! fortran.f90 - the Fortran module used: products, transposes, reductions, text, settings, the model.
!
! Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
module log_lines
    use tilemm
    implicit none
    character(:), allocatable, target :: lines
contains
    subroutine take_line(line, user) bind(c)
        type(c_ptr), value :: line, user
        integer(c_int), pointer :: calls
        call c_f_pointer(user, calls)
        calls = calls + 1
        lines = tilemm_text(line)
    end subroutine
end module

program fortran
    use tilemm
    use log_lines
    implicit none
    type(c_ptr) :: ctx
    integer :: checks = 0, failures = 0

    call check(tilemm_create(ctx, -1_c_int, 0) == TILEMM_INVALID_ARGUMENT, 'create refuses')
    call check(index(tilemm_create_error(), 'create: backend = -1') == 1, tilemm_create_error())
    call check(tilemm_create(ctx, TILEMM_BACKEND_CPU, 0) == TILEMM_SUCCESS, 'create')
    call check(tilemm_create_error() == '', 'no error')
    call texts
    call settings
    call products
    call transposes
    call reductions
    call model
    call check(tilemm_destroy(ctx) == TILEMM_SUCCESS, 'destroy')
    print '(i0, a, i0, a)', checks, ' checks, ', failures, ' failed'
    if (failures > 0) error stop

contains

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        checks = checks + 1
        if (holds) return
        failures = failures + 1
        print '(2a)', 'failed: ', what
    end subroutine

    subroutine texts
        character(40) :: version
        write (version, '(i0, ".", i0, ".", i0)') TILEMM_VERSION_MAJOR, TILEMM_VERSION_MINOR, &
            TILEMM_VERSION_PATCH
        call check(tilemm_version() == version, 'version ' // tilemm_version())
        call check(tilemm_status_string(TILEMM_INVALID_ARGUMENT) == 'invalid argument', 'status')
        call check(len(tilemm_last_error(ctx)) == 0, 'no error yet')
        call check(len(tilemm_last_kernel(ctx)) == 0, 'no kernel yet')
    end subroutine

    subroutine settings
        integer(tilemm_backend_t) :: backend
        integer(tilemm_math_t) :: math
        integer(tilemm_nan_t) :: policy
        integer(c_int) :: device, threads
        integer(c_int), target :: calls
        integer(c_size_t) :: bytes
        type(c_ptr) :: stream, workspace
        integer(c_int8_t), target :: memory(65536)
        real(c_float) :: total
        call check(tilemm_get_backend(ctx, backend) == 0 .and. backend == TILEMM_BACKEND_CPU, 'backend')
        call check(tilemm_get_device(ctx, device) == 0 .and. device == -1, 'device')
        call check(tilemm_set_math(ctx, TILEMM_MATH_FP32_STRICT) == 0, 'set math')
        call check(tilemm_get_math(ctx, math) == 0 .and. math == TILEMM_MATH_FP32_STRICT, 'math')
        call check(tilemm_set_nan_policy(ctx, TILEMM_NAN_IGNORE) == 0, 'set policy')
        call check(tilemm_get_nan_policy(ctx, policy) == 0 .and. policy == TILEMM_NAN_IGNORE, 'policy')
        call check(tilemm_set_nan_policy(ctx, TILEMM_NAN_PROPAGATE) == 0, 'set policy back')
        call check(tilemm_set_threads(ctx, 1) == 0, 'set threads')
        call check(tilemm_get_threads(ctx, threads) == 0 .and. threads == 1, 'threads')
        call check(tilemm_set_stream(ctx, c_null_ptr) == 0, 'set stream')
        call check(tilemm_get_stream(ctx, stream) == 0 .and. .not. c_associated(stream), 'stream')
        call check(tilemm_set_workspace(ctx, c_loc(memory), size(memory, kind=c_size_t)) == 0, 'set workspace')
        call check(tilemm_get_workspace(ctx, workspace, bytes) == 0 .and. bytes == size(memory) .and. &
            c_associated(workspace, c_loc(memory)), 'workspace')
        call check(tilemm_set_workspace(ctx, c_null_ptr, 0_c_size_t) == 0, 'own workspace')
        calls = 0
        call check(tilemm_set_log(ctx, c_funloc(take_line), c_loc(calls)) == 0, 'set log')
        call check(tilemm_ssum(ctx, 2_c_int64_t, [1., 2.], 1_c_int64_t, total) == 0, 'sum')
        call check(calls == 1, 'one line')
        call check(index(lines, 'tilemm bench') == 1, lines)
        call check(tilemm_set_log(ctx, c_null_funptr, c_null_ptr) == 0, 'no log')
        call check(tilemm_synchronize(ctx) == 0, 'synchronize')
    end subroutine

    subroutine products
        real(c_float) :: a(2, 3), b(3, 2)
        real(c_float), target :: c(2, 2), d(2, 2), e(2, 2, 3)
        integer(c_size_t) :: bytes
        integer :: status
        a = reshape([1., 4., 2., 5., 3., 6.], [2, 3])
        b = reshape([1., 0., 1., 0., 1., 1.], [3, 2])
        c = -1
        status = tilemm_sgemm(ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 2_c_int64_t, &
            2_c_int64_t, 3_c_int64_t, 1., a, 2_c_int64_t, b, 3_c_int64_t, 0., c, 2_c_int64_t)
        call check(status == TILEMM_SUCCESS .and. all(c == matmul(a, b)), 'sgemm')
        call check(index(tilemm_last_kernel(ctx), 'sgemm_') == 1, tilemm_last_kernel(ctx))
        status = tilemm_sgemm(ctx, TILEMM_COL_MAJOR, TILEMM_TRANS, TILEMM_TRANS, 3_c_int64_t, &
            3_c_int64_t, 2_c_int64_t, 1., a, 1_c_int64_t, b, 3_c_int64_t, 0., c, 3_c_int64_t)
        call check(status == TILEMM_INVALID_ARGUMENT, 'sgemm refuses')
        call check(index(tilemm_last_error(ctx), 'sgemm: lda = 1, must be at least 2') == 1, &
            tilemm_last_error(ctx))
        status = tilemm_sgemm_strided_batched(ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, &
            2_c_int64_t, 2_c_int64_t, 3_c_int64_t, 2., a, 2_c_int64_t, 0_c_int64_t, b, 3_c_int64_t, &
            0_c_int64_t, 0., e, 2_c_int64_t, 4_c_int64_t, 3_c_int64_t)
        call check(status == TILEMM_SUCCESS .and. all(e == spread(2 * c, 3, 3)), 'strided batch')
        status = tilemm_sgemm_batched(ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, &
            2_c_int64_t, 2_c_int64_t, 2_c_int64_t, 1., [c_loc(c), c_loc(e)], 2_c_int64_t, &
            [c_loc(c), c_loc(c)], 2_c_int64_t, 0., [c_loc(d), c_loc(e(1, 1, 2))], 2_c_int64_t, 2_c_int64_t)
        call check(status == TILEMM_SUCCESS .and. all(d == matmul(c, c)) .and. &
            all(e(:, :, 2) == 2 * d), 'batch')
        status = tilemm_sgemm_workspace(ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, &
            2_c_int64_t, 2_c_int64_t, 3_c_int64_t, 1_c_int64_t, bytes)
        call check(status == TILEMM_SUCCESS .and. bytes == 0, 'workspace of a product')
    end subroutine

    subroutine transposes
        integer(c_int16_t) :: a(3, 5), b(5, 3)
        complex(c_double_complex) :: z(2, 4), w(4, 2)
        real(c_float) :: x(3, 2), y(2, 3)
        integer :: i
        a = reshape([(int(i, c_int16_t), i=1, 15)], [3, 5])
        call check(tilemm_transpose(ctx, 5_c_int64_t, 3_c_int64_t, 2_c_size_t, a, 3_c_int64_t, &
            b, 5_c_int64_t) == 0 .and. all(b == transpose(a)), 'transpose of integers')
        z = reshape([(cmplx(i, -i, c_double_complex), i=1, 8)], [2, 4])
        call check(tilemm_transpose(ctx, 4_c_int64_t, 2_c_int64_t, 16_c_size_t, z, 2_c_int64_t, &
            w, 4_c_int64_t) == 0 .and. all(w == transpose(z)), 'transpose of complex')
        call check(tilemm_transpose_inplace(ctx, 4_c_int64_t, 2_c_int64_t, 16_c_size_t, z, &
            2_c_int64_t, 4_c_int64_t) == 0 .and. all(reshape(z, [4, 2]) == w), 'transpose in place')
        call random_number(x)
        call check(tilemm_somatcopy(ctx, TILEMM_COL_MAJOR, TILEMM_TRANS, 3_c_int64_t, 2_c_int64_t, 2., &
            x, 3_c_int64_t, y, 2_c_int64_t) == 0 .and. all(y == 2 * transpose(x)), 'somatcopy')
    end subroutine

    subroutine reductions
        real(c_float) :: x(6), total, rows(2), last(3)
        integer(c_int64_t) :: where(3), position
        x = [3., -1., 4., 1., -5., 9.]
        call check(tilemm_ssum(ctx, 6_c_int64_t, x, 1_c_int64_t, total) == 0 .and. total == 11, 'ssum')
        call check(tilemm_sdot(ctx, 3_c_int64_t, x, 1_c_int64_t, x, -1_c_int64_t, total) == 0 .and. &
            total == 25, 'sdot')
        call check(tilemm_isamax(ctx, 5_c_int64_t, x, 1_c_int64_t, position) == 0 .and. position == 4, &
            'isamax')
        call check(tilemm_sreduce(ctx, TILEMM_MAX, TILEMM_AXIS_COLS, TILEMM_COL_MAJOR, 2_c_int64_t, &
            3_c_int64_t, x, 2_c_int64_t, rows, 1_c_int64_t) == 0 .and. all(rows == [4., 9.]), 'sreduce')
        call check(tilemm_sargreduce(ctx, TILEMM_MAX, TILEMM_AXIS_ROWS, TILEMM_COL_MAJOR, &
            2_c_int64_t, 3_c_int64_t, x, 2_c_int64_t, incout=1_c_int64_t, index_out=where) == 0 .and. &
            all(where == [0, 0, 1]), 'sargreduce without out')
        call check(tilemm_sreduce_segments(ctx, TILEMM_SUM, 3_c_int64_t, x, [0_c_int64_t, 2_c_int64_t, &
            2_c_int64_t, 6_c_int64_t], last) == 0 .and. all(last == [2., 0., 9.]), 'segments')
    end subroutine

    subroutine model
        type(tilemm_warp_access_t) :: access
        type(tilemm_shared_cost_t) :: cost
        type(tilemm_bank_use_t) :: uses(TILEMM_MODEL_MOST_USES)
        character(kind=c_char) :: message(80)
        integer(c_int) :: i, count
        access = tilemm_warp_access_t(4, not(0_c_int32_t), [(8_c_int64_t * i, i=0, 31)])
        call check(tilemm_model_shared(90, access, cost) == 0 .and. cost%wavefronts == 2 .and. &
            cost%conflicts == 1 .and. cost%degree == 2, 'shared access of stride 2')
        call check(tilemm_model_banks(90, 1, access, uses, count) == 0 .and. count == 32 .and. &
            uses(2)%bank == 2, 'banks')
        access%addr(8) = 30
        call check(tilemm_model_check(90, access, message, size(message, kind=c_size_t)) == &
            TILEMM_INVALID_ARGUMENT .and. all(message(1:12) == transfer('addr[7] = 30', message)), 'check')
        call check(tilemm_model_check(90, access, size=0_c_size_t) == TILEMM_INVALID_ARGUMENT, &
            'check without message')
    end subroutine
end program
