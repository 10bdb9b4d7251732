"""Ask for extreme numbers of chains, draws and lanes: each works, or is refused in words before anything is held."""

import tracemalloc

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError
from accord.mcmc import compiled, memory
from accord.mcmc.limits import MAX_CHAINS, MAX_DRAWS, MAX_LANES


@ac.model
def normal():
    ac.sample("x", dist.Normal(0, 1))


FEW = dict(draws=2, warmup=2, chains=1, quiet=True)
HUGE, VAST = 10**400, 10**6000  # the second has more digits than Python writes

REFUSED = {
    "a chain number of 33 bits": (
        dict(chains=[2**32]),
        r"each of chains must be at most 4294967295, got 4294967296",
    ),
    "a chain number of 64 bits": (dict(chains=[0, 2**63]), "each of chains must be at most 4294967295"),
    "a billion chains": (dict(chains=10**9), f"chains must be at most {MAX_CHAINS}, got 1000000000"),
    "a billion numbers": (dict(chains=range(10**9)), f"chains must be at most {MAX_CHAINS} in one run"),
    "numbers without end": (
        dict(chains=iter(range(10**9))),
        f"chains must be at most {MAX_CHAINS} in one run",
    ),
    "huge chains": (dict(chains=HUGE), "at most .* got an integer of about 401 digits"),
    "vast chains": (dict(chains=[VAST]), "at most .* got an integer of about 6001 digits"),
    "chains of a word": (dict(chains="12"), "a list of different chain numbers; got '12'"),
    "a part of a chain": (dict(chains=1.5), r"a list of different chain numbers; got 1\.5"),
    "no chains": (dict(chains=None), "a list of different chain numbers; got None"),
    "a million equal chains": (
        dict(chains=[0] * 10**6),
        r"different .* got \[0, .*, \.\.\.\] of length 1000000",
    ),
    "draws of 32 bits": (dict(draws=2**31), f"draws must be at most {MAX_DRAWS}, got 2147483648"),
    "huge draws": (dict(draws=HUGE), "draws must be at most .* 401 digits"),
    "vast draws": (dict(draws=-VAST), "draws must be .* at least 1, got an integer of about 6001 digits"),
    "endless draws": (dict(draws=float("inf")), "draws must be a whole number of at least 1, got inf"),
    "more than fit": (dict(draws=10**9), r"GiB are free.*RunFolder"),
    "warm-up of 32 bits": (dict(warmup=2**31), f"warmup must be at most {MAX_DRAWS}"),
    "huge warm-up": (dict(warmup=HUGE), "warmup must be at most"),
    "thinning of 32 bits": (dict(thinning=2**31), f"thinning must be at most {MAX_DRAWS}"),
    "draws times thinning": (
        dict(draws=10**5, thinning=10**5),
        rf"draws=100000 with thinning=100000 .* 9999900003 draws of each chain.*at most {MAX_DRAWS}",
    ),
    "draws and warm-up": (dict(draws=1, thinning=1, warmup=MAX_DRAWS), "come to 2147483648 draws"),
    "a seed of 65 bits": (
        dict(seed=2**64),
        r"seed must be an integer in \[0, 2\*\*64\), got 18446744073709551616",
    ),
    "a vast seed": (dict(seed=VAST), "seed must be .* got an integer of about 6001 digits"),
    "a negative seed": (dict(seed=-1), "seed must be an integer"),
    "a billion lanes": (dict(lanes=10**9), f"lanes must be at most {MAX_LANES}, got 1000000000"),
    "vast lanes": (dict(lanes=VAST), "lanes must be at most .* 6001 digits"),
    "a billion chains that learn": (
        dict(sampler=infer.ChEES(), chains=10**9),
        f"chains must be at most {MAX_CHAINS}",
    ),
    "more chains than lanes": (
        dict(sampler=infer.ChEES(), chains=MAX_LANES + 1),
        f"chains of ChEES must be at most {MAX_LANES}",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_held_is_refused_in_words_before_anything_is_held(case, monkeypatch, tmp_path):
    options, words = REFUSED[case]
    monkeypatch.setattr(memory, "free_bytes", lambda: 16 * 2**30)
    monkeypatch.setattr(compiled, "compile_lowered", lambda *_, **__: pytest.fail("it compiled"))
    stores = [None] if "RunFolder" in words else [None, infer.RunFolder(tmp_path / "run")]
    options = {
        name: iter(range(10**9)) if hasattr(value, "__next__") else value for name, value in options.items()
    }
    for store in stores:
        tracemalloc.start()
        try:
            with pytest.raises(OptionError, match=words) as caught:
                infer.sample(normal(), store=store, **(FEW | options))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 80 * 2**20  # a million numbers are looked at
        assert len(str(caught.value)) < 500
    assert not (tmp_path / "run").exists()


def test_the_last_chain_number_seed_and_thinning_work():
    last = dict(chains=[2**32 - 1], seed=2**64 - 1, draws=1, warmup=0, thinning=MAX_DRAWS, quiet=True)
    draws = infer.sample(normal(), **last)
    assert draws.chains == (2**32 - 1,)
    assert np.isfinite(draws["x"]).all()


def test_draws_are_not_extended_beyond_what_can_be_held(monkeypatch):
    draws = infer.sample(normal(), **FEW)
    monkeypatch.setattr(memory, "free_bytes", lambda: 16 * 2**30)
    for more, words in (
        (2**31, "draws must be at most"),
        (MAX_DRAWS, "draws of each chain"),
        (10**9, "GiB are free"),
    ):
        with pytest.raises(OptionError, match=words):
            draws.extend(more)
    assert draws.extend(3).num_draws == 5


@pytest.mark.parametrize("workers", [1.5, "2", True, 0, -(10**400)])
@pytest.mark.parametrize("executor", [infer.Threads, infer.Processes])
def test_workers_are_a_number_of_at_least_one(executor, workers):
    with pytest.raises(OptionError, match="workers must be at least 1 or None"):
        executor(workers)


def test_lanes_that_do_not_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr("accord.mcmc.limits.free_bytes", lambda: 2**20)
    with pytest.raises(OptionError, match=r"lanes=1024 of 1 unknowns take .* GiB in one program"):
        infer.sample(normal(), lanes=1024, **FEW)
