"""Results are pickled without their model, which may be a function that no module holds."""

import copy
import pickle

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError


def local_model():
    """A model that pickle cannot find by name."""

    @ac.model
    def local(y):
        mu = ac.sample("mu", dist.Normal(0, 1))
        with ac.plate("row", len(y)):
            ac.sample("y", dist.Normal(mu, 1), obs=y)

    return local(np.arange(3.0))


@pytest.fixture(scope="module")
def draws():
    return infer.sample(local_model(), draws=20, warmup=20, chains=2, quiet=True)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    store = infer.RunFolder(tmp_path_factory.mktemp("stored") / "run")
    return infer.sample(local_model(), draws=20, warmup=20, chains=2, quiet=True, store=store)


def copied(value):
    """Pickle and unpickle a value."""
    return pickle.loads(pickle.dumps(value))


def test_draws_come_back_with_all_but_their_model(draws):
    found = copied(draws)
    for name in ("sites", "stats", "warmup"):
        before, after = getattr(draws, name), getattr(found, name)
        assert list(after) == list(before)
        for each in before:
            np.testing.assert_array_equal(after[each], before[each])
    assert (found.notices, found.dims, found.chains) == (draws.notices, draws.dims, draws.chains)
    assert dict(found.manifest) == dict(draws.manifest)
    assert repr(found) == repr(draws)
    assert str(found.summary()) == str(draws.summary())
    assert found.density is None
    with pytest.raises(OptionError, match="copy without their model"):
        found.extend(1)


def test_draws_and_their_summary_which_is_kept_cannot_be_written_to(draws):
    for each in (draws, copied(draws), copy.deepcopy(draws)):
        for array in (
            each["mu"],
            each.stats["lp"],
            each.summary()["mean"],
            each.summary().errors["mcse_mean"],
        ):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


def test_draws_of_a_folder_are_in_the_pickle(stored):
    text = pickle.dumps(stored)
    for file in list(stored_files(stored)):
        file.unlink()
    found = pickle.loads(text)
    assert found["mu"].shape == (2, 20)
    with pytest.raises(OptionError, match=r"infer\.resume\(.*\)\.extend\(1\)"):
        found.extend(1)


def stored_files(draws):
    """The files of a run."""
    from pathlib import Path

    return [path for path in Path(draws.location).rglob("*") if path.is_file()]


def test_a_copy_in_memory_keeps_the_model(draws):
    for found in (copy.copy(draws), copy.deepcopy(draws)):
        assert found.density is draws.density
        assert found.continuation is draws.continuation
        np.testing.assert_array_equal(found["mu"], draws["mu"])
    assert not np.shares_memory(copy.deepcopy(draws)["mu"], draws["mu"])


def test_a_mode_comes_back_with_its_numbers():
    mode = infer.find_mode(local_model(), starts=1)
    found = copied(mode)
    assert str(found) == str(mode)
    np.testing.assert_array_equal(found.values["mu"], mode.values["mu"])
    with pytest.raises(OptionError, match="without its model"):
        found.laplace()
    assert copy.deepcopy(mode).density is mode.density


def test_what_is_made_of_draws_comes_back(draws):
    predicted = infer.predict(draws, quiet=True)
    np.testing.assert_array_equal(copied(predicted)["y"], predicted["y"])
    likely = infer.log_likelihood(draws)
    np.testing.assert_array_equal(copied(likely)["y"], likely["y"])
    summary = draws.summary()
    assert str(copied(summary)) == str(summary)
