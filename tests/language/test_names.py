"""Give sites, plates and labels strange names: each comes back from storage and ArviZ, or is refused at its line."""

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import LogDensity, handlers, infer
from accord.core.errors import AccordError

HALF = "a\ud800b"


def in_model(statement):
    @ac.model
    def model():
        ac.sample("x", dist.Normal(0, 1))
        statement()

    return lambda: model().log_density()


def in_plate(**options):
    def statement():
        with ac.plate(**options):
            ac.sample("z", dist.Normal(0, 1))

    return statement


REFUSED = {
    "sample": in_model(lambda: ac.sample(HALF, dist.Normal(0, 1))),
    "deterministic": in_model(lambda: ac.deterministic(HALF, 1.0)),
    "factor": in_model(lambda: ac.factor(HALF, 0.0)),
    "param": in_model(lambda: ac.param(HALF, 1.0)),
    "key": in_model(lambda: ac.prng_key(HALF)),
    "scan": in_model(lambda: ac.scan(lambda carry, _: (carry, carry), 0.0, None, length=2, name=HALF)),
    "plate": in_model(in_plate(name=HALF, size=2)),
    "labels": in_model(in_plate(name="row", size=2, coords=["a", HALF])),
    "labels in an array": in_model(in_plate(name="row", size=2, coords=np.array(["a", HALF]))),
    "scope": lambda: handlers.scope(lambda: None, prefix=HALF),
    "tree": lambda: LogDensity.from_function(lambda tree: -tree[HALF], {HALF: 0.0}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_name_with_half_of_a_character_is_refused_with_its_place(case):
    with pytest.raises(
        AccordError, match=r"cannot be written as UTF-8: its character 1, '\\ud800'"
    ) as caught:
        REFUSED[case]()
    str(caught.value).encode()  # the error can be written


STRANGE = (
    "x",
    "X",
    "\u00e9",
    "e\u0301",
    "\ufb01",
    "fi",
    "a\0b",
    "a\0c",
    "a\0",
    "a",
    "line\nline",
    "..",
    ".",
    "c:\\con",
    "\u202eabc",
    "\U0001f600",
    " ",
    "a[0]",
    "l" * 4000,
    "l" * 3999 + "m",
)


def test_strange_names_come_back_from_a_folder_and_from_arviz(tmp_path):
    """Also those that only differ by case, by normal form, after a NUL, or after thousands of characters."""

    @ac.model
    def sites():
        unknown = ac.sample("unknown", dist.Normal(0, 1))
        for number, name in enumerate(STRANGE):
            ac.deterministic(name, unknown + number)

    folder = tmp_path / "run"
    draws = infer.sample(sites(), draws=3, warmup=5, chains=1, quiet=True, store=infer.RunFolder(folder))
    loaded = infer.load(folder)
    exported = loaded.to_arviz().posterior.to_dataset()
    assert list(loaded.sites) == ["unknown", *STRANGE]
    for number, name in enumerate(STRANGE):
        for found in (draws[name], loaded[name], np.asarray(exported[name])):
            np.testing.assert_allclose(found, draws["unknown"] + number, rtol=1e-12)
    assert len(draws.summary().to_dataframe()) == len(STRANGE) + 1
    str(draws.summary()).encode()
