"""Divide models whose statements differ by what is drawn, and hold programs and their weights to known ones.

Comparisons with noise are within six standard errors: a false alarm has a chance of 2e-9. Keys are fixed.
"""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from laws import each
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.branches.programs import programs_of
from accord.branches.weighing import weighed
from accord.core.errors import DataError, ModelError, OptionError, SamplingError, SiteError
from accord.report.log_evidence import LogEvidence

SIX = 6.0


def quick(program: Any, seed: int) -> Any:
    return infer.sample(
        program, infer.RandomWalk(), draws=2000, chains=2, seed=seed, quiet=True, progress=False
    )


def tempered(program: Any, seed: int) -> Any:
    options: Any = dict(populations=20, particles=400, moves=20, seed=seed, quiet=True, progress=False)
    return infer.smc(program, infer.RandomWalk(), **options)


def nested(program: Any, seed: int) -> Any:
    return infer.evidence(
        program, infer.NestedSampling(live=1000, seed=seed, quiet=True, progress=False)
    ).draws


@ac.model
def two_noises(y: float) -> None:
    """Of families F49: the programs have posteriors of different widths, .71 and .0995."""
    is_narrow = ac.sample("is_narrow", dist.Bernoulli(0.5))
    level = ac.sample("level", dist.Normal(0, 1))
    if is_narrow == 1:
        double = ac.deterministic("double", 2 * level)
        ac.sample("y", dist.Normal(0.5 * double, 0.1), obs=y)
    else:
        ac.sample("y", dist.Normal(level, 1), obs=y)


@ac.model
def point_or_level(y: float) -> None:
    """Of families F48: one of the programs has no unknown."""
    is_free = ac.sample("is_free", dist.Bernoulli(0.5))
    if is_free == 1:
        level = ac.sample("level", dist.Normal(0, 1))
        ac.sample("y", dist.Normal(level, 1), obs=y)
    else:
        ac.sample("y", dist.Normal(0, 1), obs=y)


@ac.model
def sum_of_some(prior: Any, y: float) -> None:
    number = ac.sample("number", prior)
    with ac.plate("term", number + 1):
        part = ac.sample("part", dist.Normal(0, 1))
    total = ac.deterministic("total", part.sum())
    ac.sample("y", dist.Normal(total, 1), obs=y)


@pytest.fixture(scope="module")
def found() -> Any:
    return infer.divide(two_noises(0.2), quick, seed=1)


def test_programs_have_their_probabilities_and_their_shares_of_the_draws(found: Any) -> None:
    wide, narrow = found.programs
    assert (wide.values, narrow.values) == ({"is_narrow": 0}, {"is_narrow": 1})
    assert (
        found.complete and found.is_known and not [each for each in found.notices if each.severity == "error"]
    )
    assert abs(wide.probability - 0.417803585) < SIX * wide.standard_error < 0.05
    assert wide.probability + narrow.probability == pytest.approx(1)
    assert abs(found.log_evidence.value + 1.095915454) < SIX * found.log_evidence.standard_error
    assert set(found) == {"is_narrow", "level"}  # `double` is in one program alone
    count = found.num_draws
    assert found["level"].shape == (1, count) and count >= 4000
    assert abs(found["is_narrow"].mean() - narrow.probability) <= 1 / count  # systematic
    own = found["level"][found["is_narrow"] == 1]
    assert len(np.unique(own)) == len(np.unique(narrow.draws["level"])) or len(own) < 4000  # none twice
    assert np.isin(own, narrow.draws["level"]).all()
    assert "probability 0.4" in str(found) and list(found.summary().to_dataframe().index) == [
        "is_narrow",
        "level",
    ]


def test_anything_by_draw_is_pooled_in_the_order_of_the_draws(found: Any) -> None:
    again = found.pooled([each.draws["level"] for each in found.programs])
    np.testing.assert_array_equal(again, found["level"])
    for arrays, words in (
        ([np.zeros((2, 2000))], "1 arrays"),
        ([np.zeros((2, 2000)), np.zeros((2, 7))], "(chain, draw"),
        ([np.zeros((2, 2000)), np.zeros((2, 2000, 3))], "different shapes"),
    ):
        with pytest.raises(DataError, match=words.replace("(", r"\(")):
            found.pooled(arrays)


