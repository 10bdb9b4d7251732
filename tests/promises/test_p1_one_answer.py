"""Hold promise P1: the same run gives the same bits, however it was run."""

import numpy as np
import pytest
from models import regression, schools

from accord import infer

MODELS = {"schools": schools, "regression": regression}
RUN = dict(draws=60, warmup=60, seed=3, progress=False, quiet=True)


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param]()


@pytest.fixture(scope="module")
def serial(model):
    return infer.sample(model, chains=4, executor=infer.Serial(), **RUN)


def assert_same(left, right):
    for kind in ("sites", "stats", "tuning", "warmup"):
        for name, array in getattr(left, kind).items():
            np.testing.assert_array_equal(array, getattr(right, kind)[name], err_msg=f"{kind} {name}")


def rows(draws, chains):
    """Every array of some chains of a run."""
    index = [draws.chains.index(chain) for chain in chains]
    kinds = (draws.sites, draws.stats, draws.tuning, draws.warmup)
    return [{name: array[index] for name, array in kind.items()} for kind in kinds]


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_threads_draw_what_serial_draws(model, serial, workers):
    assert_same(serial, infer.sample(model, chains=4, executor=infer.Threads(workers), **RUN))


def test_a_chain_alone_is_that_chain_among_others(model, serial):
    alone = infer.sample(model, chains=[2], **RUN)
    assert alone.chains == (2,)
    np.testing.assert_equal(rows(alone, [2]), rows(serial, [2]))


def test_more_chains_leave_the_first_ones_alone(model, serial):
    more = infer.sample(model, chains=6, **RUN)
    np.testing.assert_equal(rows(more, range(4)), rows(serial, range(4)))


def test_blocks_of_any_size_give_the_same_bits(model, serial, monkeypatch):
    monkeypatch.setattr("accord.drivers.chain._FIRST_BLOCK", 13)
    monkeypatch.setattr("accord.drivers.chain._BLOCK_SECONDS", 1e-5)
    assert_same(serial, infer.sample(model, chains=4, **RUN))


def test_a_progress_bar_changes_nothing(model, serial, capsys):
    watched = infer.sample(model, chains=4, **{**RUN, "progress": True, "quiet": False})
    printed, shown = capsys.readouterr()
    assert_same(serial, watched)
    assert not printed
    # Sixty draws are too few, which must be said where the user looks.
    assert watched.notices
    assert all(str(notice) in shown for notice in watched.notices)


def test_a_store_changes_nothing(model, serial, tmp_path):
    stored = infer.sample(model, chains=4, store=infer.RunFolder(tmp_path / "run"), **RUN)
    assert_same(serial, stored)
    assert_same(serial, infer.load(tmp_path / "run"))


def test_lanes_are_a_class_of_their_own_in_which_the_same_holds(model):
    together = infer.sample(model, chains=4, lanes=4, **RUN)
    padded = infer.sample(model, chains=[3, 1], lanes=4, **RUN)
    np.testing.assert_equal(rows(padded, [1, 3]), rows(together, [1, 3]))


def test_lanes_draw_from_the_same_posterior(serial, model):
    """Bits may differ between widths, streams of random numbers do not: the first draws are equal to rounding."""
    together = infer.sample(model, chains=4, lanes=2, **RUN)
    np.testing.assert_allclose(
        together.warmup["position"][:, :5], serial.warmup["position"][:, :5], rtol=1e-6
    )


def test_thinning_keeps_every_nth_of_the_same_draws(model):
    """Known answer K18, counted from the first draw after warm-up: draws 0, 2, ..., 18 are kept."""
    options = {**RUN, "draws": 10}
    whole = infer.sample(model, chains=2, **{**options, "draws": 19})
    thinned = infer.sample(model, chains=2, thinning=2, **options)
    for name in whole:
        np.testing.assert_array_equal(thinned[name], whole[name][:, ::2])


def test_another_seed_gives_other_draws(model, serial):
    other = infer.sample(model, chains=4, **{**RUN, "seed": 4})
    assert all(not np.array_equal(serial[name], other[name]) for name in serial)
