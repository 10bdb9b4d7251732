"""Hold the curvature that moves tell, and its normals, against dense matrices."""

import numpy as np
import pytest
from laws import each
from scipy import stats

from accord.vi.pathfinder.curvature import MEMORY, Curvature

EPSILON = float(np.finfo(float).eps)
DIMS = {"fewer moves than unknowns": (30, 4), "as many columns": (8, 4), "more moves than unknowns": (3, 7)}


def told(dim, count, seed=0):
    """Return a curvature after moves on a quadratic, and the same inverse as a dense matrix."""
    generator = np.random.default_rng(seed)
    square = generator.standard_normal((dim, dim))
    hessian = square @ square.T + np.eye(dim)
    curvature, pairs = Curvature.unknown(dim), []
    for _ in range(count):
        move = generator.standard_normal(dim)
        curvature = curvature.after(move, hessian @ move, EPSILON)
        pairs.append((move, hessian @ move))
    dense = np.diag(curvature.diagonal)
    for move, turn in pairs[-MEMORY:]:  # the formula of BFGS
        left = np.eye(dim) - np.outer(move, turn) / (move @ turn)
        dense = left @ dense @ left.T + np.outer(move, move) / (move @ turn)
    return curvature, dense


@each(DIMS)
def test_the_compact_form_is_the_formula_of_bfgs(sizes):
    curvature, dense = told(*sizes)
    dim = sizes[0]
    position, gradient, noise = np.random.default_rng(1).standard_normal((3, dim))
    normal = curvature.normal(position, gradient)
    np.testing.assert_allclose(normal.mean, position + dense @ gradient, rtol=1e-9, atol=1e-9)
    half = normal.positions(np.eye(dim)) - normal.mean
    np.testing.assert_allclose(half.T @ half, dense, rtol=1e-8, atol=1e-9)
    exact = stats.multivariate_normal(normal.mean, dense).logpdf(noise)
    np.testing.assert_allclose(normal.log_prob(noise[None]), [exact], rtol=1e-9)
    np.testing.assert_allclose(normal.noise(normal.positions(noise[None])), noise[None], atol=1e-9)


def test_old_moves_are_forgotten():
    curvature, dense = told(40, MEMORY + 5)
    assert curvature.moves.shape == (MEMORY, 40)
    normal = curvature.normal(np.zeros(40), np.ones(40))
    np.testing.assert_allclose(normal.mean, dense @ np.ones(40), rtol=1e-8, atol=1e-9)


def test_the_diagonal_of_a_separable_curvature_is_learnt():
    scales = np.exp(np.linspace(-3, 3, 50))
    curvature = Curvature.unknown(50)
    for move in np.random.default_rng(0).standard_normal((100, 50)) * scales:
        curvature = curvature.after(move, move / scales**2, EPSILON)
    ratio = np.sqrt(curvature.diagonal) / scales
    assert ratio.max() / ratio.min() < 10  # it was exp(6) = 403


@each(
    {
        "upward": (np.ones(3), -np.ones(3)),
        "none": (np.zeros(3), np.zeros(3)),
        "across": (np.array([1.0, 0, 0]), np.array([0, 1.0, 0])),
        "not a number": (np.ones(3), np.array([1, np.nan, 1])),
        "infinite": (np.ones(3), np.array([1, np.inf, 1])),
        "hidden by rounding": (np.array([1.0, 0, 0]), np.array([1e-17, 1.0, 0])),
    }
)
def test_a_move_without_usable_curvature_is_left_out(pair):
    curvature, _ = told(3, 2)
    assert curvature.after(*pair, EPSILON) is curvature


def test_units_do_not_count():
    generator = np.random.default_rng(3)
    moves, turns = generator.standard_normal((2, 4, 5))
    turns = moves + 0.1 * turns
    first, second = Curvature.unknown(5), Curvature.unknown(5)
    for move, turn in zip(moves, turns, strict=True):
        first = first.after(move, turn, EPSILON)
        second = second.after(1e-9 * move, 1e-9 * turn, EPSILON)
    np.testing.assert_allclose(first.diagonal, second.diagonal, rtol=1e-12)


def test_before_a_move_there_is_no_normal_nor_where_numbers_overflow():
    assert Curvature.unknown(3).normal(np.zeros(3), np.ones(3)) is None
    curvature, _ = told(3, 2)
    assert curvature.normal(np.full(3, 1.7e308), np.full(3, 1e308)) is None
    assert curvature.normal(np.full(3, np.nan), np.ones(3)) is None


def test_a_density_that_underflows_is_zero_without_a_warning():
    curvature, _ = told(3, 2)
    normal = curvature.normal(np.zeros(3), np.ones(3))
    assert normal.log_prob(np.array([[1e200, 0, 0], [np.inf, 0, 0]])).tolist() == [-np.inf, -np.inf]


def test_a_normal_is_a_density():
    curvature, _ = told(2, 3)
    normal = curvature.normal(np.zeros(2), np.zeros(2))
    half = 8 * np.sqrt(np.max((normal.positions(np.eye(2)) - normal.mean) ** 2) * 2)
    grid = np.linspace(-half, half, 801)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    total = np.exp(normal.log_prob(points)).sum() * (grid[1] - grid[0]) ** 2
    assert total == pytest.approx(1, abs=1e-6)
