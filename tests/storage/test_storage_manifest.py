"""Check that a manifest is plain, frozen and comparable."""

import json

import numpy as np
import pytest

from accord.core.errors import StorageError
from accord.storage import Manifest

FIELDS = {
    "model": "m",
    "target": {"a": (1, 2)},
    "sampler": {"name": "NUTS"},
    "seed": np.int64(3),
    "precision": "float64",
    "lanes": 1,
    "chains": [0, 1],
    "draws": 10,
    "warmup": 10,
    "thinning": 1,
}


def test_a_manifest_is_plain_json_and_stamped():
    manifest = Manifest.new({**FIELDS, "layout": {"coords": {"school": np.array(["A", "B"])}}})
    assert json.loads(manifest.text) == dict(manifest)
    assert manifest["seed"] == 3
    assert manifest["target"] == {"a": [1, 2]}
    assert manifest["layout"]["coords"]["school"] == ["A", "B"]
    assert {"accord", "jax", "jaxlib", "numpy"} == set(manifest["versions"])
    assert len(manifest.run_id) == 32
    assert manifest["created"].endswith("+00:00")
    assert manifest.chains == [0, 1]


def test_two_runs_have_two_names():
    assert Manifest.new(FIELDS).run_id != Manifest.new(FIELDS).run_id


def test_a_manifest_is_frozen():
    manifest = Manifest.new(FIELDS)
    manifest["sampler"]["name"] = "HMC"
    assert manifest["sampler"]["name"] == "NUTS"
    with pytest.raises(AttributeError, match="frozen"):
        manifest.seed = 1
    assert manifest == Manifest(dict(manifest))
    assert hash(manifest) == hash(Manifest(dict(manifest)))
    assert manifest != Manifest.new(FIELDS)


def test_differences_name_what_changed_and_nothing_else():
    stored = Manifest.new(FIELDS)
    given = Manifest.new({**FIELDS, "seed": 4, "nproc": 2})
    assert stored.differences(stored) == []
    assert stored.differences(given) == ["nproc: nothing stored, 2 given", "seed: 3 stored, 4 given"]


def drop(name):
    return {key: value for key, value in FIELDS.items() if key != name}


WRONG = {
    "a misspelt field": (lambda: Manifest.new({**FIELDS, "thining": 1}), "Did you mean 'thinning'"),
    "a field missing": (lambda: Manifest.new(drop("seed")), "seed"),
    "an object": (lambda: Manifest.new({**FIELDS, "settings": {"f": print}}), "JSON"),
    "a format to come": (lambda: Manifest({**Manifest.new(FIELDS), "format": 99}), "format 99"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_manifest_says_what_is_wrong(kind):
    call, words = WRONG[kind]
    with pytest.raises(StorageError, match=words):
        call()
