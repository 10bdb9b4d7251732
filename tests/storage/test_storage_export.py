"""Check that exports hold what the run held, and overwrite nothing."""

import importlib.util

import numpy as np
import pytest

from accord.core.errors import StorageError
from accord.report import to_tree
from accord.storage import to_netcdf, to_zarr

has_netcdf = all(importlib.util.find_spec(package) for package in ("h5netcdf", "h5py"))

EXPORTS = {
    "zarr": (to_zarr, "zarr"),
    "nc": pytest.param(
        (to_netcdf, "h5netcdf"), marks=pytest.mark.skipif(not has_netcdf, reason="needs h5netcdf"), id="nc"
    ),
}


@pytest.fixture
def tree():
    rng = np.random.default_rng(0)
    sites = {
        "mu": rng.normal(size=(2, 5)),
        "theta": rng.normal(size=(2, 5, 3)),
        "count": rng.integers(0, 9, (2, 5)),
        "flag": rng.random((2, 5, 2)) < 0.5,
        "single": rng.normal(size=(2, 5)).astype(np.float32),
        "outer/inner": np.full((2, 5), np.nan),
    }
    return to_tree(
        sites,
        {"diverging": np.zeros((2, 5), bool), "lp": np.full((2, 5), -np.inf)},
        chains=[0, 3],
        warmup=(sites, {"lp": np.zeros((2, 5))}),
        observed_data={"y": np.arange(3.0)},
        dims={"theta": ["school"], "y": ["school"]},
        coords={"school": ["Choate", "Deerfield", "Ökö"]},
        attrs={"manifest": {"seed": 0}, "model": "m"},
    )


@pytest.mark.parametrize("kind", [pytest.param(EXPORTS["zarr"], id="zarr"), EXPORTS["nc"]])
def test_an_export_reads_back_equal_and_is_not_overwritten(kind, tree, tmp_path):
    import xarray

    write, engine = kind
    path = tmp_path / "new" / "run"
    write(tree, path)
    with xarray.open_datatree(path, engine=engine) as back:
        xarray.testing.assert_identical(back.load(), tree)
    with pytest.raises(StorageError, match="exists already and is not overwritten"):
        write(tree, path)
    assert [entry.name for entry in path.parent.iterdir()] == ["run"]


def test_a_missing_engine_says_what_to_install(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(StorageError, match=r"pip install \"accord\[netcdf\]\""):
        to_netcdf(tree, tmp_path / "run.nc")


def test_an_export_that_fails_leaves_nothing(tmp_path):
    class Broken:
        def to_zarr(self, path, **options):
            raise OSError(28, "No space left on device")

    with pytest.raises(StorageError, match="No space left"):
        to_zarr(Broken(), tmp_path / "run.zarr")
    assert list(tmp_path.iterdir()) == []
