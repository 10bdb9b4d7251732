"""Draw discrete sites by Gibbs sampling: known answers, transition probabilities, ends of supports, and errors."""

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equal_draws import equal

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core import keys
from accord.core.errors import AccordError, OptionError
from accord.core.position import Position
from accord.kernels.discrete_gibbs import DiscreteGibbs
from accord.kernels.evaluated import advanced
from accord.kernels.places import Bounds, Place, Places
from accord.kernels.point import Point

OPTIONS: dict[str, Any] = dict(draws=4000, warmup=100, chains=4, seed=2, progress=False, quiet=True)


@ac.model
def uniform_count(y: Any) -> None:
    k = ac.sample("k", dist.DiscreteUniform(3, 5))
    ac.sample("y", dist.Normal(k, 1.0), obs=y)


@ac.model
def tree(x: Any) -> None:
    c = ac.sample("c", dist.Bernoulli(0.3))
    with ac.plate("row", len(x)):
        z = ac.sample("z", dist.Bernoulli(0.2 + 0.6 * c))
        ac.sample("x", dist.Normal(2.0 * z, 1.0), obs=x)


@ac.model
def factorial_chain(y: Any) -> None:
    to_w, to_x = jnp.array([[0.8, 0.2], [0.3, 0.7]]), jnp.array([[0.6, 0.4], [0.1, 0.9]])
    w = x = None
    for t in range(len(y)):
        w = ac.sample(f"w{t}", dist.Bernoulli(0.5 if w is None else to_w[w, 1]))
        x = ac.sample(f"x{t}", dist.Bernoulli(0.5 if x is None else to_x[x, 1]))
        ac.sample(f"y{t}", dist.Bernoulli(0.1 + 0.3 * w + 0.5 * x), obs=y[t])


@ac.model
def ring() -> None:
    s = 2.0 * ac.sample("s", dist.Bernoulli(np.full(10, 0.5)).to_event(1)) - 1
    ac.factor("bonds", 0.5 * jnp.sum(s * jnp.roll(s, 1)))
    ac.deterministic("near", jnp.mean(s * jnp.roll(s, 1)))
    ac.deterministic("second", jnp.mean(s * jnp.roll(s, 2)))
    ac.deterministic("far", jnp.mean(s * jnp.roll(s, 5)))


@ac.model
def counts(y: Any) -> None:
    """Supports without an end, one that another unknown decides, and one of more values than are tried in turn."""
    n = ac.sample("n", dist.Poisson(3.0))
    k = ac.sample("k", dist.Binomial(n, 0.4))
    ac.sample("wide", dist.DiscreteUniform(-300, 300))
    ac.sample("y", dist.Normal(k, 1.0), obs=y)


def exact_counts() -> dict[str, Any]:
    n, k = np.meshgrid(np.arange(60), np.arange(60), indexing="ij")
    prior = np.array(dist.Poisson(3.0).log_prob(n)) + np.where(
        k <= n, np.array(dist.Binomial(n, 0.4).log_prob(np.minimum(k, n))), -np.inf
    )
    weight = np.exp(prior - 0.5 * (2.2 - k) ** 2)
    weight /= weight.sum()
    return {"n": (weight * n).sum(), "k": (weight * k).sum(), "wide": 0.0}


KNOWN: dict[str, tuple[Any, Callable[[], dict[str, Any]]]] = {
    "a support that begins at 3": (
        uniform_count(4.0), lambda: {"k": 4.0}
    ),
    "a tree": (
        tree(np.array([-0.5, 0.4, 2.1])),
        lambda: {"c": 0.156319716, "z": np.array([0.036332755, 0.144498563, 0.736691133])},
    ),
    "two chains with one output": (
        factorial_chain(np.array([1, 0, 1])),
        lambda: {"w0": 0.584087076, "w1": 0.358818190, "w2": 0.476772063},
    ),
    "a ring of spins": (ring(), lambda: {"near": 0.462872677, "second": 0.215536315, "far": 0.042130597}),
    "counts": (counts(2.2), exact_counts),
}  # fmt: skip


