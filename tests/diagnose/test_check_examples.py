"""Have `infer.check` look at the models that come with accord: it finds no fault with them."""

import pytest

from accord import infer
from accord.cli import examples
from accord.cli.data import read_data
from accord.cli.source import import_model

# Its kernel matrix is nearly singular: in float32 its Cholesky factor fails at half of the points where the posterior
# has its mass, and at some points near the middle; four chains of NUTS end with an R-hat of 10.
TRULY = {("gp_pois_regr", "float32"): ["undefined_log_density", "float32_too_coarse"]}
QUICK = ("eight_schools", "kidscore_interaction")


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize(
    "example",
    [
        pytest.param(each, id=each.name, marks=() if each.name in QUICK else pytest.mark.slow)
        for each in examples.find_all()
    ],
)
def test_an_example_is_found_without_fault(example, precision):
    with import_model(str(example.model)) as function:
        model = function(**read_data(example.data))
    report = infer.check(model, precision=precision)
    found = [each.code for each in (*report.errors, *report.warnings)]
    assert found == TRULY.get((example.name, precision), [])
