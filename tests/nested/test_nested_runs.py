"""Hold nested sampling to the same bits, however it is run, kept, interrupted and resumed."""

import ctrl_c
import numpy as np
import pytest
from laws import each
from nested_models import EVIDENCE, SMALL, Y, found, normal, same

from accord import infer
from accord.core.errors import OptionError, StorageError
from accord.nested.points import LiveStretch


def test_a_run_does_not_depend_on_others_nor_on_where_it_is_carried_out():
    model = normal(Y)
    three = found(model, runs=3, executor=infer.Serial(), **SMALL).draws
    same(three, found(model, runs=3, executor=infer.Threads(), **SMALL).draws)
    one = found(model, runs=1, **SMALL).draws
    np.testing.assert_array_equal(one.points["m"], three.points["m"][three.run == 0])
    assert one.by_run[0] == three.by_run[0] == one.log_evidence
    assert not np.array_equal(one.points["m"], found(model, runs=1, seed=1, **SMALL).draws.points["m"])


@pytest.mark.slow
def test_processes_find_the_same():
    same(found(normal(Y), **SMALL).draws, found(normal(Y), executor=infer.Processes(2), **SMALL).draws)


@each(
    {
        "nothing is left": (0, 0),
        "rounds are left": (1, 3),
        "one has come to its end": (2, ...),
        "only live points are missing": (-1, -1),
    },
    slow=["nothing is left", "only live points are missing"],
)
def test_runs_go_on_where_they_were(kept, tmp_path):
    model, store = normal(Y), infer.RunFolder(tmp_path / "run")
    whole = found(model, store=store, **SMALL).draws
    for number, count in enumerate(kept):
        segments = sorted((tmp_path / f"run/chain-{number:04d}").glob("segment-*"))
        assert len(segments) > 4
        for segment in [] if count is ... else segments[count:]:
            segment.unlink()
    (tmp_path / "run/record-notices.json").unlink()
    part = infer.load(tmp_path / "run")
    assert not part.complete and len(part.by_run) == sum(count is ... for count in kept)
    assert "interrupted" in [notice.code for notice in part.notices]
    resumed = infer.resume(tmp_path / "run", model, quiet=True)
    assert resumed.complete
    same(whole, resumed)
    again = infer.load(tmp_path / "run")
    same(whole, again)
    assert again.notices == whole.notices


def test_ctrl_c_returns_the_runs_that_have_ended():
    with ctrl_c.pressed_once(lambda stretch: True, kind=LiveStretch) as pressed:
        evidence = found(normal(Y), executor=infer.Serial(), runs=3, **SMALL)
    draws = evidence.draws
    assert pressed and not draws.complete
    assert 0 < len(draws.by_run) < 3
    assert "incomplete" in repr(draws)
    assert "interrupted" in [notice.code for notice in evidence.notices]
    assert abs(evidence.value - EVIDENCE) < 3


def test_what_a_folder_does_not_hold_is_asked_for(tmp_path):
    found(normal(Y), store=infer.RunFolder(tmp_path / "run"), **SMALL)
    with pytest.raises(StorageError, match="started differently"):
        infer.resume(tmp_path / "run", normal(Y + 1), quiet=True)
    with pytest.raises(OptionError, match=r"until: the run is one of infer\.NestedSampling"):
        infer.resume(tmp_path / "run", normal(Y), until=infer.ESS(100), quiet=True)
    with pytest.raises(OptionError, match=r"sampler: the run is one of infer\.NestedSampling"):
        infer.resume(tmp_path / "run", normal(Y), sampler=infer.MALA(), quiet=True)