@pytest.mark.parametrize("is_metropolised", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name",
    [
        each
        if each in ("a support that begins at 3", "a tree")
        else pytest.param(each, marks=pytest.mark.slow)
        for each in KNOWN
    ],
)
def test_means_are_those_of_all_values(name: str, is_metropolised: bool) -> None:
    """Means are within five of their errors at a fixed seed: 28 of them, a false alarm of 6e-7 each."""
    model, exact = KNOWN[name]
    draws = infer.sample(model, infer.DiscreteGibbs(is_metropolised=is_metropolised), **OPTIONS)
    for site, mean in exact().items():
        error = np.reshape(draws.summary(site)["mcse_mean"], np.shape(mean))
        assert np.all(error < (25.0 if site == "wide" else 0.1))
        assert np.all(np.abs(draws[site].mean((0, 1)) - mean) < 5 * error), site


def test_values_are_those_of_the_support_and_not_its_indices() -> None:
    """Known answers .274, .452 and .274, within five standard errors of a share: a false alarm of 6e-7 each.

    NumPyro's `DiscreteHMCGibbs` proposes the indices 0, 1 and 2 for the values 3, 4 and 5, and never moves.
    """
    draws = infer.sample(uniform_count(4.0), infer.DiscreteGibbs(), **OPTIONS)["k"]
    for value, share in ((3, 0.274068619), (4, 0.451862762), (5, 0.274068619)):
        assert abs(np.mean(draws == value) - share) < 5 * np.sqrt(share * (1 - share) / draws.size)


WEIGHTS = np.log([0.7, 0.2, 0.1])


def transition(kernel: DiscreteGibbs, log_density: np.ndarray, start: int, num_draws: int) -> np.ndarray:
    """Shares of the values after one draw from a value, over many keys."""
    kernel = kernel.placed(Places((Place("z", 0, 1, True, ((0, len(log_density) - 1),)),)))

    def target(position: Position) -> Any:
        assert position.whole is not None
        return jnp.asarray(log_density)[position.whole[0]], position.free

    @jax.jit
    @jax.vmap
    def draw(key: Any) -> Any:
        position = Position(jnp.zeros(0), jnp.array([start], jnp.int32))
        state = kernel.init(Point(position, *target(position)))
        for _ in range(len(log_density) - 1):
            state, info, _ = advanced(kernel, key, target, state, None)
        return state.point.position.whole[0], info.is_complete

    chain_keys = np.stack([keys.item(keys.chain_key(0, 0), keys.USE_DRAW, each) for each in range(num_draws)])
    values, is_complete = draw(chain_keys)
    assert np.all(is_complete)
    return np.bincount(values, minlength=len(log_density)) / num_draws


@pytest.mark.parametrize("is_metropolised", [True, False])
def test_transitions_have_the_probabilities_of_the_formula(is_metropolised: bool) -> None:
    """Of 40,000 draws, within five standard errors: six shares, a false alarm of 6e-7 each.

    From 0, a metropolised visit goes to 1 with min(p1 / .3, p1 / .8), and a plain one, one in four, with p1.
    """
    p, count = np.exp(WEIGHTS), 40_000
    found = transition(DiscreteGibbs(is_metropolised=is_metropolised), WEIGHTS, 0, count)
    moved = np.minimum(p / (1 - p[0]), p / (1 - p))[1:]
    np.testing.assert_allclose(moved, [0.25, 1 / 9], rtol=1e-12)
    exact = 0.75 * moved + 0.25 * p[1:] if is_metropolised else p[1:]
    error = np.sqrt(exact * (1 - exact) / count)
    assert np.all(np.abs(found[1:] - exact) < 5 * error)


def test_nothing_cancels_where_one_value_is_nearly_certain() -> None:
    """From a value of probability 1e-20, the certain one is taken at once, and never left."""
    log_density = np.array([0.0, -46.0, -47.0])
    assert transition(DiscreteGibbs(), log_density, 2, 500)[0] == 1
    assert transition(DiscreteGibbs(), log_density, 0, 500)[0] == 1


