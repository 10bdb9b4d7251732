"""Name a test for each silent wrong answer that another library was seen to give.

Each is a case in which a library returns numbers without a word, and they are wrong. Here accord is right, or refuses.
"""

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

TESTS = Path(__file__).parents[1]


class Silent(NamedTuple):
    """What goes wrong elsewhere, and where it is tested here. **Fields**: `what`; `file`; `tests` in it."""

    what: str
    file: str
    tests: tuple[str, ...]


SILENT = {
    "W1": Silent(
        "the score of a part of the rows is scaled twice, by (N/n) squared",
        "vi/test_scored_guides.py",
        ("test_the_scale_of_a_part_weighs_costs_and_no_scores",),
    ),
    "W2": Silent(
        "the scale of a site that is summed out is inside of its sum",
        "density/eliminate/discrete/test_discrete_answers.py",
        ("test_a_scale_is_outside_of_the_sum",),
    ),
    "W3": Silent(
        "a masked label that is summed out adds the log of how many values it has, or cuts its chain",
        "density/eliminate/discrete/test_silent_elsewhere.py",
        ("test_labels_that_are_masked_add_nothing", "test_a_masked_step_does_not_cut_its_chain"),
    ),
    "W4": Silent(
        "Gibbs proposes indices of a support that does not begin at 0",
        "kernels/test_discrete_gibbs.py",
        ("test_values_are_those_of_the_support_and_not_its_indices",),
    ),
    "W5": Silent(
        "walkers of an ensemble change their places, so that effective sample sizes are too large",
        "kernels/test_ensemble.py",
        ("test_effective_sample_sizes_are_those_of_repeated_runs",),
    ),
    "W6": Silent(
        "an elliptical slice takes a point at which the likelihood is no number",
        "kernels/test_elliptical_slice.py",
        ("test_no_draw_is_where_the_likelihood_is_no_number",),
    ),
    "W7": Silent(
        "all proposals for the evidence of a branch share one noise, so that its probability depends on the seed",
        "branches/test_divide.py",
        (
            "test_programs_have_their_probabilities_and_their_shares_of_the_draws",
            "test_no_seed_gives_all_to_one_program",
            "test_what_is_not_known_well_enough_is_not_pooled",
        ),
    ),
    "W8": Silent(
        "a log weight that is no number counts as 0, more than those that are finite",
        "smc/test_smc_draws.py",
        ("test_likelihoods_that_are_no_numbers_count_as_zero_and_are_told",),
    ),
    "W9": Silent(
        "the other ancestors of a conditional filter do not follow from the reference's, and its draws are biased",
        "particles/test_particle_gibbs.py",
        (
            "test_ancestors_that_do_not_know_the_reference_bias_the_draws",
            "test_states_of_a_hidden_chain_have_their_exact_marginals",
        ),
    ),
}


@pytest.mark.parametrize("case", SILENT)
def test_each_silent_wrong_answer_has_a_test(case: str) -> None:
    _, file, names = SILENT[case]
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    functions = {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    assert functions.issuperset(names)
