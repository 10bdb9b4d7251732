"""End runs by a rule: at the first look at which it holds, and at the same draws however the run was made."""

import pickle
import shutil
import time

import jax.numpy as jnp
import numpy as np
import pytest
from paced import paced

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError, SamplingError
from accord.density import LogDensity
from accord.mcmc.stretch import Stretch
from accord.report import ess_bulk, ess_mean, ess_tail, r_hat
from accord.runs.ledger import Ledger
from accord.runs.stopping import sights, watch
from accord.runs.stopping.described import rule_from
from accord.runs.stopping.looks import looks

QUIET = dict(progress=False, quiet=True)
RUN = dict(draws=1000, warmup=150, chains=4, seed=3, **QUIET)
RULE = infer.ESS(400)


def wall(x):
    """Correlated, with a soft wall: no two chains adapt alike."""
    return -0.5 * jnp.sum((x - 0.9 * jnp.roll(x, 1)) ** 2) - jnp.exp(x[0])


def target() -> LogDensity:
    return LogDensity.from_function(wall, np.zeros(3))


def sample(**options):
    return infer.sample(target(), **(RUN | options))


def assert_same(left, right):
    """Every array of two runs, what they have met, and what it took."""
    for kind in ("sites", "stats", "tuning", "warmup"):
        for name, array in getattr(left, kind).items():
            np.testing.assert_array_equal(array, getattr(right, kind)[name], err_msg=f"{kind} {name}")
    np.testing.assert_equal(left.counts, right.counts)
    assert [str(each) for each in left.failures] == [str(each) for each in right.failures]
    assert (left.work, left.chains, left.complete) == (right.work, right.chains, right.complete)


@pytest.fixture(scope="module")
def whole():
    """A run to the cap."""
    return sample()


@pytest.fixture(scope="module")
def plain(whole):
    """One that was asked for no more than is enough."""
    return sample(draws=next(at for at in looks(1000) if least(whole, at) >= 400))


# Where a run ends


def least(draws, count):
    """The smallest effective sample size of the first so many draws of a run, of bulk or tail."""
    first = draws["x"][:, :count]
    return min(ess_bulk(first).min(), ess_tail(first).min())


def test_a_run_ends_at_the_first_look_at_which_its_rule_holds(whole, plain):
    found = sample(until=RULE)
    assert_same(found, plain)
    assert found.num_draws == found.requested == plain.num_draws and found.complete
    stopping = found.stopping
    assert (stopping.held, stopping.draws, stopping.chains) == (True, plain.num_draws, (0, 1, 2, 3))
    assert [look.draws for look in stopping.looks] == [at for at in looks(1000) if at <= plain.num_draws]
    for look in stopping.looks:
        assert look.findings[0].value == least(whole, look.draws)
    assert repr(stopping).startswith(f"<ESS(400) held at {plain.num_draws} draws per chain: ESS ")


WAYS = {
    "serial": dict(executor=infer.Serial()),
    "one thread for each chain": dict(executor=infer.Threads(4)),
    "processes": dict(executor=infer.Processes(2)),
}


@pytest.mark.parametrize("way", WAYS)
def test_it_ends_there_in_every_executor(plain, way):
    assert_same(sample(until=RULE, **WAYS[way]), plain)


@pytest.mark.parametrize("block", [pytest.param((30, 1e-3), marks=pytest.mark.slow), (2**30, 1e3)])
def test_it_ends_there_whatever_the_blocks(plain, block):
    where = paced(first_block=block[0], block_seconds=block[1], unsaved_seconds=0.02)
    assert_same(sample(until=RULE, executor=where), plain)


UNWATCHED = paced(look_seconds=0.0, task_seconds=0.05)
"""A rule is looked at beside the chains, which are not held up by it."""


def look_slowly(patch):
    """Let chains run on to their caps before the first look is over, where they are `UNWATCHED`."""

    def judge(*given, **options):
        time.sleep(0.5)
        return sights.judge(*given, **options)

    patch.setattr(watch, "judge", judge)


