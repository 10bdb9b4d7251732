"""Raise for the first number that is not finite, where that is asked for, though the run was broken off before."""

from contextlib import contextmanager

import jax.numpy as jnp
import numpy as np
import pytest
from paced import paced

from accord import infer
from accord.core.errors import SamplingError
from accord.density import LogDensity
from accord.mcmc.stretch import Stretch
from accord.runs.ledger import Ledger
from accord.runs.stopping.looks import looks
from accord.runs.stopping.watch import Watch

QUIET = dict(progress=False, quiet=True)
CAP = 400
SEGMENT = 16
"""Draws of a segment: short, so that many lie before the first number that is not finite."""
SHORT = dict(executor=paced(most_rows=SEGMENT, task_seconds=0.0))
"""Commit the draws of each block before the next one, so that runs end early."""


def rare(x):
    """A standard normal, of which a far corner is no number."""
    return jnp.where(x[0] > 3.4, jnp.nan, -0.5 * jnp.sum(x**2))


@pytest.fixture(scope="module")
def target():
    return LogDensity.from_function(rare, np.zeros(2))


@pytest.fixture(scope="module")
def late(target):
    """Options of a run whose chain meets its first such number late, though not last, and the draw of it."""
    options = dict(draws=CAP, warmup=0, chains=1, init={"x": np.array([0.1, 0.2])}, **SHORT, **QUIET)
    for seed in range(200):
        options |= dict(seed=seed)
        first = min((each.draw for each in infer.sample(target, **options).failures), default=0)
        if looks(CAP)[0] + 2 * SEGMENT <= first < looks(CAP)[-2]:
            return options, first
    raise AssertionError("no chain comes there at the right time")


def message(call):
    """What a call that is to raise says."""
    with pytest.raises(SamplingError) as caught:
        call()
    return str(caught.value)


@pytest.fixture(scope="module")
def expected(target, late):
    """What a run says that was never broken off."""
    options, first = late
    found = message(lambda: infer.sample(target, on_nonfinite="raise", **options))
    assert found.startswith(f"chain 0, draw {first} of sample: a log density that is not finite.")
    return found


@contextmanager
def stopping_after(draw):
    """Let runs end, as by Ctrl-C, once a piece is committed that goes beyond this draw."""
    commit = Ledger.commit

    def committed(ledger, items):
        commit(ledger, items)
        if any(isinstance(item, Stretch) and item.stop > draw for item in items):
            ledger.stop.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "commit", committed)
        yield


@pytest.mark.parametrize("draw", [0, 80])
def test_a_run_that_was_interrupted_raises_where_it_would_have(target, late, expected, tmp_path, draw):
    options, first = late
    with stopping_after(draw):
        begun = infer.sample(target, on_nonfinite="raise", store=infer.RunFolder(tmp_path / "run"), **options)
    assert draw < begun.num_draws <= first and not begun.complete
    for _ in range(2):  # what has raised can be taken up too, and comes to the same place
        assert message(lambda: infer.resume(tmp_path / "run", target, **SHORT, **QUIET)) == expected
    assert begun.num_draws <= infer.load(tmp_path / "run").num_draws <= first


def test_a_run_that_was_killed_raises_where_it_would_have(target, late, expected, tmp_path):
    options, first = late
    store = infer.RunFolder(tmp_path / "run")
    message(lambda: infer.sample(target, on_nonfinite="raise", store=store, **options))
    for path in sorted((tmp_path / "run" / "chain-0000").iterdir())[2:]:
        path.unlink()
    assert infer.load(tmp_path / "run").num_draws == 2 * SEGMENT < first
    assert message(lambda: infer.resume(tmp_path / "run", target, **SHORT, **QUIET)) == expected


@pytest.mark.parametrize("is_resumed", [False, True])
def test_a_longer_run_raises_too(target, late, expected, tmp_path, is_resumed):
    options, first = late
    options = options | dict(draws=first, store=infer.RunFolder(tmp_path / "run"))
    short = infer.sample(target, on_nonfinite="raise", **options)
    if is_resumed:
        short = infer.resume(tmp_path / "run", target, **SHORT, **QUIET)
    assert short.complete and short.num_draws == first
    assert message(lambda: short.extend(CAP)) == expected


def test_a_run_that_is_not_to_raise_goes_on_and_stores_nothing_of_it(target, late, tmp_path):
    """So do runs that were stored when none said whether it was to."""
    options, first = late
    store = infer.RunFolder(tmp_path / "run")
    with stopping_after(80):
        infer.sample(target, store=store, **options)
    assert "on_nonfinite" not in store.load().manifest["settings"]
    resumed = infer.resume(tmp_path / "run", target, **SHORT, **QUIET)
    assert resumed.complete and resumed.num_draws == CAP
    assert min(each.draw for each in resumed.failures) == first


# Under a rule, which may end the run before the number


def broken_off(target, late, folder, until, after):
    """A run that is interrupted after some draw beyond the number, while no look at its rule has come to an end."""
    options, first = late
    with stopping_after(after), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watch, "look", lambda watch, lost: False)
        begun = infer.sample(
            target, until=until, on_nonfinite="raise", store=infer.RunFolder(folder), **options
        )
    assert not begun.complete and first in [each.draw for each in begun.failures]
    return begun


@pytest.mark.parametrize("is_all_drawn", [False, True])
def test_a_number_that_was_held_back_is_told_once_it_counts(target, late, expected, tmp_path, is_all_drawn):
    """Whether that is known when the run is taken up, or later."""
    after = CAP - 1 if is_all_drawn else late[1]
    begun = broken_off(target, late, tmp_path / "run", infer.ESS(1e9), after)
    assert (begun.num_draws == CAP) is is_all_drawn
    for _ in range(2):
        assert message(lambda: infer.resume(tmp_path / "run", target, **SHORT, **QUIET)) == expected


def test_a_number_that_was_held_back_is_told_once_the_run_is_longer(target, late, expected, tmp_path):
    begun = broken_off(target, late, tmp_path / "run", infer.ESS(1e9), late[1])
    assert message(lambda: begun.extend(CAP)) == expected


def test_a_number_beyond_the_end_is_never_told(target, late, tmp_path):
    """Nor does the result keep what was said when the run was interrupted."""
    begun = broken_off(target, late, tmp_path / "run", infer.ESS(1), late[1])
    assert {"incomplete", "non_finite"} <= {notice.code for notice in begun.notices}
    resumed = infer.resume(tmp_path / "run", target, **SHORT, **QUIET)
    assert resumed.complete and resumed.num_draws == looks(CAP)[0] and not resumed.failures
    assert not {"incomplete", "non_finite"} & {notice.code for notice in resumed.notices}
