"""Verify what samplers of parts of the data make of sites with an entry for each row: the posterior, or an error.

What is integrated or summed out of each part is held to the same law as the data: the mean over all parts is the whole.
"""

from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import SiteError
from accord.core.position import Position
from accord.density.minibatch import for_minibatches, minibatch_of

ROWS, PART = 5, 2
HEIGHTS = np.array([0.3, -1.2, 2.1, 0.8, -0.4])
COUNTS = np.array([0, 1, 3, 6, 11])
GROUP = np.array([0, 0, 1, 1, 1])


def level() -> Any:
    """Draw what all rows share: the mean and the spread of effects."""
    return dist.Normal(ac.sample("mean", dist.Normal(0.0, 1.4)), ac.sample("spread", dist.HalfNormal(1.0)))


@ac.model
def heights(y: Any) -> None:
    effects = level()
    with ac.plate("row", ROWS, subsample_size=PART):
        effect = ac.sample("effect", effects)
        ac.sample("y", dist.Normal(effect, 0.7), obs=ac.subsample(y))


@ac.model
def counts(y: Any) -> None:
    effects = level()
    with ac.plate("row", ROWS, subsample_size=PART):
        effect = ac.sample("effect", effects)
        ac.sample("y", dist.Poisson(jnp.exp(effect)), obs=ac.subsample(y))


@ac.model
def two_effects(y: Any) -> None:
    effects = level()
    with ac.plate("row", ROWS, subsample_size=PART):
        effect, other = ac.sample("effect", effects), ac.sample("other", dist.Normal(0.0, 0.5))
        ac.sample("y", dist.Poisson(jnp.exp(effect + other)), obs=ac.subsample(y))


@ac.model
def visits(y: Any) -> None:
    effects = level()
    with ac.plate("row", ROWS, subsample_size=PART):
        effect = ac.sample("effect", effects)
        with ac.plate("visit", len(y)):
            ac.sample("y", dist.Normal(effect, 0.7), obs=ac.subsample(y))


@ac.model
def labels(y: Any) -> None:
    effects = level()
    with ac.plate("row", ROWS, subsample_size=PART):
        label = ac.sample("label", dist.Categorical(np.array([0.2, 0.3, 0.5])))
        place = effects.loc + jnp.array([-1.0, 0.5, 2.0])[label]
        ac.sample("y", dist.Normal(place, effects.scale), obs=ac.subsample(y))


def collapsed(model: Any, *names: str, by: Any = None) -> Any:
    """A model without these sites."""
    return handlers.collapse(model, list(names), **({} if by is None else {"by": by}))


ELIMINATED: dict[str, Any] = {
    "exactly": lambda: collapsed(heights(HEIGHTS), "effect"),
    "exactly, of a plate within": lambda: collapsed(visits(np.stack([HEIGHTS, 1 - HEIGHTS**2])), "effect"),
    "by quadrature": lambda: collapsed(counts(COUNTS), "effect", by=handlers.Quadrature()),
    "by Laplace's approximation": lambda: collapsed(counts(COUNTS), "effect", by=handlers.Laplace()),
    "two of a row": lambda: collapsed(two_effects(COUNTS), "effect", "other", by=handlers.Laplace()),
    "labels": lambda: labels(HEIGHTS),
}


@each(ELIMINATED, slow=[name for name in ELIMINATED if name not in ("exactly", "labels")])
def test_the_mean_over_all_parts_is_the_log_density_without_the_sites(model: Any) -> None:
    """An integral of weighted log probabilities, in place of a weighted integral, is nats off."""
    density = ac.LogDensity.from_model(for_minibatches(model))
    part = minibatch_of(density, "this")
    free: Any = np.array([0.4, -0.3])
    at = Position(free)
    words = np.random.default_rng(2).integers(0, 2**32, (100, 2), dtype=np.uint32)
    values, gradients = jax.jit(jax.vmap(lambda each: part.value_and_grad(density.data, at, each)))(words)
    rounded, first = np.unique(np.round(np.asarray(values), 9), return_index=True)
    assert len(rounded) == len(list(combinations(range(ROWS), PART)))
    value, gradient = density.value_and_grad(at.free)
    np.testing.assert_allclose(values[first].mean(), value, rtol=1e-11)
    np.testing.assert_allclose(gradients[first].mean(0), gradient, rtol=1e-9)