def test_two_fair_coins_do_not_turn_together_for_ever() -> None:
    @ac.model
    def coins() -> None:
        ac.sample("z", dist.Bernoulli(np.array([0.5, 0.5])).to_event(1))

    draws = infer.sample(coins(), infer.DiscreteGibbs(), **(OPTIONS | dict(chains=1, draws=500)))["z"][0]
    assert {tuple(each) for each in draws.tolist()} == set(itertools.product([0, 1], repeat=2))


@ac.model
def by_entry(high: Any, y: Any) -> None:
    """Supports that differ by entry, by data."""
    with ac.plate("row", len(y)):
        z = ac.sample("z", dist.DiscreteUniform(np.array([-2, 4, 0]), high))
        ac.sample("y", dist.Normal(z, 1.0), obs=y)


def test_supports_may_differ_by_entry() -> None:
    """Means within five of their errors: three, a false alarm of 6e-7 each."""
    high, y = np.array([1, 6, 2]), np.array([0.3, 5.0, 7.0])
    draws = infer.sample(by_entry(high, y), infer.DiscreteGibbs(), **OPTIONS)
    for entry, (low, top) in enumerate(zip([-2, 4, 0], high, strict=True)):
        values = np.arange(low, top + 1)
        weight = np.exp(-0.5 * (y[entry] - values) ** 2)
        error = draws.summary("z")["mcse_mean"][entry]
        assert abs(draws["z"][..., entry].mean() - weight @ values / weight.sum()) < 5 * error
        assert set(np.unique(draws["z"][..., entry])) <= set(values.tolist())


def bounds(sampler: Any) -> tuple[tuple[Bounds, ...] | None, ...]:
    return tuple(each.bounds for each in sampler.places)


def test_ends_of_supports_come_from_the_model_and_its_data() -> None:
    from accord.density import LogDensity
    from accord.mcmc.placed import placed

    def of(model: Any) -> Any:
        return bounds(placed(infer.DiscreteGibbs(), LogDensity.from_model(model, whole_if_discrete=...)))

    assert of(by_entry(np.array([1, 6, 2]), np.zeros(3))) == (((-2, 1), (4, 6), (0, 2)),)
    assert of(counts(2.2)) == (((0, None),), ((0, None),), ((-300, 300),))
    assert of(tree(np.zeros(2))) == (((0, 1),), ((0, 1), (0, 1)))


@ac.model
def thrown() -> None:
    ac.sample("n", dist.Multinomial(5, probs=np.array([0.2, 0.3, 0.5])))


@ac.model
def mixed() -> None:
    z = ac.sample("z", dist.Bernoulli(0.5))
    ac.sample("mu", dist.Normal(z, 1.0))


@ac.model
def certain() -> None:
    ac.sample("z", dist.DiscreteUniform(3, 3))


ERRORS: dict[str, tuple[Callable[[], Any], type[AccordError], str]] = {
    "a sum that is given": (
        lambda: infer.sample(thrown(), infer.DiscreteGibbs(), **OPTIONS), OptionError, "'n' are bound to each other"
    ),
    "a continuous site": (
        lambda: infer.sample(mixed(), infer.DiscreteGibbs(), **OPTIONS), OptionError,
        "'mu' is continuous.*infer.NUTS",
    ),
    "one value": (
        lambda: infer.sample(certain(), infer.DiscreteGibbs(), **OPTIONS), OptionError, "one value only"
    ),
    "no bool": (lambda: infer.DiscreteGibbs(is_metropolised=1), OptionError, "must be True or False"),  # pyright: ignore[reportArgumentType]
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_the_site(name: str) -> None:
    call, error, words = ERRORS[name]
    with pytest.raises(error, match=words):
        call()


def test_a_run_is_resumed_by_its_folder_alone(tmp_path: Any) -> None:
    model, options = uniform_count(4.0), OPTIONS | dict(draws=100, chains=2)
    whole = infer.sample(model, infer.DiscreteGibbs(), **(options | dict(draws=200)))
    infer.sample(model, infer.DiscreteGibbs(), store=infer.RunFolder(tmp_path / "run"), **options)
    equal(infer.resume(tmp_path / "run", model, quiet=True).extend(100), whole)
