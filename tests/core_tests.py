"""List the core, tests of every room that take three minutes together, and what is left to the slow tests.

Times decide: `pytest -n auto --junitxml=times.xml` has them. The core is what is quick in every room, with one run of
each kind. What takes more than a second on an idle core is left to the slow tests (`left_to_slow.txt` has a line for
each, or for all members of a table), and so is a member of a table that takes half a second, if cheaper members stay.
The only default test of a promise, an executor, a sampler, a kind of distribution or a law that other rooms rest on
stays. A test of which that is known when it is written is marked `slow` there.
"""

from pathlib import Path

import pytest

CORE = (
    "adaptation/test_marginal.py",
    "adaptation/test_metric.py",
    "adaptation/test_schedule.py",
    "adaptation/test_settled.py",
    "adaptation/test_step_size.py",
    "benchmarks/test_peers.py",
    "bijectors/test_bijectors.py",
    "branches/test_divide.py::test_errors_of_weights_are_those_of_the_evidences",
    "branches/test_divide.py::test_programs_are_all_combinations_that_are_possible_and_matter",
    "calibration/test_calibration.py::test_p_values_and_bands_are_those_of_all_possible_samples",
    "calibration/test_calibration.py::test_the_rank_counts_the_draws_below_and_breaks_ties_at_random",
    "centring/test_centring.py::test_entries_are_centred_where_the_data_say_more_than_the_prior",
    "cli",
    "core",
    "density/test_blame.py",
    "density/test_blame_programs.py",
    "density/test_completed_square.py",
    "density/test_graph.py",
    "density/test_logdensity.py",
    "density/test_provenance.py",
    "density/test_recorded.py",
    "density/test_row_files.py",
    "density/test_simulate.py",
    "density/test_tracing.py",
    "diagnose/test_background_checks.py",
    "diagnose/test_check_cheap.py",
    "diagnose/test_hidden.py",
    "diagnose/test_hierarchy.py",
    "distributions/test_accuracy_grid.py",
    "distributions/test_constraints.py",
    "distributions/test_continuous.py",
    "distributions/test_densities.py::test_discrete_probabilities_are_those_of_scipy_and_sum_to_one",
    "distributions/test_densities.py::test_multivariate_densities_are_those_of_scipy",
    "distributions/test_directional.py",
    "distributions/test_multivariate.py",
    "distributions/test_refusals.py",
    "distributions/test_rest.py",
    "distributions/test_series.py",
    "distributions/test_shapes.py",
    "distributions/test_wrappers.py",
    "docs/test_checking_page.py",
    "docs/test_distributions_page.py",
    "docs/test_errors_page.py",
    "docs/test_notices_page.py",
    "evidence/test_bridge.py",
    "evidence/test_thermodynamic.py::test_the_integral_and_its_correction_are_those_of_families_f44",
    "evidence/test_stepping_stones.py",
    "examples/test_gallery.py",
    "faults/test_faults_workers.py::test_a_run_whose_workers_die_draws_the_same",
    "gp/test_covariances.py",
    "guides/test_guide_laws.py",
    "interop/test_formulas.py::test_errors_say_what_to_do",
    "kernels/test_kernel_laws.py::test_stopping_anywhere_and_going_on_changes_no_bit",
    "kernels/test_nuts_reference.py",
    "kernels/test_trajectory.py",
    "known_answers",
    "language/test_cond.py",
    "language/test_dims.py",
    "language/test_handlers.py",
    "language/test_messages.py",
    "language/test_model.py",
    "language/test_param.py",
    "language/test_reparam_handlers.py",
    "language/test_submodel.py",
    "mcmc/test_bad_ends.py",
    "mcmc/test_draws.py",
    "mcmc/test_long_warm_up.py",
    "mcmc/test_machines.py",
    "mcmc/test_tasks.py",
    "modes/test_modes.py::test_maximum_likelihood_of_a_regression_is_least_squares",
    "nested/test_nested_volumes.py::test_a_likelihood_that_is_constant_has_the_evidence_exactly",
    "nested/test_nested_volumes.py::test_new_points_rank_among_those_there_and_the_new_ones_before",
    "nested/test_nested_evidence.py::test_single_precision_finds_the_same",
    "numpyro/test_numpyro_names.py::test_a_missing_name_raises_where_it_is_used",
    "ode",
    "optimise/test_laplace.py::test_of_a_normal_posterior_it_is_exact",
    "optimise/test_lbfgs.py::test_a_climb_rises_from_point_to_point_and_ends_no_line_where_it_is_steep",
    "parallel/test_gang_door.py",
    "parallel/test_gang_handshake.py",
    "parallel/test_gangs.py",
    "parallel/test_refusals_of_sharding.py",
    "parallel/test_rows_of_plates.py",
    "posteriors/test_example_densities.py",
    "particles/test_filter.py::test_what_does_not_fit_is_an_error_that_names_it",
    "particles/test_particle_gibbs.py::test_states_of_a_linear_gaussian_series_have_their_exact_moments",
    "predictive/test_evaluate.py",
    "predictive/test_model_weights.py",
    "predictive/test_waic.py",
    "predictive/test_where_predicted.py",
    "programs/test_compiler.py",
    "promises",
    "report",
    "reopen/test_methods.py",
    "relabelling/test_relabel.py::test_what_cannot_be_is_refused",
    "resampling/test_resampling.py",
    "runs/test_raising.py",
    "runs/test_units.py",
    "sampler/test_known_targets.py",
    "smc/test_log_weights.py",
    "smc/test_populations.py::test_a_population_does_not_depend_on_others_nor_on_where_it_runs",
    "storage",
    "test_false_alarms.py",
    "test_slow_turns.py",
    "vi/test_path_normals.py",
    "watch/test_follow.py",
)
LEFT_TO_SLOW = tuple((Path(__file__).parent / "left_to_slow.txt").read_text(encoding="utf-8").splitlines())

COLLECTED = pytest.StashKey[set[str]]()
"""All tests of a run, by their nodes, before any is left out."""

_CORE, _LEFT_TO_SLOW = frozenset(CORE), frozenset(LEFT_TO_SLOW)


def is_core(test: str) -> bool:
    """Whether a test, given by its node, is one of these, or of a file or folder of these; slow tests never are."""
    return not _CORE.isdisjoint(names_of(test))


def is_left_to_slow(test: str) -> bool:
    """Whether a test is left to the slow ones, by its own name or by that of its function or file."""
    return not _LEFT_TO_SLOW.isdisjoint(names_of(test))


def names_of(test: str) -> list[str]:
    """Return the names that select a test, below `tests/`: its folder, file, function and node."""
    node = test.removeprefix("tests/")
    function, _, _ = node.partition("[")
    file, _, _ = function.partition("::")
    return [file.partition("/")[0], file, function, node]