KERNELS: dict[str, Any] = {
    "SGLD": infer.SGLD(num_steps=5),
    "SGHMC": infer.SGHMC(num_steps=5),
    "HMCECS": infer.HMCECS(parts=4),
}


@each(KERNELS, slow=("SGHMC", "HMCECS"))
def test_draws_have_an_entry_for_each_row_of_what_was_integrated_out(kernel: Any) -> None:
    run: dict[str, Any] = dict(draws=20, warmup=20, chains=1, quiet=True, progress=False)
    draws = infer.sample(collapsed(heights(HEIGHTS), "effect"), kernel, **run)
    assert draws["effect"].shape == (1, 20, ROWS)


@ac.model
def with_missing(y: Any, seen: Any) -> None:
    effects = level()
    with ac.plate("row", ROWS, subsample_size=PART):
        ac.sample("y", effects, obs=ac.subsample(y), obs_mask=ac.subsample(seen))


@ac.model
def effects_of_groups(y: Any, group: Any) -> None:
    effects = level()
    with ac.plate("group", 2):
        effect = ac.sample("effect", effects)
    with ac.plate("row", ROWS, subsample_size=PART):
        ac.sample("y", dist.Normal(effect[ac.subsample(group)], 0.7), obs=ac.subsample(y))


@ac.model
def one_label(y: Any) -> None:
    effects = level()
    label = ac.sample("label", dist.Categorical(np.array([0.2, 0.3, 0.5])))
    with ac.plate("row", ROWS, subsample_size=PART):
        ac.sample("y", dist.Normal(effects.loc + label, effects.scale), obs=ac.subsample(y))


REFUSED: dict[str, tuple[Any, list[str]]] = {
    "an effect of each row": (
        heights(HEIGHTS),
        [
            "'effect'",
            "plate 'row', of which a step takes 2 of 5",
            "handlers.Quadrature()",
            "infer.fit",
            "chunk=",
        ],
    ),
    "a missing value of a row": (
        with_missing(HEIGHTS, HEIGHTS > 0),
        [
            "site 'y'",
            "the plate 'row' takes other 2 of its 5 entries",
            "handlers.mask(mask=ac.subsample(...))",
        ],
    ),
    "a mask that hides nothing": (
        with_missing(HEIGHTS, np.isfinite(HEIGHTS)),
        ["site 'y'", "obs_mask says how many unknowns there are"],
    ),
    "an integral over effects of all rows": (
        collapsed(effects_of_groups(HEIGHTS, GROUP), "effect"),
        ["'effect' in none and 'y' in 'row'", "Its integral needs all entries at once", "Leave the site out"],
    ),
    "an approximate one": (
        collapsed(effects_of_groups(COUNTS, GROUP), "effect", by=handlers.Laplace()),
        ["'effect' in none and 'y' in 'row'"],
    ),
    "a label of all rows": (
        one_label(HEIGHTS),
        ["'label', 'y'", "A plate with a `subsample_size` scales too"],
    ),
}
CASES = {
    f"{name}, {kernel}": (model, sampler, words)
    for name, (model, words) in REFUSED.items()
    for kernel, sampler in KERNELS.items()
}


@each(CASES, slow=[name for name in CASES if not name.endswith("SGLD")])
def test_what_a_part_says_nothing_of_is_refused_before_sampling(case: tuple[Any, Any, list[str]]) -> None:
    model, kernel, words = case
    with pytest.raises(SiteError) as caught:
        infer.sample(model, kernel, draws=10, chains=1, quiet=True, progress=False)
    assert [word for word in words if word not in str(caught.value)] == []
