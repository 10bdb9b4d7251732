"""Hold that runs, and runs within runs, leave linear algebra as wide as it was."""

from threadpoolctl import ThreadpoolController, threadpool_limits

from accord.executors.pools import _shared, one_blas_thread


def widths() -> list[int]:
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return [library.get_num_threads() for library in libraries]


def test_it_is_one_within_runs_and_the_former_width_after_the_last() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        with one_blas_thread():
            with one_blas_thread():
                assert set(widths()) == {1}
            assert set(widths()) == {1}
        assert set(widths()) == {2}


def test_runs_within_a_run_leave_nothing_behind() -> None:
    with one_blas_thread():
        before = len(_shared._widths)
        for _ in range(3):
            with one_blas_thread():
                pass
        assert len(_shared._widths) == before
