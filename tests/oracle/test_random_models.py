"""Hold random models against an oracle in NumPy that shares no code with accord.

A model is made from an integer, as a description. Code for accord is written from it, which a failing test prints, and
the oracle reads it with the formulas of textbooks.
"""

from collections import Counter
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from generate import description
from laws import compiled
from oracle import Point, gradient, read
from written import built, code

from accord import infer
from accord.core import precision

NUM_MODELS = 200
NUM_DEFAULT = 50  # each takes most of a second
EACH = [
    *range(NUM_DEFAULT),
    *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(NUM_DEFAULT, 1000)),
]
SOME = [
    *range(0, NUM_MODELS, 16),
    *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 1000, 8)),
]
FEW = [
    *range(1, NUM_MODELS, 40),
    *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(11, 1000, 40)),
]
# What every model has is left out: the first statement is a latent site.
WANTED = {
    "Plate in Plate": 20,
    "Mask in Mask": 5,
    "Scale in Scale": 5,
    "Factor in Mask": 5,
    "Factor in Scale": 5,
    "Scan": 30,
    "Scan in Plate": 10,
    "Mask in Scan": 10,
    "Scan in Mask": 5,
    "Cond": 15,
    "Submodel": 15,
    "Submodel in Plate": 5,
    "obs_mask": 20,
    "obs_mask in Mask": 3,
    "centered": 40,
    "centered in Scan": 15,
    "transformed": 5,
    "collapsed": 8,
    "condition": 3,
    "do": 3,
    "low from an unknown": 5,
    "high from an unknown": 10,
}


def expected_of(model):
    """What the oracle says at a random point, and the point."""
    point = Point(np.random.default_rng([1, model.seed]))
    with np.errstate(all="ignore"):  # of entries that a mask leaves out
        return read(model, point), point.whole, list(point.pieces)


@pytest.mark.parametrize("seed", EACH)
def test_each_term_of_a_random_model_is_that_of_the_oracle(seed):
    model = description(seed)
    print(code(model))
    expected, position, unknowns = expected_of(model)
    with precision.scope("float64"):
        density = built(model).log_density()
        terms = compiled(density.site_terms)(position)
    assert unknowns == [entry.name for entry in density.layout.entries]
    if not model.collapsed:  # then the terms are of the model at the mean of what is integrated out
        assert {*terms} <= {*expected.terms}  # a site that is masked as a whole has no term
        for name, term in expected.terms.items():
            assert abs(float(terms.get(name, 0.0)) - term) <= 1e-12 * expected.sizes[name], name
    assert abs(sum(map(float, terms.values())) - expected.log_density) <= 1e-12 * expected.size


@pytest.mark.parametrize("seed", SOME)
def test_gradient_and_values_of_a_random_model_are_those_of_the_oracle(seed):
    model = description(seed)
    print(code(model))
    expected, position, _ = expected_of(model)
    with np.errstate(all="ignore"):
        slopes = gradient(model, position)
    with precision.scope("float64"):
        density = built(model).log_density()
        (value, found), values = compiled(lambda x: (density.value_and_grad(x), density.constrain(x)))(
            position
        )
    assert abs(float(value) - expected.log_density) <= 1e-12 * expected.size
    # Differences of order eight with steps of 0.01: rounding leaves 1e-14 / 0.01 of the sizes, the order less.
    np.testing.assert_allclose(found, slopes, rtol=1e-7, atol=1e-11 * expected.size)
    for name, each in values.items():
        if name not in model.collapsed:
            np.testing.assert_allclose(each, expected.values[name], rtol=1e-12, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("seed", FEW)
def test_the_log_likelihood_of_each_observation_of_a_random_model_is_that_of_the_oracle(seed):
    model = description(seed)
    print(code(model))
    expected, _, unknowns = expected_of(model)
    target = built(model)
    names = [entry.name for entry in target.log_density().layout.observed]
    if model.collapsed or not names:
        pytest.skip("it observes nothing, or its unknowns are integrated out")
    found = infer.log_likelihood({name: expected.values[name][None, None] for name in unknowns}, target)
    for name in names:
        np.testing.assert_allclose(
            found[name][0, 0], expected.entries[name], rtol=1e-12, atol=1e-12, err_msg=name
        )


def test_the_random_models_have_all_that_a_model_can_have():
    found = Counter()
    for seed in range(NUM_MODELS):
        if seed == NUM_DEFAULT:
            assert not {words for words in WANTED if not found[words]}
        model = description(seed)
        found.update({"centered": len(model.centered), "transformed": len(model.transformed)})
        found.update(
            {"collapsed": len(model.collapsed), "condition": len(model.condition), "do": len(model.do)}
        )
        count(model.body, (), found)
    assert not {words: (found[words], least) for words, least in WANTED.items() if found[words] < least}


def test_a_description_is_a_function_of_its_number_and_prints_as_code_that_runs():
    assert description(7) == description(7) != description(8)
    text = code(description(7))
    assert "@ac.model" in text and text.endswith("\n")
    compile(text, "description", "exec")


def count(part, around, found):
    """Count each kind of statement, and each in each other."""
    if isinstance(part, tuple):
        for each in part:
            count(each, around, found)
        return
    if not is_dataclass(part):
        return
    kind = type(part).__name__
    kinds = [kind, *(["obs_mask"] if getattr(part, "obs_mask", None) else [])]
    for each in kinds:
        found.update([each, *(f"{each} in {other}" for other in {*around})])
    if kind == "Scan":
        found["centered in Scan"] += len(part.centered)
    if kind == "Sample" and part.data is None:
        unknown = {key for key, value in part.family.parameters if type(value).__name__ != "Numbers"}
        found.update(f"{end} from an unknown" for end in ("low", "high") if end in unknown)
    for field in fields(part):
        count(getattr(part, field.name), (*around, kind), found)
