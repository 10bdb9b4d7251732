"""Hold fits to what they may cost before and after the steps that were asked for."""

from typing import Any

import numpy as np
import optax
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.vi.plan import START, stages_of


@ac.model
def wide(dim: int) -> None:
    ac.sample("x", dist.Normal(np.zeros(dim), 1.0).to_event(1))


def most_at_the_start(optimizer: Any, guide: Any, steps: int) -> int:
    density = wide(1000).log_density()
    first, _ = stages_of(density, guide, infer.ELBO(draws=1), optimizer, steps, None)
    assert first.phase == START
    return first.num_steps


@pytest.mark.parametrize(("steps", "most"), [(2560, 20), (100, 1)])
def test_a_mean_field_by_steps_begins_with_no_more_gradients_than_its_steps(steps: int, most: int) -> None:
    """A point of the climb takes 128 gradients."""
    assert most_at_the_start(optax.adam(1e-2), infer.guides.MeanField(), steps) == most


def test_guides_that_need_the_coordinates_of_a_climb_have_all_of_it() -> None:
    whole = most_at_the_start(optax.adam(1e-2), infer.guides.FullRank(), 100)
    assert whole == most_at_the_start(None, infer.guides.FullRank(), 100) > 1000
