"""Check what metrics are learnt from draws and gradients."""

from collections.abc import Callable

import numpy as np
import pytest

from accord.adaptation import metric as metrics
from accord.adaptation.metric import METRICS, Choice, Metric, initial_metric, rank_for, reason
from accord.adaptation.metric.choose import MAX_ASKED_DIM, MAX_DENSE_DIM, RANK, check_room
from accord.adaptation.metric.dense import _factor, dense, dense_residual
from accord.core.errors import OptionError

Window = tuple[np.ndarray, np.ndarray]


@pytest.mark.parametrize("dim", [2, 5, 20])
def test_a_normal_is_recovered_exactly_from_a_few_more_draws_than_dimensions(dim: int) -> None:
    covariance = _covariance(dim, 1e4)
    positions, gradients = _normal_window(covariance, 2 * dim + 2)
    learnt = _learn(positions, gradients, _unit(dim))
    assert not learnt.is_diagonal
    np.testing.assert_allclose(_inverse_mass(learnt), covariance, rtol=1e-3, atol=1e-3 * np.max(covariance))
    root = np.linalg.cholesky(covariance)
    whitened = np.linalg.solve(root, np.linalg.solve(root, _inverse_mass(learnt)).T)
    np.testing.assert_allclose(whitened, np.eye(dim), atol=1e-3)


def test_a_diagonal_normal_is_recovered_exactly_and_stays_diagonal() -> None:
    scale = np.array([1e-6, 0.1, 1.0, 30.0, 1e5])
    for count in (3, 4, 5, 10, 100):
        learnt = _learn(*_normal_window(np.diag(scale**2), count), _unit(5))
        assert learnt.is_diagonal
        np.testing.assert_allclose(learnt.scale, scale, rtol=1e-10)


def test_a_metric_does_not_depend_on_where_the_posterior_is() -> None:
    positions, gradients = _normal_window(_covariance(5, 100.0), 40)
    here, there = (_learn(positions + shift, gradients, _unit(5)) for shift in (0.0, np.arange(5) * 10))
    np.testing.assert_allclose(_inverse_mass(here), _inverse_mass(there), rtol=1e-8)


def test_a_metric_follows_the_units_of_the_posterior() -> None:
    positions, gradients = _normal_window(_covariance(4, 100.0), 40)
    units = np.array([1e-4, 1.0, 7.0, 1e5])
    plain = _inverse_mass(_learn(positions, gradients, _unit(4)))
    scaled = _inverse_mass(_learn(positions * units, gradients / units, _unit(4)))
    np.testing.assert_allclose(scaled, plain * np.outer(units, units), rtol=1e-6)


def test_draws_that_did_not_move_are_left_out() -> None:
    positions, gradients = _student_window(30)
    repeats = np.random.default_rng(1).integers(1, 5, 30)
    once = _learn(positions, gradients, _unit(3))
    often = _learn(np.repeat(positions, repeats, 0), np.repeat(gradients, repeats, 0), _unit(3))
    _assert_same(once, often)


def test_independent_coordinates_keep_a_diagonal_metric() -> None:
    generator = np.random.default_rng(0)
    for count in (10, 30, 100, 1000):
        x = generator.standard_t(5, (count, 8))
        learnt = _learn(x, -6 * x / (5 + x * x), _unit(8))
        assert learnt.is_diagonal, count


def test_only_a_dense_metric_in_many_dimensions_needs_a_program_of_its_own() -> None:
    for form in METRICS:
        assert [rank_for(dim, form) for dim in (1, 2, MAX_DENSE_DIM)] == [0, 2, MAX_DENSE_DIM]
        assert rank_for(300, form) == (300 if form == "dense" else RANK)


