"""Match components: a known order is found, and doubt is what the overlap of normals makes it."""

import numpy as np
import pytest

from accord.report.components import axes_along, match, reorder, size_of

PLACES = {"mu": np.array([-4.0, 0.0, 5.0]), "sigma": np.array([1.0, 2.0, 1.0])}
AXES = {"mu": (0,), "sigma": (0,)}


def shuffled(num: int = 400, width: float = 0.3) -> tuple[dict, np.ndarray]:
    """Draws of components in orders by chance; and which component of a draw is the k-th of `PLACES`."""
    rng = np.random.default_rng(3)
    orders = np.argsort(rng.normal(size=(2, num, 3)), axis=-1)
    draws = {
        name: np.take_along_axis(at + width * rng.normal(size=(2, num, 3)), orders, -1)
        for name, at in PLACES.items()
    }
    return draws, np.argsort(orders, axis=-1)


def test_the_order_of_every_draw_is_found_up_to_one_for_all() -> None:
    draws, truth = shuffled()
    found = match(draws, AXES, np.zeros((2, 400)))
    first = truth[0, 0].tolist()
    of_all = [first.index(each) for each in found.order[0, 0]]  # in the place of which true one each is put
    np.testing.assert_array_equal(found.order, truth[..., of_all])
    assert found.doubt < 1e-6
    np.testing.assert_allclose(
        np.sort(reorder(draws["mu"], (0,), found.order).mean((0, 1))), PLACES["mu"], atol=0.1
    )


def test_draws_in_one_order_stay_as_they_are() -> None:
    rng = np.random.default_rng(3)
    draws = {"mu": PLACES["mu"] + 0.3 * rng.normal(size=(2, 100, 3))}
    found = match(draws, {"mu": (0,)}, np.zeros((2, 100)))
    np.testing.assert_array_equal(found.order, np.broadcast_to(np.arange(3), (2, 100, 3)))
    assert found.share == 0


def test_doubt_is_that_of_an_exchange_between_normals() -> None:
    """Two of the components overlap, and the third is far from both."""
    rng = np.random.default_rng(4)
    draws = np.sort(np.array([0.0, 3.0, 40.0]) + rng.normal(size=(2, 5000, 3)), axis=-1)
    means, widths = draws.mean((0, 1)), draws.std((0, 1))

    def cost(component: int, place: int) -> np.ndarray:
        return ((draws[..., component] - means[place]) / widths[place]) ** 2

    extra = cost(0, 1) + cost(1, 0) - cost(0, 0) - cost(1, 1)
    found = match({"mu": draws}, {"mu": (0,)}, np.zeros((2, 5000)))
    assert found.share < 0.01  # a pair in a tail may fit better exchanged
    assert found.doubt == pytest.approx(np.mean(1 / (1 + np.exp(np.abs(extra) / 2))), rel=0.02)
    far = match({"mu": draws + np.array([0, 30, 80])}, {"mu": (0,)}, np.zeros((2, 5000)))
    assert far.doubt < 1e-9


def test_what_does_not_move_tells_nothing() -> None:
    draws, _ = shuffled()
    with_fixed = match({**draws, "fixed": np.ones((2, 400, 3))}, {**AXES, "fixed": (0,)}, np.zeros((2, 400)))
    np.testing.assert_array_equal(with_fixed.order, match(draws, AXES, np.zeros((2, 400))).order)


def test_axes_of_every_kind_are_put_in_order() -> None:
    order = np.array([[[2, 0, 1]]])
    matrix = np.arange(9.0).reshape(1, 1, 3, 3)
    np.testing.assert_array_equal(reorder(matrix, (1,), order)[0, 0], matrix[0, 0][:, [2, 0, 1]])
    np.testing.assert_array_equal(reorder(matrix, (0, 1), order)[0, 0], matrix[0, 0][[2, 0, 1]][:, [2, 0, 1]])
    share = np.array([[0.2, 0.2]])
    np.testing.assert_allclose(reorder(share, (), np.array([[[0, 1], [1, 0]]])), [[0.2, 0.8]])


@pytest.mark.parametrize("dim", ["state", "weights_dim_0"])
def test_axes_are_found_by_name_and_by_length(dim) -> None:
    dims = {
        "mu": ("state",),
        "move": ("state", "move_dim_1"),
        "weights": ("weights_dim_0",),
        "wide": ("wide_dim_0",),
    }
    shapes = {"mu": (4, 10, 3), "move": (4, 10, 3, 3), "weights": (4, 10, 3), "wide": (4, 10, 5)}
    own, others = axes_along(dim, dims, shapes)
    named = {"mu": (0,), "move": (0,)} if dim == "state" else {"weights": (0,)}
    assert own == named
    assert others == [("move", 1), *([("weights", 0)] if dim == "state" else [])]
    assert size_of(own, shapes) == 3
    assert axes_along("nothing", dims, shapes) == ({}, [])


@pytest.mark.parametrize("width", [1.0, 40.0])
def test_a_wide_component_takes_no_place_of_a_narrow_one(width) -> None:
    """The order by squares alone takes the nearest component, as if all were as wide."""
    rng = np.random.default_rng(6)
    wide = width * rng.normal(size=(2, 500))
    truth = np.stack(
        [-6 + 0.2 * rng.normal(size=(2, 500)), wide, 6 + 0.2 * rng.normal(size=(2, 500))], axis=-1
    )
    orders = np.argsort(rng.normal(size=(2, 500, 3)), axis=-1)
    shuffled_draws = np.take_along_axis(truth, orders, -1)
    found = match({"mu": shuffled_draws}, {"mu": (0,)}, np.zeros((2, 500)))
    matched = reorder(shuffled_draws, (0,), found.order)
    widths = np.sort(matched.std((0, 1)))
    np.testing.assert_allclose(widths[:2], 0.2, rtol=0.5)


def test_components_are_in_increasing_order() -> None:
    draws, _ = shuffled()
    found = match(draws, AXES, np.zeros((2, 400)))
    assert np.all(np.diff(reorder(draws["mu"], (0,), found.order).mean((0, 1))) > 0)


def test_the_rest_of_a_share_is_less_than_one() -> None:
    for dtype in (np.float32, np.float64):
        rest = reorder(np.array([[1e-30]], dtype), (), np.array([[[1, 0]]]))
        assert rest.dtype == dtype
        assert 0.999 < rest[0, 0] < 1
    of_groups = reorder(np.array([[[0.2, 0.9]]]), (), np.array([[[1, 0]]]))
    np.testing.assert_allclose(of_groups, [[[0.8, 0.1]]])