@pytest.fixture
def slow_looks(monkeypatch):
    look_slowly(monkeypatch)


def test_it_ends_there_whatever_time_looking_takes(plain, slow_looks):
    assert_same(sample(until=RULE, executor=UNWATCHED), plain)


def test_it_ends_there_where_few_scalars_are_looked_at_first(whole, plain):
    found = sample(until=RULE, executor=paced(look_numbers=1))
    assert_same(found, plain)
    # One that is against the rule suffices, so the value is that of the worst or more.
    values = [look.findings[0].value for look in found.stopping.looks]
    lowest = [least(whole, look.draws) for look in found.stopping.looks]
    assert np.all(np.array(values) >= lowest) and values[-1] == lowest[-1]


def test_lanes_end_together():
    found = sample(until=RULE, lanes=4)
    assert_same(found, sample(draws=found.num_draws, lanes=4))
    assert found.stopping.held and found.num_draws < 1000


def test_the_rule_looks_at_kept_draws():
    found = sample(until=infer.ESS(300), thinning=3, draws=400)
    assert found.stopping.held and found.num_draws in looks(400)[:-1]
    assert_same(found, sample(draws=found.num_draws, thinning=3))


def test_a_run_that_comes_to_its_cap_says_so_and_can_go_on(whole, plain):
    found = sample(until=RULE, draws=200)
    assert found.num_draws == found.requested == 200 and found.complete
    assert (found.stopping.held, found.stopping.draws) == (False, 200)
    (notice,) = [each for each in found.notices if each.code == "stopped_at_cap"]
    for words in ("cap of 200 draws per chain", "ESS(400) does not hold", "of 400 (x"):
        assert words in notice.message
    assert "Raise draws= to about" in notice.remedy and notice.sites == ("x",)
    # The rule is looked at after 225, and at the new cap, where it does not hold either.
    cap = next(at for at in range(226, 253) if least(whole, at) < 400)
    further = found.extend(cap - 200)
    assert [look.draws for look in further.stopping.looks] == [100, 150, 200, 225, cap]
    longer = further.extend(500)
    assert longer.stopping.held and longer.num_draws == plain.num_draws and longer.complete
    assert not [each for each in longer.notices if each.code == "stopped_at_cap"]
    np.testing.assert_array_equal(longer["x"], whole["x"][:, : plain.num_draws])


def test_rules_are_combined(whole):
    worst = {at: r_hat(whole["x"][:, :at]).max() for at in looks(1000)}
    enough = {at: least(whole, at) >= 250 for at in looks(1000)}
    limit = sorted(worst.values())[2]  # held at a few looks
    both = sample(until=infer.ESS(250) & infer.RHat(limit))
    assert both.num_draws == next(at for at in looks(1000) if enough[at] and worst[at] <= limit)
    either = sample(until=infer.ESS(1e9) | infer.ESS(250))
    assert either.num_draws == next(at for at in looks(1000) if enough[at])
    error = sample(until=infer.MCSE(0.06) | infer.Seconds(1e6))
    assert error.stopping.held and 1 / np.sqrt(ess_mean(error["x"]).min()) <= 0.06


def test_an_error_may_be_in_the_unit_of_the_site():
    found = sample(until=infer.MCSE(0.15, sites="x", unit="site"))
    assert found.stopping.held and found.summary()["mcse_mean"].max() <= 0.15


def test_a_normal_is_drawn_from_until_it_is_known():
    @ac.model
    def normal():
        ac.sample("x", dist.Normal(3.0, 2.0))
        ac.sample("high", dist.Normal(0.0, 1.0))

    found = infer.sample(normal(), until=infer.ESS(400, sites=["x"]), **(RUN | dict(draws=3000)))
    table = found.summary()
    row = table.labels.index("x")
    assert found.stopping.held and found.num_draws < 3000
    assert min(table["ess_bulk"][row], table["ess_tail"][row]) >= 400


@ac.model
def correlated():
    factor = ac.sample("L", dist.LKJCholesky(3, 2.0))
    ac.deterministic("zero", 0.0 * factor[2, 2])
    ac.deterministic("is_far", factor[2, 2] > 2.0)


