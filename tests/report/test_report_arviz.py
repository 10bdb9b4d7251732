"""Check that the tree follows ArviZ's conventions whatever the sites are called."""

import importlib
import importlib.metadata
import json
import types

import numpy as np
import pytest
import xarray  # noqa: F401 - its first import must not fall where a test has patched importlib

from accord.core.errors import DataError
from accord.report import to_arviz, to_tree

SHAPE = (2, 5)


def zeros(*event: int) -> np.ndarray:
    return np.zeros((*SHAPE, *event))


def test_groups_dims_and_coords_are_those_of_arviz():
    tree = to_tree(
        {"mu": zeros(), "theta": zeros(3), "beta": zeros(3, 2)},
        {"lp": zeros(), "diverging": zeros().astype(bool)},
        chains=[1, 4],
        warmup=({"mu": np.zeros((2, 7))}, {"lp": np.zeros((2, 7))}),
        observed_data={"y": np.arange(3)},
        constant_data={"sigma": np.ones(3), "K": np.asarray(2)},
        dims={"theta": ["school"], "beta": ["school"], "y": ["school"]},
        coords={"school": ["A", "B", "C"], "unused": [1]},
        attrs={"model": "m", "manifest": {"seed": 1}, "draws": 5, "complete": True},
    )
    warmup = ["warmup_posterior", "warmup_sample_stats"]
    assert list(tree.children) == ["posterior", "sample_stats", *warmup, "observed_data", "constant_data"]
    posterior = tree["posterior"]
    assert posterior["theta"].dims == ("chain", "draw", "school")
    assert posterior["beta"].dims == ("chain", "draw", "school", "beta_dim_1")
    assert list(posterior["school"].values) == ["A", "B", "C"]
    assert list(posterior["chain"].values) == [1, 4]
    assert list(posterior["draw"].values) == [0, 1, 2, 3, 4]
    assert tree["observed_data"]["y"].dims == ("school",)
    assert tree["constant_data"]["sigma"].dims == ("sigma_dim_0",)
    assert tree["constant_data"]["K"].dims == ()
    assert tree["warmup_posterior"].sizes["draw"] == 7
    assert tree.attrs == {"model": "m", "manifest": '{"seed": 1}', "draws": 5, "complete": "true"}
    assert json.loads(tree.attrs["manifest"]) == {"seed": 1}


def test_absent_groups_are_left_out():
    assert list(to_tree({"mu": zeros()}, {}).children) == ["posterior"]
    assert list(to_tree({}, {}).children) == ["posterior"]


NAMES = {
    "with a slash": ({"outer/x": zeros(2)}, {}, {"outer.x": ("chain", "draw", "outer.x_dim_0")}),
    "alike": ({"a/b": zeros(), "a.b": zeros()}, {}, dict.fromkeys(["a.b", "a.b_"], ("chain", "draw"))),
    "as a sample dim": ({"draw": zeros()}, {}, {"draw_": ("chain", "draw")}),
    "as its plate": ({"school": zeros(2)}, {"school": ["school"]}, {"school_": ("chain", "draw", "school")}),
    "with one dim twice": ({"K": zeros(2, 2)}, {"K": ["p", "p"]}, {"K": ("chain", "draw", "p", "K_dim_1")}),
    "with a dim of ArviZ": ({"x": zeros(2)}, {"x": ["chain"]}, {"x": ("chain", "draw", "x_dim_0")}),
}  # fmt: skip


@pytest.mark.parametrize("kind", NAMES)
def test_any_site_finds_a_place(kind):
    sites, dims, expected = NAMES[kind]
    posterior = to_tree(sites, {}, dims=dims)["posterior"]
    assert {name: posterior[name].dims for name in posterior.data_vars} == expected
    assert [posterior[name].attrs["site"] for name in posterior.data_vars] == list(sites)


WRONG = {
    "one dim of two sizes": (
        lambda: to_tree({"a": zeros(2), "b": zeros(3)}, {}, dims={"a": ["p"], "b": ["p"]}),
        "'p' has size 2 in 'a' and 3 in 'b'",
    ),
    "too few chain numbers": (lambda: to_tree({"a": zeros()}, {}, chains=[0]), "1 chain numbers"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_tree_that_cannot_be_is_an_error(kind):
    call, words = WRONG[kind]
    with pytest.raises(DataError, match=words):
        call()


def test_arviz_stats_reads_the_tree():
    import arviz_stats

    rng = np.random.default_rng(0)
    tree = to_tree({"mu": rng.normal(size=(4, 100)), "theta": rng.normal(size=(4, 100, 2))}, {})
    assert arviz_stats.rhat(tree)["theta"].shape == (2,)


@pytest.mark.parametrize("version", [None, "1.3.0", "0.11.0", "0.23.4"])
def test_inference_data_is_given_only_where_arviz_reads_nothing_else(version, monkeypatch):
    class InferenceData:
        @staticmethod
        def from_datatree(tree):
            return ("converted", tree)

    def installed(name):
        if version is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return version

    module = types.SimpleNamespace(InferenceData=object if version == "0.11.0" else InferenceData)
    monkeypatch.setattr(importlib.metadata, "version", installed)
    monkeypatch.setattr(importlib, "import_module", lambda name: module)
    tree = to_tree({"mu": zeros()}, {})
    result = to_arviz(tree)
    assert result == ("converted", tree) if version == "0.23.4" else result is tree
