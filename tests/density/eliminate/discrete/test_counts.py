"""Sum counts without a largest value up to one that is given."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import AccordError, SiteError

SEEN = np.array([[2, 3, 1], [0, 0, 1], [5, 4, 6]])
UPTO = 40
COUNTS = np.arange(UPTO + 1)


@ac.model
def animals(seen: Any) -> None:
    rate = ac.sample("rate", dist.Gamma(2.0, 0.3))
    chance = ac.sample("chance", dist.Beta(2.0, 2.0))
    with ac.plate("place", len(seen)):
        n = ac.sample("n", dist.Poisson(rate))
        every_visit = jnp.broadcast_to(n[:, None], seen.shape)
        ac.sample("seen", dist.Binomial(every_visit, chance).to_event(1), obs=seen)


def exact(rate: float, chance: float, upto: int = UPTO) -> np.ndarray:
    """Joint probabilities of counts and data, shape `(place, count)`."""
    counts = COUNTS[: upto + 1]
    given = np.prod(stats.binom.pmf(SEEN[..., None], counts, chance), 1)
    return stats.poisson.pmf(counts, rate) * given


@pytest.mark.parametrize("upto", [8, UPTO])
def test_the_sum_is_that_up_to_the_largest_value(upto: int) -> None:
    density = handlers.collapse(animals(SEEN), {"n": upto}).log_density()
    position = density.unconstrain({"rate": 4.0, "chance": 0.6})
    terms = jax.jit(density.site_terms)(position)
    found = sum(term for name, term in terms.items() if name not in ("rate", "chance"))
    np.testing.assert_allclose(found, np.log(exact(4.0, 0.6, upto).sum(1)).sum(), rtol=1e-12)
    (notice,) = [each for each in density.notices if each.code == "summed_out"]
    assert f"'n' ({upto + 1} values, up to {upto})" in notice.message and "exactly" not in notice.message


def test_counts_are_drawn_back_and_an_end_that_is_near_is_told(tmp_path: Any) -> None:
    """Probabilities of counts given the other unknowns of each draw, against the exact ones."""
    options: dict[str, Any] = dict(draws=200, warmup=200, chains=2, seed=2, progress=False, quiet=True)
    draws = infer.sample(handlers.collapse(animals(SEEN), {"n": UPTO}), **options)
    assert np.all(draws["n"] >= SEEN.max(1)) and draws["n"].max() <= UPTO
    found = infer.predict(draws, kind="probabilities", quiet=True)["n"][0, 7]
    joint = exact(float(draws["rate"][0, 7]), float(draws["chance"][0, 7]))
    np.testing.assert_allclose(found, joint / joint.sum(1, keepdims=True), atol=1e-10)
    (notice,) = [each for each in draws.notices if each.code == "left_out"]
    assert notice.severity == "info" and f"at most {draws.stats['beyond.n'].mean():.2g} of" in notice.message
    assert not notice.remedy and draws.stats["beyond.n"].max() < 1e-6
    store = infer.RunFolder(tmp_path / "run")
    short = infer.sample(handlers.collapse(animals(SEEN), {"n": 7}), store=store, **options)
    found = {each.code: each for each in short.notices}
    assert found["bound_reached"].severity == "error" and "{'n': 14}" in found["bound_reached"].remedy
    assert found["left_out"].severity == "warning" and "{'n': 14}" in found["left_out"].remedy
    again = infer.load(tmp_path / "run")
    np.testing.assert_array_equal(again.stats["beyond.n"], short.stats["beyond.n"])
    assert again.notices == short.notices


def beyond(density: Any, values: dict[str, float]) -> dict[str, float]:
    """Estimate what sums leave out, with the promotion of `infer.sample`."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        position = density.unconstrain(values)
        found = jax.jit(lambda at, data: density.program.beyond(at, data))(position, density.data)
    return {name: float(share) for name, share in found.items()}


@pytest.mark.parametrize(
    "upto", [pytest.param(7, marks=pytest.mark.slow), 12, pytest.param(40, marks=pytest.mark.slow)]
)
def test_what_is_left_out_is_no_more_than_the_estimate_says(upto: int) -> None:
    """Against the sums without an end; from a bound on at which the probability falls by half, at most 4 times it."""
    density = handlers.collapse(animals(SEEN), {"n": upto}).log_density()
    for rate, chance in ((4.0, 0.6), (2.0, 0.8), (9.0, 0.2)):
        counts = np.arange(400)
        given = np.prod(stats.binom.pmf(SEEN[..., None], counts, chance), 1)
        joint = stats.poisson.pmf(counts, rate) * given
        left_out = joint[:, upto + 1 :].sum(1) / joint.sum(1)
        share = beyond(density, {"rate": rate, "chance": chance})["n"]
        assert left_out.max() * (1 - 1e-9) <= share <= 1
        if np.all(joint[:, upto] < 0.5 * joint[:, upto - 1]):
            assert share < 4 * left_out.max()


