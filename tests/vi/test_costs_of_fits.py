"""Hold fits to what they may cost before and after the steps that were asked for."""

from typing import Any

import jax
import numpy as np
import optax
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.precision import scope
from accord.core.traced import equations
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


def test_a_step_draws_its_noise_in_a_loop_of_its_own() -> None:
    """Else XLA puts the cipher and the quantile function into each operation that takes a draw."""
    density = wide(1000).log_density()
    _, last = stages_of(density, infer.guides.MeanField(), infer.ELBO(draws=1), optax.adam(1e-2), 9, None)
    given = last.given(0, 0, np.zeros((1, 1000)), np.ones(1000))
    with scope("float64"):
        traced = jax.make_jaxpr(lambda given: last.advance(density, last.begin(given), given, np.int32(1)))(
            given
        )
    (steps,) = (each for each in traced.jaxpr.eqns if each.primitive.name == "while")
    body = steps.params["body_jaxpr"].jaxpr

    def takes_quantiles(some: Any) -> bool:
        return any(each.primitive.name == "erf_inv" for each in some)

    loops = [each for each in body.eqns if each.primitive.name == "while"]
    assert takes_quantiles(equations(loops[0].params["body_jaxpr"].jaxpr))
    outside = body.replace(eqns=[each for each in body.eqns if each not in loops])
    assert not takes_quantiles(equations(outside))