def test_few_directions_in_many_dimensions_are_found_from_fewer_draws_than_dimensions() -> None:
    """The draws of the first window already do, under any scales; eigenvalues from 1/400 to 2500 after them."""
    dim, variances = 300, np.array([2500.0, 400.0, 30.0, 1 / 100, 1 / 400])
    directions = np.linalg.qr(np.random.default_rng(5).standard_normal((dim, 5)))[0]
    white = np.eye(dim) + (directions * (variances - 1)) @ directions.T
    units = np.random.default_rng(6).permutation(np.geomspace(1e-3, 1e3, dim))
    covariance = white * np.outer(units, units)
    diagonal = Metric.diagonal(np.sqrt(np.diag(covariance)), RANK)
    for count in (15, 50, 150):
        x, g = _normal_window(white, count)
        learnt, choice = metrics.learn_metric(x * units, g / units, _unit(dim), "auto")
        assert choice is not None and choice.form == "low_rank"
        assert np.sum(learnt.stretch != 0) < RANK
        found, none = (_condition(covariance, metric) for metric in (learnt, diagonal))
        print(f"{count} draws: condition {found:.1f}, of the true diagonal {none:.0f}")
        assert found < none / 100


def test_few_draws_favour_few_directions_and_many_draws_a_full_matrix() -> None:
    dim = 60
    long = np.linalg.qr(np.random.default_rng(1).standard_normal((dim, 1)))[0]
    covariance = np.eye(dim) + 999 * long @ long.T
    for count, form in ((30, "low_rank"), (60, "low_rank"), (200, "dense")):
        learnt, choice = metrics.learn_metric(*_normal_window(covariance, count), _unit(dim), "auto")
        assert choice is not None and choice.form == form
        assert _condition(covariance, learnt) < 3


@pytest.mark.parametrize("scale", [1e-10, 1e10])
@pytest.mark.parametrize("dim", [5, 100])
def test_metrics_stay_finite_at_extreme_scales(dim: int, scale: float) -> None:
    x, g = _normal_window(_covariance(dim, 1e4), 60)
    for dtype in ("float32", "float64"):
        window = [(x * scale).astype(dtype), (g / scale).astype(dtype)]
        for form in METRICS:
            start = Metric.diagonal(np.ones(dim, dtype), rank_for(dim, form))
            learnt, _ = metrics.learn_metric(*window, start, form)
            for field in (learnt.scale, learnt.factor, learnt.stretch):
                assert field.dtype == dtype and np.all(np.isfinite(field))
            assert np.all(learnt.scale > 0) and np.all(learnt.stretch > -1)


@pytest.mark.parametrize("form", METRICS[1:])
def test_a_form_that_is_asked_for_is_learnt(form: str) -> None:
    for dim in (4, 80):
        window = _normal_window(_covariance(dim, 1e4), 2 * dim)
        start = Metric.diagonal(np.ones(dim), rank_for(dim, form))
        learnt, choice = metrics.learn_metric(*window, start, form)
        assert choice is not None and choice.form == form
        assert learnt.factor.shape == start.factor.shape
        assert form == "marginal" or bool(learnt.is_diagonal) == (form == "diagonal")
        assert reason(choice, form) == f"metric={form!r} was asked for"


def test_the_choice_says_how_every_form_whitened_unseen_draws() -> None:
    _, choice = metrics.learn_metric(*_normal_window(_covariance(5, 1e4), 60), _unit(5), "auto")
    assert choice is not None and choice.form == "dense"
    diagonal, low_rank, dense = choice.divergences
    assert dense < 0.01 * diagonal
    assert np.isnan(low_rank)  # of 60 draws in five dimensions there are enough for a full matrix
    stored = Choice.stored(choice.arrays())
    assert stored.form == choice.form
    np.testing.assert_array_equal(stored.divergences, choice.divergences)
    assert f"diagonal {diagonal:.3g}, dense {dense:.3g}" in reason(stored, "auto")
    assert "too short" in reason(Choice.stored(Choice().arrays()), "auto")
    assert "too few" in reason(Choice("diagonal"), "auto")


