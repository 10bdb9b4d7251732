"""Hold promise P1 over models and ways of running them: every array has the same bits, as `docs/identity.md` shows."""

import pytest
from identity_models import CASES, CONTROLLED
from identity_ways import EQUAL, WAYS, compare, control

# The others of `docs/identity.md` are models like these: its command runs them all.
FULL = [name for name in CASES if name not in ("kidscore_interaction", "garch11", "hmm_example")]
QUICK = (
    "Threads(2)",
    "short blocks of a few gradients",
    "stored, and loaded without the model",
    "one chain alone",
)


@pytest.mark.parametrize("name", ["eight_schools", "offset of 1e5, 30% masked"])
def test_a_model_has_the_same_bits_in_a_few_ways(name):
    cells, compared = compare(name, QUICK)
    assert set(cells.values()) == {EQUAL}, cells
    assert compared > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_a_model_has_the_same_bits_in_every_way(name):
    cells, _ = compare(name)
    expected = {label: EQUAL if way.fits(CASES[name]) else "" for label, way in WAYS.items()}
    assert cells == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTROLLED)
def test_bits_that_can_move_do_so_where_they_are_not_held(name):
    if not control(name):
        pytest.skip("one core has one order of summation")
    assert control(name) == "differs"
