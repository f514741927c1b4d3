! fortran.f90 - a program that uses the Fortran module: every kind of function once.
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
    integer, parameter :: long = c_int64_t
    type(c_ptr) :: ctx
    integer :: status, checks = 0, failures = 0

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
        type(c_ptr) :: stream, workspace, given
        integer(c_int8_t), target :: memory(65536)
        real(c_float) :: total
        status = tilemm_get_backend(ctx, backend)
        call check(status == 0 .and. backend == TILEMM_BACKEND_CPU, 'backend')
        status = tilemm_get_device(ctx, device)
        call check(status == 0 .and. device == -1, 'device')
        call check(tilemm_set_math(ctx, TILEMM_MATH_FP32_STRICT) == 0, 'set math')
        status = tilemm_get_math(ctx, math)
        call check(status == 0 .and. math == TILEMM_MATH_FP32_STRICT, 'math')
        call check(tilemm_set_nan_policy(ctx, TILEMM_NAN_IGNORE) == 0, 'set policy')
        status = tilemm_get_nan_policy(ctx, policy)
        call check(status == 0 .and. policy == TILEMM_NAN_IGNORE, 'policy')
        call check(tilemm_set_nan_policy(ctx, TILEMM_NAN_PROPAGATE) == 0, 'set policy back')
        call check(tilemm_set_threads(ctx, 1) == 0, 'set threads')
        status = tilemm_get_threads(ctx, threads)
        call check(status == 0 .and. threads == 1, 'threads')
        call check(tilemm_set_stream(ctx, c_null_ptr) == 0, 'set stream')
        status = tilemm_get_stream(ctx, stream)
        call check(status == 0 .and. .not. c_associated(stream), 'stream')
        given = c_loc(memory)
        status = tilemm_set_workspace(ctx, given, size(memory, kind=c_size_t))
        call check(status == 0, 'set workspace')
        status = tilemm_get_workspace(ctx, workspace, bytes)
        call check(status == 0 .and. bytes == size(memory) .and. c_associated(workspace, given), &
            'workspace')
        call check(tilemm_set_workspace(ctx, c_null_ptr, 0_c_size_t) == 0, 'own workspace')
        calls = 0
        call check(tilemm_set_log(ctx, c_funloc(take_line), c_loc(calls)) == 0, 'set log')
        call check(tilemm_ssum(ctx, 2_long, [1., 2.], 1_long, total) == 0, 'sum')
        call check(calls == 1, 'one line')
        call check(index(lines, 'tilemm bench') == 1, lines)
        call check(tilemm_set_log(ctx, c_null_funptr, c_null_ptr) == 0, 'no log')
        call check(tilemm_synchronize(ctx) == 0, 'synchronize')
    end subroutine

    subroutine products
        real(c_float) :: a(2, 3), b(3, 2)
        real(c_float), target :: c(2, 2), d(2, 2), e(2, 2, 3)
        integer(c_size_t) :: bytes
        a = reshape([1., 4., 2., 5., 3., 6.], [2, 3])
        b = reshape([1., 0., 1., 0., 1., 1.], [3, 2])
        c = -1
        status = tilemm_sgemm(ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 2_long, &
            2_long, 3_long, 1., a, 2_long, b, 3_long, 0., c, 2_long)
        call check(status == TILEMM_SUCCESS .and. all(c == matmul(a, b)), 'sgemm')
        call check(index(tilemm_last_kernel(ctx), 'sgemm_') == 1, tilemm_last_kernel(ctx))
        status = tilemm_sgemm(ctx, TILEMM_COL_MAJOR, TILEMM_TRANS, TILEMM_TRANS, 3_long, &
            3_long, 2_long, 1., a, 1_long, b, 3_long, 0., c, 3_long)
        call check(status == TILEMM_INVALID_ARGUMENT, 'sgemm refuses')
        call check(index(tilemm_last_error(ctx), 'sgemm: lda = 1, must be at least 2') == 1, &
            tilemm_last_error(ctx))
        status = tilemm_sgemm_strided_batched(ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, &
            TILEMM_NO_TRANS, 2_long, 2_long, 3_long, 2., a, 2_long, 0_long, b, 3_long, 0_long, 0., &
            e, 2_long, 4_long, 3_long)
        call check(status == TILEMM_SUCCESS .and. all(e == spread(2 * c, 3, 3)), 'strided batch')
        status = tilemm_sgemm_batched(ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, &
            2_long, 2_long, 2_long, 1., [c_loc(c), c_loc(e)], 2_long, &
            [c_loc(c), c_loc(c)], 2_long, 0., [c_loc(d), c_loc(e(1, 1, 2))], 2_long, 2_long)
        call check(status == TILEMM_SUCCESS .and. all(d == matmul(c, c)) .and. &
            all(e(:, :, 2) == 2 * d), 'batch')
        status = tilemm_sgemm_workspace(ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, &
            2_long, 2_long, 3_long, 1_long, bytes)
        call check(status == TILEMM_SUCCESS .and. bytes == 0, 'workspace of a product')
    end subroutine

    subroutine transposes
        integer(c_int16_t) :: a(3, 5), b(5, 3)
        complex(c_double_complex) :: z(2, 4), w(4, 2)
        real(c_float) :: x(3, 2), y(2, 3)
        integer :: i
        b = 0
        w = 0
        y = 0
        a = reshape([(int(i, c_int16_t), i=1, 15)], [3, 5])
        status = tilemm_transpose(ctx, 5_long, 3_long, 2_c_size_t, a, 3_long, b, 5_long)
        call check(status == 0 .and. all(b == transpose(a)), 'transpose of integers')
        z = reshape([(cmplx(i, -i, c_double_complex), i=1, 8)], [2, 4])
        status = tilemm_transpose(ctx, 4_long, 2_long, 16_c_size_t, z, 2_long, w, 4_long)
        call check(status == 0 .and. all(w == transpose(z)), 'transpose of complex')
        status = tilemm_transpose_inplace(ctx, 4_long, 2_long, 16_c_size_t, z, 2_long, 4_long)
        call check(status == 0 .and. all(reshape(z, [4, 2]) == w), 'transpose in place')
        call random_number(x)
        status = tilemm_somatcopy(ctx, TILEMM_COL_MAJOR, TILEMM_TRANS, 3_long, 2_long, 2., x, &
            3_long, y, 2_long)
        call check(status == 0 .and. all(y == 2 * transpose(x)), 'somatcopy')
    end subroutine

    subroutine reductions
        real(c_float) :: x(6), total, rows(2), last(3)
        integer(c_int64_t) :: where(3), position
        x = [3., -1., 4., 1., -5., 9.]
        status = tilemm_ssum(ctx, 6_long, x, 1_long, total)
        call check(status == 0 .and. total == 11, 'ssum')
        status = tilemm_sdot(ctx, 3_long, x, 1_long, x, -1_long, total)
        call check(status == 0 .and. total == 25, 'sdot')
        status = tilemm_isamax(ctx, 5_long, x, 1_long, position)
        call check(status == 0 .and. position == 4, 'isamax')
        status = tilemm_sreduce(ctx, TILEMM_MAX, TILEMM_AXIS_COLS, TILEMM_COL_MAJOR, 2_long, &
            3_long, x, 2_long, rows, 1_long)
        call check(status == 0 .and. all(rows == [4., 9.]), 'sreduce')
        status = tilemm_sargreduce(ctx, TILEMM_MAX, TILEMM_AXIS_ROWS, TILEMM_COL_MAJOR, 2_long, &
            3_long, x, 2_long, incout=1_long, index_out=where)
        call check(status == 0 .and. all(where == [0, 0, 1]), 'sargreduce without out')
        status = tilemm_sreduce_segments(ctx, TILEMM_SUM, 3_long, x, [0_long, 2_long, 2_long, &
            6_long], last)
        call check(status == 0 .and. all(last == [2., 0., 9.]), 'segments')
    end subroutine

    subroutine model
        type(tilemm_warp_access_t) :: access
        type(tilemm_shared_cost_t) :: cost
        type(tilemm_bank_use_t) :: uses(TILEMM_MODEL_MOST_USES)
        character(kind=c_char) :: message(80)
        integer(c_int) :: i, count
        access = tilemm_warp_access_t(4, not(0_c_int32_t), [(8_long * i, i=0, 31)])
        status = tilemm_model_shared(90, access, cost)
        call check(status == 0 .and. cost%wavefronts == 2 .and. cost%conflicts == 1 .and. &
            cost%degree == 2, 'shared access of stride 2')
        status = tilemm_model_banks(90, 1, access, uses, count)
        call check(status == 0 .and. count == 32 .and. uses(2)%bank == 2, 'banks')
        access%addr(8) = 30
        status = tilemm_model_check(90, access, message, size(message, kind=c_size_t))
        call check(status == TILEMM_INVALID_ARGUMENT, 'check')
        call check(index(transfer(message, repeat(' ', 80)), 'addr[7] = 30') == 1, 'its message')
        call check(tilemm_model_check(90, access, size=0_c_size_t) == TILEMM_INVALID_ARGUMENT, &
            'check without message')
    end subroutine
end program