def test_a_program_does_not_depend_on_others(found: Any) -> None:
    alone: Any = infer.divide(two_noises(0.2), quick, values={"is_narrow": [1]}, seed=1)
    np.testing.assert_array_equal(dict(alone.programs[0].draws)["level"], found.programs[1].draws["level"])
    other = programs_of(two_noises(0.2), {}, 100).programs
    assert len({each.seed(seed) for each in other for seed in (0, 1)}) == 4


def test_what_is_not_known_well_enough_is_not_pooled(monkeypatch: Any, found: Any) -> None:
    """As of an estimate that has one noise for all proposals: probabilities of .13 or 1 by seed, for .418."""
    by_name = {str(each): each.draws for each in found.programs}
    kept = iter(by_name.values())
    rough = infer.divide(two_noises(0.2), lambda program, seed: next(kept), error=1e-5)
    assert rough.notices[0].code == "evidence_unknown" and "standard error" in rough.notices[0].message
    assert np.isnan([each.probability for each in rough.programs]).all() and np.isnan(
        rough.log_evidence.value
    )
    for ask in (lambda: rough["level"], lambda: rough.num_draws, lambda: rough.summary()):
        with pytest.raises(SamplingError, match="cannot be weighed"):
            ask()
    # Chains of which each is in a place of its own tell nothing of the evidence, whatever the error says.
    first = found.programs[0].draws
    apart = np.asarray(first["level"]) + np.array([[0.0], [9.0]])
    stuck = replace(first, sites=type(first.sites)({"level": apart}))
    kept = iter([stuck, found.programs[1].draws])
    doubtful = infer.divide(two_noises(0.2), lambda program, seed: next(kept))
    assert "is_narrow = 0" in doubtful.notices[0].message and not doubtful.is_known
    kept = iter([replace(first, complete=False)])
    halted = infer.divide(two_noises(0.2), lambda program, seed: next(kept))
    assert not halted.complete and len(halted.programs) == 1 and "interrupted" in halted.notices[0].message


def test_a_program_without_unknowns_has_an_exact_evidence() -> None:
    divided = infer.divide(point_or_level(1.0), quick, seed=2)
    point, level = divided.programs
    assert point.draws is None and point.log_evidence.standard_error == 0
    assert point.log_evidence.value == pytest.approx(np.log(0.5) + stats.norm.logpdf(1.0))
    assert abs(level.probability - 0.475875349) < SIX * level.standard_error < 0.05
    assert set(divided) == {"is_free"}
    assert abs(divided["is_free"].mean() - level.probability) < 1e-3


@ac.model
def of_labels_alone(y: Any) -> None:
    is_fair = ac.sample("is_fair", dist.Bernoulli(0.5))
    if is_fair == 1:
        ac.sample("y", dist.Bernoulli(0.5).expand((3,)).to_event(1), obs=y)
    else:
        kind = ac.sample("kind", dist.Bernoulli(0.3))
        ac.sample("y", dist.Bernoulli(0.2 + 0.6 * kind).expand((3,)).to_event(1), obs=y)