def test_scalars_that_do_not_vary_are_no_obstacle():
    found = infer.sample(correlated(), until=infer.ESS(200) & infer.RHat(1.2), **RUN)
    assert found.stopping.held
    assert found.stopping.looks[-1].findings[0].site == "L"


def test_where_nothing_varies_no_rule_holds():
    found = infer.sample(correlated(), until=infer.ESS(1, sites=["zero"]), **(RUN | dict(draws=120)))
    assert found.stopping.held is False
    assert "no scalar varies yet" in str(found.stopping.looks[-1])


def test_seconds_end_a_run_at_draws_that_all_chains_have(whole):
    found = sample(until=infer.Seconds(1.5), draws=10**6, warmup=50)
    assert found.complete and found.stopping.held and found.stopping.is_by_clock
    assert found.num_draws == found.requested < 10**6
    assert found["x"].shape[:2] == (4, found.num_draws)
    if found.num_draws:
        np.testing.assert_array_equal(
            found["x"][:, :50], sample(warmup=50, draws=50)["x"][:, : found.num_draws]
        )
    longer = found.extend(10)
    assert longer.num_draws == found.num_draws + 10 and longer.complete
    np.testing.assert_array_equal(longer["x"][:, : found.num_draws], found["x"])


# Ended, interrupted and taken up again


@pytest.fixture
def stop_after(monkeypatch):
    """Let runs end, as by Ctrl-C, once so many segments are committed."""

    def stop(count: int | None) -> None:
        monkeypatch.undo()
        commit, seen = Ledger.commit, []

        def counted(ledger, items):
            commit(ledger, items)
            seen.extend(item for item in items if isinstance(item, Stretch))
            if len(seen) > count:
                ledger.stop.set()

        if count is not None:
            monkeypatch.setattr(Ledger, "commit", counted)

    return stop


def test_a_run_that_was_interrupted_goes_on_to_the_same_end(plain, tmp_path, stop_after):
    folder = tmp_path / "run"
    for count in (5, 3, 4):
        stop_after(count)
        # Threads could be done before the one that counts had its turn.
        alone = dict(executor=infer.Serial())
        if folder.exists():
            draws = infer.resume(folder, target(), **alone, **QUIET)
        else:
            draws = sample(until=RULE, store=infer.RunFolder(folder), **alone)
        assert (not draws.complete and draws.stopping is None) or draws.stopping.held is None
        assert "incomplete" in {notice.code for notice in draws.notices}
    stop_after(None)
    assert_same(infer.resume(folder, target(), **QUIET), plain)
    for again in (infer.load(folder), infer.resume(folder, target(), **QUIET)):
        assert_same(again, plain)
        assert again.stopping.held and again.stopping.draws == again.requested == plain.num_draws


