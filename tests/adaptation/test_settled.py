"""Check what tells a chain that is still on its way from one that has arrived."""

from collections.abc import Callable

import numpy as np
import pytest

from accord.adaptation.schedule import longer
from accord.adaptation.settled import is_settled

COUNT, DIM = 350, 5


def _draws(count: int = COUNT) -> np.ndarray:
    """Independent draws of normal numbers of very different scales."""
    return np.random.default_rng(0).normal(size=(count, DIM)) * np.logspace(-8, 8, DIM)


def _look(positions: np.ndarray, log_density: np.ndarray | None = None, depth: int = 3) -> bool:
    count = len(positions)
    log_density = np.random.default_rng(1).normal(size=count) if log_density is None else log_density
    return is_settled(positions, log_density, np.full(count, depth), 10)


def _one_stands_still() -> np.ndarray:
    positions = _draws()
    positions[:, 1] = 3.0
    return positions


SETTLED: dict[str, Callable[[], np.ndarray]] = {
    "independent draws": _draws,
    "after a long way in that is forgotten": lambda: np.concatenate([np.full((100, DIM), 1e6), _draws(250)]),
    "a coordinate that stands still": _one_stands_still,
    "too few to tell": lambda: np.arange(30.0)[:, None] + np.zeros(DIM),
    "in single precision": lambda: _draws().astype(np.float32),
    "so far out that squares overflow": lambda: _draws() * 1e160,
}


# Of one coordinate of five: its values, from independent draws and the time from 0 to 1.
UNSETTLED: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "it drifts": lambda noise, time: noise + 20 * time,
    "it covers ever more": lambda noise, time: noise * np.exp(12 * time),
    "it jumped": lambda noise, time: noise + 5 * (time > 0.75),
}


@pytest.mark.parametrize("name", SETTLED)
def test_a_chain_that_has_arrived_has_settled(name: str) -> None:
    assert _look(SETTLED[name]())


@pytest.mark.parametrize("name", UNSETTLED)
def test_a_chain_of_which_one_number_is_on_its_way_has_not_settled(name: str) -> None:
    positions = _draws()
    positions[:, 2] = UNSETTLED[name](positions[:, 2], np.linspace(0, 1, COUNT))
    assert not _look(positions)


def test_a_log_density_that_still_rises_is_a_chain_on_its_way() -> None:
    noise = np.random.default_rng(1).normal(size=COUNT)
    assert not _look(_draws(), noise + 0.03 * np.arange(COUNT))
    assert _look(_draws(), noise + 0.003 * np.arange(COUNT))


def test_trajectories_that_are_all_as_long_as_may_be_are_those_of_a_bad_metric() -> None:
    assert not _look(_draws(), depth=10)
    assert is_settled(_draws(), np.zeros(COUNT), np.zeros(COUNT), None)


def test_a_warm_up_grows_by_half_up_to_its_limit() -> None:
    assert longer(350, 2000) == 525
    assert longer(1771, 2000) == 2000
    lengths = [350]
    while lengths[-1] < 2000:
        lengths.append(longer(lengths[-1], 2000))
    assert lengths == [350, 525, 787, 1180, 1770, 2000]
