"""Check that the rules of blocks and of discrete sites speak when they should, and are silent otherwise."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.notice import Notice
from accord.report import examine
from accord.report.evidence import Block

BLOCKS = (
    Block("mu,tau", ("mu", "tau"), 0.8),
    Block("walk", ("walk",), 0.234),
    Block("z", ("z",)),
    Block("rest", ("x",)),
)
CODES = ("unadapted_block", "discrete_stuck")

Run = dict[str, dict[str, Any]]


def good_run() -> Run:
    """Independent draws of four blocks; a random walk refuses three quarters of its steps, and `sure` is certain."""
    rng = np.random.default_rng(0)
    shape = (4, 1000)
    walk = np.take_along_axis(rng.normal(size=shape), np.maximum.accumulate(
        np.where(rng.uniform(size=shape) < 0.25, np.arange(1000), 0), axis=1
    ), axis=1)  # fmt: skip
    sites = {
        "mu": rng.normal(size=shape),
        "tau": rng.normal(size=shape),
        "walk": walk,
        "x": rng.normal(size=shape),
        "z": rng.integers(0, 2, (*shape, 3)),
        "sure": (rng.uniform(size=shape) < 0.002).astype(int),
    }
    rates = {"mu,tau": 0.85, "walk": 0.25, "z": 0.5, "rest": 1.0}
    return {
        "sites": sites,
        "stats": {f"{name}.acceptance_rate": np.full(shape, rate) for name, rate in rates.items()},
    }


def look(run: Run) -> list[Notice]:
    found = examine(
        run["sites"], run["stats"], blocks=BLOCKS, discrete=["z", "sure"], latents=[*run["sites"]]
    )
    return [notice for notice in found if notice.code in CODES]


def still(run: Run, name: str, chain: int, every: int) -> None:
    """Let a site of a chain move in one draw of `every`."""
    run["sites"][name][chain] = np.repeat(run["sites"][name][chain, ::every], every, axis=0)


def rarely_accepted(run: Run) -> None:
    run["stats"]["mu,tau.acceptance_rate"][2] = 0.031


def nearly_always_accepted(run: Run) -> None:
    run["stats"]["walk.acceptance_rate"][:] = 0.995


def one_site_of_a_block_stays(run: Run) -> None:
    still(run, "mu", 1, 10)


def a_block_stays(run: Run) -> None:
    still(run, "mu", 1, 10)
    still(run, "tau", 1, 10)


def a_block_without_an_aim_stays(run: Run) -> None:
    still(run, "x", 3, 20)


def a_block_without_an_aim_is_slow(run: Run) -> None:
    still(run, "x", 3, 5)


def at_two_values(run: Run) -> None:
    run["sites"]["z"][:2, :, 1], run["sites"]["z"][2:, :, 1] = 0, 1
    run["sites"]["z"][2, 100:104, 1] = 0


def at_one_value(run: Run) -> None:
    run["sites"]["z"][:, :, 1] = 1


def one_chain_at_one_value(run: Run) -> None:
    run["sites"]["z"][0, :, 1] = 1


SPOKEN: dict[str, tuple[Callable[[Run], None], str, str, str, tuple[str, ...]]] = {
    "rarely accepted": (
        rarely_accepted, "unadapted_block", "'mu,tau' has an acceptance rate of 0.031 in chain 2, where it aims at 0.8",
        "longer warm-up", ("mu", "tau"),
    ),
    "nearly always accepted": (
        nearly_always_accepted, "unadapted_block", "'walk' has an acceptance rate of 0.99 in chain 0", "", ("walk",)
    ),
    "a block stays": (
        a_block_stays, "unadapted_block", "'mu,tau' stayed in place for 90.1% of the draws of chain 1", "one block",
        ("mu", "tau"),
    ),
    "a block without an aim stays": (
        a_block_without_an_aim_stays, "unadapted_block", "'rest' stayed in place for 95.1%", "", ("x",)
    ),
    "at two values": (
        at_two_values, "discrete_stuck", "1 of 4 entries of discrete sites ('z[1]') changed in less than 1.0%",
        "Sum the site out", ("z",),
    ),
}  # fmt: skip

SILENT = (
    one_site_of_a_block_stays,
    a_block_without_an_aim_is_slow,
    at_one_value,
    one_chain_at_one_value,
)


@pytest.mark.parametrize("name", SPOKEN)
def test_a_rule_speaks_with_its_number_its_sites_and_a_remedy(name: str) -> None:
    damage, code, message, remedy, sites = SPOKEN[name]
    run = good_run()
    damage(run)
    (found,) = look(run)
    assert found.code == code and found.sites == sites
    assert message in found.message and remedy in found.remedy


def test_good_runs_have_no_notices() -> None:
    assert look(good_run()) == []


@pytest.mark.parametrize("damage", SILENT, ids=lambda damage: damage.__name__)
def test_what_is_no_fault_has_no_notice(damage: Callable[[Run], None]) -> None:
    run = good_run()
    damage(run)
    assert look(run) == []


def test_few_draws_are_not_judged() -> None:
    run = good_run()
    at_two_values(run)
    rarely_accepted(run)
    short = {kind: {name: array[:, :50] for name, array in arrays.items()} for kind, arrays in run.items()}
    assert look(short) == []


@ac.model
def switches(agreement: float) -> None:
    """Two switches that are mostly in one position, a number that follows, and one that knows nothing of them."""
    z = ac.sample("z", dist.Bernoulli(0.5))
    w = ac.sample("w", dist.Bernoulli(jnp.where(z == 1, agreement, 1 - agreement)))
    ac.sample("x", dist.Normal(2.0 * w, 1.0))
    ac.sample("narrow", dist.Normal(0.0, 1e-4))


DISCRETE, TOO_LONG = infer.DiscreteGibbs(), infer.Metropolis(lambda x: dist.Normal(x, 1e-2))
RUNS: dict[str, tuple[float, Any, dict[str, tuple[str, ...]]]] = {
    "good": (0.8, infer.Gibbs({("z", "w"): DISCRETE, ...: infer.NUTS()}), {}),
    "stuck": (
        1 - 1e-9,
        infer.Gibbs({("z", "w"): DISCRETE, ...: infer.NUTS()}),
        {"discrete_stuck": ("z", "w")},
    ),
    "steps that are too long": (
        0.8,
        infer.Gibbs({("z", "w"): DISCRETE, "narrow": TOO_LONG, ...: infer.NUTS()}),
        {"unadapted_block": ("narrow",)},
    ),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "good")) for n in RUNS])
def test_a_run_is_judged_by_its_blocks(name: str) -> None:
    agreement, sampler, codes = RUNS[name]
    options: dict[str, Any] = dict(draws=300, warmup=200, chains=4, seed=1, quiet=True)
    draws = infer.sample(switches(agreement), sampler, **options)
    assert {each.code: each.sites for each in draws.notices if each.code in CODES} == codes