@pytest.mark.parametrize("count", [8, 30, 200])
def test_a_full_matrix_is_judged_as_the_one_that_is_learnt(count: int) -> None:
    x, g = _normal_window(_covariance(20, 1e4), count)
    parts = [np.random.default_rng(key).permutation(count)[: count // 2] for key in range(3)]
    seen = np.stack([x[part] for part in parts]), np.stack([g[part] for part in parts])
    scale = np.geomspace(0.1, 10, 20)
    scales = np.stack([scale, 2 * scale, scale])
    expected = dense(*seen, scales).residual(x, g)
    found = dense_residual(seen, scales, x, g)
    np.testing.assert_allclose(np.sum(found**2, -1), np.sum(expected**2, -1), rtol=1e-6)
    assert len(np.unique(np.sum(found**2, (-1, -2)).round(6))) == 3


def test_a_matrix_that_rounding_leaves_singular_has_a_factor_all_the_same() -> None:
    singular = np.full((3, 3), 1e24)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(singular)
    factor, inverse = _factor(singular)
    np.testing.assert_allclose(factor @ factor.T, singular, rtol=1e-12)
    np.testing.assert_allclose(inverse @ factor, np.eye(3), atol=1e-6)


def test_a_few_directions_are_tried_where_draws_are_few() -> None:
    _, choice = metrics.learn_metric(*_normal_window(_covariance(40, 1e4), 60), _unit(40), "auto")
    assert choice is not None and np.isfinite(choice.divergences).all()


def test_a_dense_metric_of_too_many_dimensions_is_refused_by_name() -> None:
    check_room(MAX_ASKED_DIM, "dense")
    check_room(10**6, "auto")
    with pytest.raises(OptionError, match=r"'dense' takes up to 500 dimensions.*has 501.*'low_rank'"):
        check_room(501, "dense")


def _constant(window: Window) -> Window:
    return np.ones_like(window[0]), np.ones_like(window[1])


# Windows from which nothing can be learnt, made from a good one.
DEGENERATE: dict[str, Callable[[Window], Window]] = {
    "one draw": lambda w: (w[0][:1], w[1][:1]),
    "two draws": lambda w: (w[0][:2], w[1][:2]),
    "a chain that never moved": _constant,
    "two points, each many times": lambda w: (np.repeat(w[0][:2], 20, 0), np.repeat(w[1][:2], 20, 0)),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_a_degenerate_window_keeps_the_previous_metric(name: str) -> None:
    good = _student_window(30)
    for previous in (Metric.diagonal(np.array([0.5, 2.0, 3.0]), 3), _learn(*good, _unit(3))):
        _assert_same(_learn(*DEGENERATE[name](good), previous), previous)


# Windows in which the first coordinate says nothing of its scale, while the others do.
HALF_DEGENERATE: dict[str, Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "constant gradient": lambda x, g: (x, np.zeros_like(g)),
    "constant position": lambda x, g: (np.zeros_like(x), g),
    "gradients that overflow when squared": lambda x, g: (x, g * 1e200),
    "positions that overflow when squared": lambda x, g: (x * 1e200, g),
    "one gradient that overflows when squared": lambda x, g: (x, np.where(np.arange(len(g)) == 4, 1e200, g)),
}


@pytest.mark.parametrize("count", [4, 10, 60])
@pytest.mark.parametrize("name", HALF_DEGENERATE)
def test_a_coordinate_that_says_nothing_keeps_its_scale(name: str, count: int) -> None:
    positions, gradients = _student_window(count)
    positions[:, 0], gradients[:, 0] = HALF_DEGENERATE[name](positions[:, 0], gradients[:, 0])
    learnt = _learn(positions, gradients, Metric.diagonal(np.array([0.123, 1.0, 1.0]), 3))
    assert learnt.scale[0] == 0.123 or name.endswith("squared")
    for field in (learnt.scale, learnt.factor, learnt.stretch):
        assert np.all(np.isfinite(field))
    assert np.all(learnt.scale > 0) and np.all(learnt.stretch > -1)


def test_the_first_metric_takes_the_gradient_for_a_typical_one() -> None:
    learnt = initial_metric(np.array([4.0, -0.25, 0.0, 1e-300, 1e300]), 5)
    np.testing.assert_allclose(learnt.scale, [0.5, 2.0, 1.0, 1e10, 1e-10])
    assert learnt.is_diagonal and learnt.factor.shape == (5, 5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_metric_has_the_precision_of_the_run(dtype: str) -> None:
    positions, gradients = (array.astype(dtype) for array in _normal_window(_covariance(4, 1e4), 40))
    learnt = _learn(positions, gradients, initial_metric(gradients[0], 4))
    assert {learnt.scale.dtype, learnt.factor.dtype, learnt.stretch.dtype} == {np.dtype(dtype)}
    assert not learnt.is_diagonal


@pytest.mark.parametrize("form", METRICS)
@pytest.mark.parametrize("dim", [5, 80])
def test_a_metric_is_estimated_in_float64_whatever_the_precision_of_the_run(dim: int, form: str) -> None:
    """The arrays of a run in float32, and the same numbers in float64; the result is rounded once."""
    window = [array.astype("float32") for array in _normal_window(_covariance(dim, 1e6), 2 * dim)]
    (found, choice), (exact, exact_choice) = (
        metrics.learn_metric(
            *(array.astype(dtype) for array in window),
            Metric.diagonal(np.ones(dim, dtype), rank_for(dim, form)),
            form,
        )
        for dtype in ("float32", "float64")
    )
    for name in ("scale", "factor", "stretch"):
        assert getattr(exact, name).dtype == "float64"
        np.testing.assert_array_equal(getattr(found, name), getattr(exact, name).astype("float32"))
    assert found.scale.dtype == "float32"
    assert choice is not None and exact_choice is not None and choice.form == exact_choice.form
    np.testing.assert_array_equal(choice.divergences, exact_choice.divergences)


def _unit(dim: int) -> Metric:
    return Metric.diagonal(np.ones(dim), rank_for(dim, "auto"))


def _learn(positions: np.ndarray, gradients: np.ndarray, previous: Metric) -> Metric:
    return metrics.learn_metric(positions, gradients, previous, "auto")[0]


def _covariance(dim: int, condition: float) -> np.ndarray:
    """A rotated covariance; eigenvalues from 1 to `condition`."""
    rotation = np.linalg.qr(np.random.default_rng(dim).standard_normal((dim, dim)))[0]
    return (rotation * np.geomspace(1, condition, dim)) @ rotation.T


def _normal_window(covariance: np.ndarray, count: int) -> Window:
    x = np.random.default_rng(3).standard_normal((count, len(covariance))) @ np.linalg.cholesky(covariance).T
    return x, -np.linalg.solve(covariance, x.T).T


def _student_window(count: int) -> Window:
    """Draws of three Student t with 5 degrees of freedom, mixed."""
    mixing = np.array([[1.0, 0.0, 0.0], [0.9, 0.3, 0.0], [0.5, 0.5, 2.0]])
    z = np.random.default_rng(2).standard_t(5, (count, 3))
    return z @ mixing.T, np.linalg.solve(mixing.T, (-6 * z / (5 + z * z)).T).T


def _inverse_mass(metric: Metric) -> np.ndarray:
    transform = np.asarray(metric.scale)[:, None] * (
        np.eye(len(metric.scale)) + (np.asarray(metric.factor) * metric.stretch) @ metric.factor.T
    )
    return transform @ transform.T


def _condition(covariance: np.ndarray, metric: Metric) -> float:
    """Of the covariance of whitened draws."""
    values = np.linalg.eigvals(np.linalg.solve(_inverse_mass(metric), covariance)).real
    return float(values.max() / values.min())


def _assert_same(left: Metric, right: Metric) -> None:
    for name in ("scale", "factor", "stretch", "is_diagonal"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
