"""End runs by a rule that is not accord's: at the same draws however they are made, resumed with the rule given."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from ctrl_c import pressed_once
from paced import paced

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import AccordError, OptionError, StorageError
from accord.mcmc.draws import Draws
from accord.runs.stopping.base import AbstractLeaf, Finding, Sight

OPTIONS: dict[str, Any] = dict(draws=1000, warmup=100, chains=2, seed=4, progress=False, quiet=True)


@dataclass(frozen=True)
class Agree(AbstractLeaf):
    """Rule that holds once the means of all chains are within so many standard deviations of each other."""

    tolerance: float

    def judge(self, sight: Sight) -> Finding:
        worst = 0.0
        for _, _, found in sight.blocks(None):
            means = found.mean(1)
            worst = max(worst, float(((means.max(0) - means.min(0)) / found.std((0, 1))).max()))
        return Finding(repr(self), worst <= self.tolerance, f"gap {worst:.2g} of {self.tolerance:g}", worst)

    def check(self, sites: Any, num_chains: int) -> None:
        if num_chains < 2:
            raise OptionError("Agree: one chain has none to agree with.")

    def described(self) -> dict[str, Any]:
        return {"rule": "Agree", "tolerance": self.tolerance}


@ac.model
def level(y: Any) -> None:
    mean = ac.sample("mean", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mean, 1.0), obs=y)


MODEL = level(np.array([0.3, -0.1, 0.2]))
RULE = Agree(0.13)


@pytest.fixture(scope="module")
def ended() -> Draws:
    return infer.sample(MODEL, until=RULE, executor=infer.Serial(), **OPTIONS)


def equal(one: Draws, other: Draws) -> None:
    np.testing.assert_array_equal(one["mean"], other["mean"])
    assert one.stopping is not None and other.stopping is not None
    assert repr(one.stopping) == repr(other.stopping)


def test_it_ends_the_run_where_it_holds_first(ended: Draws) -> None:
    assert ended.stopping is not None and ended.stopping.held and 100 <= ended.num_draws < 1000
    whole = infer.sample(MODEL, **OPTIONS)
    np.testing.assert_array_equal(ended["mean"], whole["mean"][:, : ended.num_draws])
    assert repr(ended.stopping.rule) == "Agree(tolerance=0.13)"


@pytest.mark.parametrize(
    "executor", [infer.Threads(2), pytest.param(infer.Processes(2), marks=pytest.mark.slow)], ids=repr
)
def test_any_executor_ends_at_the_same_draw(ended: Draws, executor: Any) -> None:
    equal(infer.sample(MODEL, until=RULE, executor=executor, **OPTIONS), ended)


def test_it_combines_with_those_of_accord(ended: Draws) -> None:
    both = infer.sample(MODEL, until=RULE & infer.ESS(300), **OPTIONS)
    assert both.stopping is not None and both.stopping.held and both.num_draws >= ended.num_draws
    assert "Agree" in str(both.stopping) and "ESS" in str(both.stopping)


def test_an_interrupted_run_is_resumed_with_it_and_not_without(ended: Draws, tmp_path: Any) -> None:
    path = tmp_path / "run"
    short = paced(infer.Serial(), first_block=64, growth=1, task_seconds=0.01, unsaved_seconds=0.0)
    with pressed_once(lambda piece: piece.phase == "sample"):
        begun = infer.sample(MODEL, until=RULE, executor=short, store=infer.RunFolder(path), **OPTIONS)
    assert not begun.complete
    with pytest.raises(StorageError, match=r"ends by Agree\(tolerance=0.13\).*until="):
        infer.resume(path, MODEL, quiet=True)
    with pytest.raises(StorageError, match="started differently"):
        infer.resume(path, MODEL, until=Agree(0.5), quiet=True)
    equal(infer.resume(path, MODEL, until=RULE, quiet=True), ended)
    equal(infer.load(path), ended)


def test_it_is_asked_for_before_a_run_is_made_longer_under_it(tmp_path: Any) -> None:
    path = tmp_path / "run"
    infer.sample(MODEL, until=Agree(1e-9), store=infer.RunFolder(path), **(OPTIONS | dict(draws=100)))
    with pytest.raises(StorageError, match="until="):
        infer.resume(path, MODEL, quiet=True).extend(200)
    assert infer.RunFolder(path).load().records.get("cap") is None
    assert infer.resume(path, MODEL, until=Agree(1e-9), quiet=True).extend(200).num_draws == 300


@dataclass(frozen=True)
class Misdescribed(Agree):
    """A rule that a store cannot tell from others."""

    fields: tuple[tuple[str, Any], ...] = ()

    def described(self) -> dict[str, Any]:
        return dict(self.fields)


@pytest.mark.parametrize(
    "fields",
    [(("tolerance", 0.1),), (("rule", "ESS"), ("mine", 3)), (("rule", "Mine"), ("by", {1}))],
    ids=repr,
)
def test_one_that_cannot_be_described_is_refused_before_anything_is_drawn(fields: Any) -> None:
    with pytest.raises(OptionError, match=r"cannot be stored.*`described`"):
        infer.sample(MODEL, until=Misdescribed(0.1, fields), **OPTIONS)


def test_a_run_that_it_cannot_judge_is_refused() -> None:
    with pytest.raises(OptionError, match="none to agree with"):
        infer.sample(MODEL, until=RULE, **(OPTIONS | dict(chains=1)))


@dataclass(frozen=True)
class Broken(Agree):
    """A rule that raises once a chain has so many draws, unless it is mended; a store tells no difference."""

    draws: int = 150
    is_mended: bool = False

    def judge(self, sight: Sight) -> Finding:
        if not self.is_mended and sight.draws.shape("mean")[1] >= self.draws:
            raise ZeroDivisionError("no spread")
        return Finding(repr(self), False, "not yet")

    def described(self) -> dict[str, Any]:
        return {"rule": "Broken"}


@pytest.mark.parametrize("executor", [infer.Serial(), infer.Threads(2)], ids=repr)
@pytest.mark.parametrize("draws", [150, 1000])
def test_one_that_raises_ends_the_run_and_keeps_its_draws(executor: Any, draws: int, tmp_path: Any) -> None:
    rule, path = Broken(0.1, draws) & infer.ESS(10**6), tmp_path / "run"
    found = infer.sample(MODEL, until=rule, executor=executor, store=infer.RunFolder(path), **OPTIONS)
    notice = next(each for each in found.notices if each.code == "rule_failed")
    assert notice.severity == "error"
    for words in ("Broken(tolerance=0.1", "ZeroDivisionError: no spread", "test_own_rule.py:"):
        assert words in notice.message
    assert not found.complete and 100 <= found.num_draws <= 1000
    whole = infer.sample(MODEL, **OPTIONS)
    np.testing.assert_array_equal(found["mean"], whole["mean"][:, : found.num_draws])
    loaded = infer.load(path)
    assert loaded.num_draws == found.num_draws and "rule_failed" in [each.code for each in loaded.notices]
    assert found.num_draws >= draws  # which were judged
    with pytest.raises(AccordError, match=r"Broken.*ZeroDivisionError: no spread"):
        infer.resume(path, MODEL, until=rule, quiet=True)
    mended = infer.resume(path, MODEL, until=Broken(0.1, is_mended=True) & infer.ESS(10**6), quiet=True)
    np.testing.assert_array_equal(mended["mean"], whole["mean"])


class Silent(Agree):
    def judge(self, sight: Sight) -> Any:
        return True


class Several(Agree):
    def judge(self, sight: Sight) -> Finding:
        several: Any = np.array([True, False])
        return Finding("several", several, "not yet")


class Unmet(Agree):
    def is_met(self, met: Any) -> bool:
        raise LookupError("nothing is met")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Silent, "`judge` returned bool"),
        (Several, "truth value of an array"),
        (Unmet, "LookupError: nothing is met"),
    ],
)
def test_one_that_finds_or_meets_nothing_is_named(kind: type[Agree], words: str) -> None:
    found = infer.sample(MODEL, until=kind(0.1), **OPTIONS)
    assert any(words in each.message for each in found.notices if each.code == "rule_failed")
    assert found.num_draws >= 100
