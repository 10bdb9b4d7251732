"""Check `accord bug`: what it packs is enough for a report, and has neither data nor draws."""

import json
import zipfile

import numpy as np
import pytest

from accord import infer

SECRET = 2.71828182


@pytest.fixture
def run(folder, accord):
    data = {"x": [1, 2, 3], "y": [SECRET, 3.9, 6.2]}
    (folder / "data.json").write_text(json.dumps(data))
    options = ("--draws", "30", "--warmup", "30", "--quiet", "--executor", "serial", "--out", "run")
    accord("sample", "one.py", "--data", "data.json", *options)
    return folder / "run"


def test_a_run_is_packed_without_its_data_and_draws(run, accord):
    status, out, _ = accord("bug", "run")
    assert status == 0 and "no data and no draws" in out
    with zipfile.ZipFile("run-bug.zip") as file:
        parts = {name: json.loads(file.read(name)) for name in file.namelist()}
        packed = "".join(file.read(name).decode() for name in file.namelist())
    assert sorted(parts) == ["manifest.json", "notices.json", "segments.json", "versions.json"]
    assert parts["manifest.json"]["model"] == "slope"
    assert parts["manifest.json"]["data"]["y"] == {"dtype": "float64", "shape": [3]}
    assert {each["code"] for each in parts["notices.json"]} == {
        each.code for each in infer.load("run").notices
    }
    assert parts["versions.json"]["jax"] and all(size > 0 for size in parts["segments.json"].values())
    draws = infer.load("run")
    hashes = json.loads((run / "manifest.json").read_text())["content"]["data_hashes"].values()
    unwanted = [str(SECRET), *map(str, draws["b"].ravel()[:5]), *hashes]
    assert not [each for each in unwanted if each in packed]
    assert np.isfinite(draws["b"]).all()


def test_labels_of_dims_are_counted_and_not_told(run, accord):
    manifest = json.loads((run / "manifest.json").read_text())["content"]
    from accord.cli.bugs import without_data

    manifest["layout"]["coords"] = {"patient": ["Ann", "Bob"]}
    assert without_data(manifest)["layout"]["coords"] == {"patient": 2}
    assert manifest["layout"]["coords"] == {"patient": ["Ann", "Bob"]}


def test_what_cannot_be_written_is_refused(run, accord):
    assert accord("bug", "run", "--output", "a.txt")[0] == 2
    assert accord("bug", "nothing")[0] == 2
    assert accord("bug", "run")[0] == 0
    status, _, err = accord("bug", "run")
    assert status == 2 and "is here already" in err


def test_a_fit_is_packed(folder, accord):
    accord("fit", "one.py", "--data", "data.json", "--out", "fit", "--steps", "20", "--quiet")
    status, out, _ = accord("bug", "fit")
    assert status == 0 and "fit-bug.zip" in out