def test_one_in_memory_goes_on_under_its_rule(plain, stop_after):
    stop_after(5)
    draws = sample(until=RULE, executor=infer.Serial())
    stop_after(None)
    assert not draws.complete
    longer = draws.extend(500)
    assert longer.stopping.held and longer.num_draws == plain.num_draws
    np.testing.assert_array_equal(longer["x"], plain["x"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run whose chains have gone on to their caps while it was looked at."""
    path = tmp_path_factory.mktemp("until") / "run"
    with pytest.MonkeyPatch.context() as patch:
        look_slowly(patch)
        sample(until=RULE, store=infer.RunFolder(path))
    return path


def test_what_was_drawn_beyond_the_end_is_in_no_result(folder, plain):
    run = infer.RunFolder(folder).load()
    assert max(run.stored(chain)["sample"] for chain in range(4)) > plain.num_draws
    assert_same(infer.load(folder), plain)


@pytest.mark.parametrize("records", [["notices"], ["notices", "stopping"]])
def test_a_run_that_died_at_its_end_is_found_to_have_ended(folder, plain, tmp_path, records):
    copy = shutil.copytree(folder, tmp_path / "run")
    for name in records:
        (copy / f"record-{name}.json").unlink()
    assert infer.load(copy).complete is ("stopping" not in records)
    assert_same(infer.resume(copy, target(), **QUIET), plain)
    assert_same(infer.load(copy), plain)


def test_after_its_end_a_run_is_made_longer_by_so_many_draws(folder, plain, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "run")
    longer = infer.resume(copy, target(), **QUIET).extend(77).extend(5)
    expected = sample(draws=plain.num_draws + 82)
    for kind in ("sites", "stats", "warmup", "tuning"):
        for name, array in getattr(expected, kind).items():
            np.testing.assert_array_equal(getattr(longer, kind)[name], array, err_msg=name)
    np.testing.assert_equal(longer.counts, expected.counts)
    assert longer.complete and longer.stopping.draws == plain.num_draws
    assert infer.load(copy).num_draws == plain.num_draws + 82


# Chains that cannot go on


def needle(x):
    """A standard normal, and one point far away from which no step is possible."""
    return jnp.where(jnp.all(x == 10.0), 0.0, jnp.where(x[0] > 5.0, jnp.nan, -0.5 * jnp.sum(x**2)))


STARTS = infer.from_values([{"x": np.array([10.0, 10.0])}, {"x": np.array([0.5, 0.5])}])


AT_ONCE = infer.MCSE(1e9)
"""Holds at the first look, which is after 100 draws."""


@pytest.mark.parametrize(
    ("warmup", "counts"),
    [(150, (0, 1)), (151, (1,)), (250, (1,))],
    ids=["after the end", "at the very draw", "before"],
)
def test_a_chain_that_is_given_up_counts_as_long_as_it_has_draws(warmup, counts):
    """It is after 251 draws, those of warm-up among them."""
    density = LogDensity.from_function(needle, np.zeros(2))
    options = dict(draws=400, warmup=warmup, chains=2, seed=3, init=STARTS, **QUIET)
    found = infer.sample(density, until=AT_ONCE, **options)
    assert found.stopping.held and found.num_draws == 100
    assert found.chains == found.stopping.chains == counts
    lost = [each for each in found.notices if each.code == "chain_failed"]
    assert bool(lost) is (counts == (1,)) is bool(found.lost_chains)


def rare(x):
    """A standard normal, of which a far corner is no number."""
    return jnp.where(x[0] > 3.4, jnp.nan, -0.5 * jnp.sum(x**2))


def test_what_is_not_finite_beyond_the_end_raises_nothing(slow_looks):
    """Chains come there while they are looked at."""
    density = LogDensity.from_function(rare, np.zeros(2))
    options = dict(draws=400, warmup=0, chains=2, init={"x": np.array([0.1, 0.2])}, **QUIET)
    for seed in range(100):  # until one comes there once and not early: of two, either may be met first
        options |= dict(seed=seed)
        met = [each.draw for each in infer.sample(density, **options).failures]
        if len(met) == 1 and met[0] >= 100:
            break
    first = met[0]
    assert looks(400)[0] <= first < 400
    where = paced(look_seconds=0.0, task_seconds=0.0)
    found = infer.sample(density, until=AT_ONCE, on_nonfinite="raise", executor=where, **options)
    assert found.num_draws == looks(400)[0] and found.complete and not found.failures
    with pytest.raises(SamplingError, match=rf"draw {first} of sample: a log density that is not finite"):
        infer.sample(density, until=infer.ESS(1e9), on_nonfinite="raise", **options)


# Rules as values

RULES = {
    "ESS(1000)": infer.ESS(1000),
    "ESS(1234567)": infer.ESS(1234567),
    "ESS(400.5, sites=['mu'], kind='tail')": infer.ESS(400.5, sites="mu", kind="tail"),
    "RHat(1.01)": infer.RHat(1.01),
    "RHat(1.05, sites=['mu', 'tau'])": infer.RHat(1.05, sites=["mu", "tau"]),
    "MCSE(0.05)": infer.MCSE(0.05),
    "MCSE(2, sites=['mu'], unit='site')": infer.MCSE(2, sites=("mu",), unit="site"),
    "Seconds(60)": infer.Seconds(60),
    "ESS(1000) & RHat(1.01) & MCSE(0.05)": infer.ESS(1000) & infer.RHat(1.01) & infer.MCSE(0.05),
    "ESS(1000) & (RHat(1.01) | Seconds(60))": infer.ESS(1000) & (infer.RHat(1.01) | infer.Seconds(60)),
    "ESS(1000) & RHat(1.01) | Seconds(60)": infer.ESS(1000) & infer.RHat(1.01) | infer.Seconds(60),
}


@pytest.mark.parametrize("text", RULES)
def test_a_rule_is_a_value_that_reads_as_it_is_written(text):
    rule = RULES[text]
    names = {name: getattr(infer, name) for name in ("ESS", "RHat", "MCSE", "Seconds")}
    assert repr(rule) == text
    for other in (eval(text, names), pickle.loads(pickle.dumps(rule)), rule_from(rule.described())):
        assert other == rule and hash(other) == hash(rule) and repr(other) == text


def test_and_binds_tighter_than_or():
    rule = RULES["ESS(1000) & RHat(1.01) | Seconds(60)"]
    for met in ((True, True, False), (False, False, True)):
        assert rule.is_met(dict(zip(rule.leaves, met, strict=True)))
    assert not rule.is_met(dict(zip(rule.leaves, (True, False, False), strict=True)))


def test_looks_grow_by_halves_and_end_at_the_cap():
    assert looks(1000) == (100, 150, 225, 338, 507, 761, 1000)
    assert looks(100) == (100,) and looks(7) == (7,)
    assert len(looks(10**4)) == 13


def fresh(**options):
    return lambda: sample(draws=20, warmup=20, **options)


REFUSALS = {
    "a number": (fresh(until=1000), ["until takes a rule", "infer.ESS(1000)"]),
    "a class": (fresh(until=infer.ESS), ["until takes a rule", "parentheses"]),
    "no target": (lambda: infer.ESS(0), ["ESS: target", "positive", "got 0"]),
    "a word": (lambda: infer.ESS("x"), ["ESS: target", "'x'"]),
    "true": (lambda: infer.ESS(True), ["ESS: target", "True"]),
    "not a number": (lambda: infer.MCSE(float("nan")), ["MCSE: largest", "nan"]),
    "a kind that is none": (lambda: infer.ESS(9, kind="bulky"), ["ESS: kind", "'bulk'", "'bulky'"]),
    "a unit that is none": (lambda: infer.MCSE(1, unit="m"), ["MCSE: unit", "'site'", "'m'"]),
    "an R-hat of nothing": (lambda: infer.RHat(1.0), ["RHat: limit", "above 1", "1.0"]),
    "no time": (lambda: infer.Seconds(-1), ["Seconds", "-1"]),
    "for ever": (lambda: infer.Seconds(float("inf")), ["Seconds", "inf"]),
    "no sites": (lambda: infer.ESS(9, sites=[]), ["ESS: sites", "[]"]),
    "a typo": (lambda: infer.ESS(9, site="x"), ["'site'", "Did you mean 'sites'"]),
    "a site that is not there": (fresh(until=infer.ESS(9, sites="xx")), ["'xx'", "Did you mean 'x'"]),
    "one inside another": (
        fresh(until=infer.Seconds(9) | infer.RHat(2, sites="y")),
        ["no latent or deterministic site 'y'", "There are: x"],
    ),
    "one chain": (fresh(until=infer.RHat(1.01), chains=1), ["compares chains", "chains=4"]),
    "and": (lambda: infer.ESS(9) and infer.RHat(2), ["neither true nor false", "by & and |"]),
    "a rule and a number": (lambda: infer.ESS(9) & 3, ["combine with rules", "got 3"]),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_is_no_rule_is_refused_before_anything_is_drawn(case):
    call, words = REFUSALS[case]
    with pytest.raises(OptionError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