@ac.model
def unlike(y: Any) -> None:
    """Entries of which some have no value beyond the bound, and a chain of counts."""
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    with ac.plate("row", 3):
        k = ac.sample("k", dist.Binomial(np.array([3, 5, 9], np.int32), 0.5))
        ac.sample("y", dist.Normal(a + 1.0 * k, 1.0), obs=y)

    def step(before: Any, _: Any) -> Any:
        m = ac.sample("m", dist.Poisson(1.0 + 0.3 * before)).astype(jnp.int32)
        return m, None

    ac.scan(step, jnp.int32(0), None, length=2)


@pytest.mark.slow
@pytest.mark.parametrize("upto", [5, 9])
def test_entries_without_larger_values_leave_nothing_out(upto: int) -> None:
    density = handlers.collapse(unlike(np.array([2.0, 4.0, 2.5])), {"k": upto, "m": 12}).log_density()
    found = beyond(density, {"a": 0.3})
    counts = np.arange(40)
    joint = stats.binom.pmf(counts[:10], 9, 0.5) * stats.norm.pdf(2.5 - 0.3 - counts[:10])
    share = joint[upto + 1 :].sum() / joint.sum()
    if upto == 9:  # the largest value of all entries: the sum is whole, and there is nothing to tell
        assert share == 0 and "k" not in found
    else:
        assert share <= found["k"] <= 8 * share
    first = stats.poisson.pmf(counts, 1.0)
    second = (first[:13, None] * stats.poisson.pmf(counts, 1 + 0.3 * counts[:13, None])).sum(0)
    share = second[13:].sum() / second.sum()
    assert share < found["m"] < 2 * share


def test_a_finite_support_may_be_cut_and_no_value_means_all() -> None:
    @ac.model
    def few() -> None:
        p = ac.sample("p", dist.Beta(2.0, 2.0))
        k = ac.sample("k", dist.Binomial(10, 0.4))
        ac.sample("y", dist.Normal(p + k.astype(float), 1.0), obs=1.0)

    ends = {3: np.arange(4), 10: np.arange(11), 99: np.arange(11), None: np.arange(11)}
    for upto, counts in ends.items():
        density = handlers.collapse(few(), {"k": upto}).log_density()
        terms = density.site_terms(density.unconstrain({"p": 0.5}))
        found = sum(term for name, term in terms.items() if name != "p")
        each = stats.binom.pmf(counts, 10, 0.4) * stats.norm.pdf(1 - 0.5 - counts)
        np.testing.assert_allclose(found, np.log(each.sum()), rtol=1e-12)
        # Where all values are in the sum, no draw is at an end of it.
        assert density.layout["k"].upto == (3 if upto == 3 else None)


@ac.model
def marked(total: Any, seen: Any) -> None:
    share = ac.sample("share", dist.Beta(8.0, 2.0))
    with ac.plate("place", len(seen)):
        n = ac.sample("n", dist.Binomial(total, share))
        ac.sample("seen", dist.Normal(1.0 * n, 0.5), obs=seen)


TOTAL, MARKED = np.array([3, 4], np.int32), np.array([3.1, 4.2])


def test_a_sum_beyond_the_end_of_every_support_has_no_end_of_its_own() -> None:
    @ac.model
    def written(seen: Any) -> None:
        return marked.function(TOTAL, seen)

    assert handlers.collapse(written(MARKED), {"n": 4}).log_density().layout["n"].upto is None
    assert handlers.collapse(written(MARKED), {"n": 3}).log_density().layout["n"].upto == 3


@pytest.mark.slow
def test_draws_at_the_end_of_a_support_that_comes_with_the_data_are_no_alarm() -> None:
    options: dict[str, Any] = dict(draws=100, warmup=100, chains=2, seed=0, progress=False, quiet=True)
    draws = infer.sample(handlers.collapse(marked(TOTAL, MARKED), {"n": 4}), **options)
    assert (draws["n"] == [3, 4]).mean() > 0.5
    assert not {"bound_reached"} & {each.code for each in draws.notices}
    short = infer.sample(handlers.collapse(marked(TOTAL, MARKED), {"n": 3}), **options)
    assert {"bound_reached", "left_out"} <= {each.code for each in short.notices}


@ac.model
def die() -> None:
    p = ac.sample("p", dist.Beta(2.0, 2.0))
    face = ac.sample("face", dist.DiscreteUniform(3, 6))
    ac.sample("y", dist.Normal(p + face.astype(float), 1.0), obs=1.0)


def test_an_end_below_the_smallest_value_is_refused() -> None:
    with pytest.raises(SiteError, match=r"'face' has no value up to 1.*Sum further"):
        handlers.collapse(die(), {"face": 1}).log_density()


ERRORS: dict[str, tuple[Any, str]] = {
    "a name alone": (["n"], r"infinitely many values.*collapse\(model, {'n': 100}\)"),
    "a negative value": ({"n": -1}, "largest value of 'n' must be a whole number of at least 0"),
    "no whole number": ({"n": 2.5}, "largest value of 'n'"),
    "a continuous site": ({"rate": 10}, "'rate'.*is continuous, so that no sum has a largest value"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_to_give(name: str) -> None:
    names, words = ERRORS[name]
    with pytest.raises(AccordError, match=words):
        handlers.collapse(animals(SEEN), names).log_density()