def test_labels_that_are_summed_out_within_a_program_are_exact_too() -> None:
    divided = infer.divide(of_labels_alone(np.array([1, 1, 0])))
    biased = 0.7 * 0.2**2 * 0.8 + 0.3 * 0.8**2 * 0.2
    assert [each.draws for each in divided.programs] == [None, None]
    assert divided.programs[0].probability == pytest.approx(biased / (biased + 0.125), rel=1e-12)
    assert divided.log_evidence.standard_error == 0 and divided["is_fair"].shape == (1, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("run", [quick, tempered, nested, None])
def test_a_number_of_parts_that_is_drawn_has_its_posterior(run: Any) -> None:
    prior, y = dist.Categorical(jnp.array([0.1, 0.2, 0.3, 0.4])), 3.0
    divided = infer.divide(sum_of_some(prior, y), run, seed=3)
    counts = np.arange(1, 5)
    exact = np.log([0.1, 0.2, 0.3, 0.4]) + stats.norm.logpdf(y, 0, np.sqrt(counts + 1))
    shares = np.exp(exact) / np.exp(exact).sum()
    for program, share, height in zip(divided.programs, shares, exact, strict=True):
        # Twenty populations tell their spread roughly: t with 19 degrees is beyond 12 with a probability of 3e-10.
        times = 12 if run is tempered else SIX
        assert abs(program.probability - share) < times * program.standard_error
        assert abs(program.log_evidence.value - height) < times * program.log_evidence.standard_error
    assert set(divided) == {"number", "total"}
    mean = np.sum(shares * y * counts / (counts + 1))
    assert abs(divided["total"].mean() - mean) < SIX * divided["total"].std() / np.sqrt(200)
    within = [divided["total"][divided["number"] == k].mean() for k in range(4)]
    assert np.all(np.abs(within - y * counts / (counts + 1)) < 0.4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_no_seed_gives_all_to_one_program(seed: int) -> None:
    """Families W7."""
    divided = infer.divide(two_noises(0.2), seed=seed)
    wide = divided.programs[0]
    assert abs(wide.probability - 0.417803585) < SIX * wide.standard_error < 0.02


def test_values_without_an_end_are_listed_and_the_rest_is_told() -> None:
    model = sum_of_some(dist.Poisson(1.0), 0.2)
    division = programs_of(model, {"number": range(3)}, 100)
    assert [str(each) for each in division.programs] == ["number = 0", "number = 1", "number = 2"]
    assert division.left_out == {"number": pytest.approx(stats.poisson.sf(2, 1.0))}
    divided = infer.divide(model, lambda program, seed: quick(program, seed), values={"number": [0, 1]})
    (told,) = [each for each in divided.notices if each.code == "values_left_out"]
    assert told.severity == "warning" and "the last one listed, 1," in told.message


@ac.model
def nested() -> None:
    a = ac.sample("a", dist.Categorical(jnp.array([0.5, 0.0, 0.5])))
    b = ac.sample("b", dist.Bernoulli(jnp.where(a == 2, 0.3, 1.0)))
    if a == 0:
        ac.sample("x", dist.Normal(0, 1))
    elif b == 1:
        with ac.plate("pair", 2):
            c = ac.sample("c", dist.Bernoulli(0.5))
        if c[0] == c[1]:
            ac.sample("z", dist.Normal(0, 1))


def test_programs_are_all_combinations_that_are_possible_and_matter() -> None:
    names = [str(each) for each in programs_of(nested(), {}, 100).programs]
    pairs = ["[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"]
    # `b` decides nothing where `a` is 0, and `a` is never 1.
    assert names == ["a = 0", "a = 2, b = 0", *(f"a = 2, b = 1, c = {pair}" for pair in pairs)]


def test_errors_of_weights_are_those_of_the_evidences() -> None:
    values, errors = np.array([-3.0, -2.0, -2.5]), np.array([0.02, 0.01, 0.03])
    found = weighed([LogEvidence(*each) for each in zip(values, errors, strict=True)])
    noise = np.random.default_rng(0).standard_normal((200_000, 3)) * errors
    moved = np.exp(values + noise)
    shares = moved / moved.sum(axis=1, keepdims=True)
    assert found.probabilities == pytest.approx(np.exp(values) / np.exp(values).sum())
    assert found.standard_errors == pytest.approx(shares.std(axis=0), rel=0.02)
    assert found.log_evidence.standard_error == pytest.approx(np.log(moved.sum(axis=1)).std(), rel=0.02)
    nothing = weighed([LogEvidence(-np.inf, 0.0), LogEvidence(-1.0, 0.1)])
    assert nothing.probabilities.tolist() == [0, 1] and nothing.standard_errors.tolist() == [0, 0]
    assert np.isnan(weighed([LogEvidence(-np.inf, 0.0)]).probabilities).all()
    assert not np.isfinite(weighed([LogEvidence(-1.0, np.inf), LogEvidence(-1.0, 0.1)]).standard_errors).any()


@ac.model
def by_level() -> None:
    level = ac.sample("level", dist.Normal(0, 1))
    if level > 0:
        ac.sample("x", dist.Normal(0, 1))


@ac.model
def without_branches() -> None:
    ac.sample("level", dist.Normal(0, 1))


@ac.model
def until_heads() -> None:
    number, is_tails = 0, 0
    while is_tails == 0:
        is_tails = ac.sample(f"coin.{number}", dist.Bernoulli(0.5))
        number += 1


@ac.model
def in_a_loop() -> None:
    def step(before: Any, _: Any) -> Any:
        now = ac.sample("z", dist.Bernoulli(0.5))
        if now == 1:
            ac.sample("x", dist.Normal(0, 1))
        return now, None

    ac.scan(step, 0, None, length=3)


@ac.model
def of_unknown_size() -> None:
    n = ac.sample("n", dist.DiscreteUniform(1, 3))
    k = ac.sample("k", dist.Binomial(n, 0.5))
    for number in range(int(k)):
        ac.sample(f"x.{number}", dist.Normal(0, 1))


def of_number(program: Any, seed: int) -> Any:
    return 1.0


REFUSED: dict[str, tuple[Any, type[Exception], list[str]]] = {
    "a continuous branch": (lambda: infer.divide(by_level()), SiteError, ["'level'", "Bernoulli"]),
    "no branch": (
        lambda: infer.divide(without_branches()),
        ModelError,
        ["one program", "infer.sample(model)"],
    ),
    "a loop without an end": (lambda: infer.divide(until_heads()), ModelError, ["Geometric", "range(n)"]),
    "a branch in a scan": (lambda: infer.divide(in_a_loop()), SiteError, ["'z'", "scan", "ac.cond"]),
    "a support that is unknown": (lambda: infer.divide(of_unknown_size()), SiteError, ["'k'", "values="]),
    "values without an end": (
        lambda: infer.divide(sum_of_some(dist.Poisson(1.0), 0.0)),
        SiteError,
        ["'number'", "no end", "range(10)"],
    ),
    "many programs": (lambda: infer.divide(nested(), most=5), SiteError, ["more than 5", "values="]),
    "many values": (lambda: infer.divide(nested(), most=2), SiteError, ["3 values", "`most`"]),
    "values of another site": (
        lambda: infer.divide(two_noises(0.2), values={"is_narow": [0]}),
        OptionError,
        ["Did you mean 'is_narrow'"],
    ),
    "values of another shape": (
        lambda: infer.divide(two_noises(0.2), values={"is_narrow": [[0, 1]]}),
        SiteError,
        ["shape (2,)"],
    ),
    "values that are none": (
        lambda: infer.divide(two_noises(0.2), values=[0, 1]),  # pyright: ignore[reportArgumentType]
        OptionError,
        ["mapping"],
    ),
    "a model that was not called": (
        lambda: infer.divide(two_noises),  # pyright: ignore[reportArgumentType]
        OptionError,
        ["Call it with its data"],
    ),
    "a kernel to run": (
        lambda: infer.divide(two_noises(0.2), infer.NUTS()),  # pyright: ignore[reportArgumentType]
        OptionError,
        ["function of a model and a seed"],
    ),
    "another result": (
        lambda: infer.divide(two_noises(0.2), of_number),
        OptionError,
        ["got float"],
    ),
    "an error": (lambda: infer.divide(two_noises(0.2), error=2), OptionError, ["(0, 1)"]),
    "a seed": (lambda: infer.divide(two_noises(0.2), seed=-1), OptionError, ["seed"]),
}


@each(REFUSED, slow=["a loop without an end"])
def test_what_cannot_be_divided_is_refused(case: tuple[Any, type[Exception], list[str]]) -> None:
    call, error, words = case
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
