"""List bugs to plant in a copy of the source, and for each the tests that must then fail."""

from dataclasses import dataclass

RESUMED = "tests/faults/test_faults_resume.py::test_a_run_that_died_anywhere_is_resumed_to_the_same_draws"
ORACLE = "tests/oracle/test_random_models.py::test_each_term_of_a_random_model_is_that_of_the_oracle"
RECURSION = "tests/kernels/test_nuts_reference.py::test_the_machine_draws_what_the_recursion_draws"
ARVIZ = "tests/report/test_report_diagnostics.py::test_a_measure_equals_that_of_arviz"
JACOBIAN = "tests/bijectors/test_bijectors.py::test_log_det_is_that_of_the_jacobian"
SCIPY = (
    "tests/distributions/test_densities.py::"
    "test_tails_quantiles_and_modes_agree_with_the_density_and_the_cdf_and_scipy"
)
NESTED = "tests/nested/test_nested_evidence.py::"
HANDSHAKE = "tests/parallel/test_gang_handshake.py::"
RELAY = f"{HANDSHAKE}test_a_listener_without_the_secret_proves_nothing_by_what_others_have_said"


@dataclass(frozen=True)
class Bug:
    """A fault that could be made.

    **Fields**
    - `what`: the fault, in words.
    - `file`: below `src/accord`. `old`, `new`: text that is there once, and what is put in its place.
    - `tests`: nodes of pytest, of the default suite, each of which must fail.
    """

    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


BUGS = {
    # The log density of a model.
    "factor without scale": Bug(
        "the scale around a factor is not applied",
        "density/reduction.py",
        "if entries is not None and site.scale is not None:",
        'if entries is not None and site.scale is not None and site.kind == "sample":',
        ("tests/density/test_logdensity.py::test_a_scale_and_a_mask_weigh_the_entries_of_a_factor",),
    ),
    "factor without mask": Bug(
        "the mask around a factor is not applied",
        "density/reduction.py",
        "if entries is not None and site.mask is not None:",
        'if entries is not None and site.mask is not None and site.kind == "sample":',
        ("tests/density/test_logdensity.py::test_a_scale_and_a_mask_weigh_the_entries_of_a_factor",),
    ),
    "inner mask lost": Bug(
        "an inner mask in the step of a scan is lost under an outer mask",
        "language/loops/boundary.py",
        "            mask = site.mask & mask\n",
        "            pass\n",
        ("tests/language/test_scan.py::test_a_mask_in_a_step_holds_under_one_around_the_scan[some]",),
    ),
    "mask replaces mask": Bug(
        "an outer mask replaces an inner mask",
        "language/handlers/weights.py",
        "return site if site.mask is False else replace(site, mask=site.mask & mask)",
        "return site if site.mask is False else replace(site, mask=mask)",
        (f"{ORACLE}[18]",),
    ),
    "scale replaces scale": Bug(
        "an outer scale replaces an inner scale",
        "language/handlers/weights.py",
        "return replace(site, scale=scale if site.scale is None else site.scale * scale)",
        "return replace(site, scale=scale)",
        (f"{ORACLE}[3]",),
    ),
    "weights of an auxiliary": Bug(
        "a scale around a scan is applied to the Jacobian of a reparameterised site in its step",
        "language/reparam/express.py",
        "        site.is_weighted_outside\n        or site.mask",
        "        site.mask",
        (
            "tests/language/test_reparam_handlers.py::test_weights_in_and_around_a_loop_leave_alone_the_jacobian_of_what_is_reparameterised_in_it[scale-outside-scan]",
        ),
    ),
    "non-centred share": Bug(
        "a partly centred site has the scale of a centred site",
        "language/reparam/loc_scale.py",
        "return scale ** (1.0 - share), scale**share",
        "return scale ** (1.0 - share), scale",
        (f"{ORACLE}[4]",),
    ),
    "missing entries misplaced": Bug(
        "observed entries of a site are treated as missing",
        "language/missing.py",
        "(index,) = np.nonzero(~mask.reshape(-1))",
        "(index,) = np.nonzero(mask.reshape(-1))",
        ("tests/language/test_missing.py::test_missing_entries_are_latent_and_have_no_other_place",),
    ),
    "collapsed constant": Bug(
        "the constant of the integral over collapsed sites is wrong",
        "density/eliminate/normal/square.py",
        "math.log(2 * math.pi) / 2",
        "math.log(math.pi) / 2",
        (f"{ORACLE}[5]",),
    ),
    "reverse scan": Bug(
        "a scan in reverse runs forward",
        "language/loops/steps.py",
        "loop.length, reverse=loop.reverse, block=loop.block",
        "loop.length, reverse=False, block=loop.block",
        (f"{ORACLE}[0]",),
    ),
    "subsample weight": Bug(
        "a subsampled plate is weighted by n / size instead of size / n",
        "language/plate.py",
        "weight = self.whole / self.size",
        "weight = self.size / self.whole",
        ("tests/language/test_random.py::test_a_plate_takes_some_rows_without_replacement_and_weighs_them",),
    ),
    # Distributions and maps.
    "half-Cauchy constant": Bug(
        "the half-Cauchy density is too small by a factor of two",
        "distributions/univariate/positive/positive.py",
        "math.log(math.pi / 2)",
        "math.log(math.pi)",
        (f"{SCIPY}[HalfCauchy]",),
    ),
    "log-normal Jacobian": Bug(
        "the log-normal density lacks the factor 1/x",
        "distributions/univariate/positive/positive.py",
        "-0.5 * (z * z) - log_x - (log(scale)",
        "-0.5 * (z * z) - (log(scale)",
        (f"{SCIPY}[LogNormal]",),
    ),
    "Dirichlet constant": Bug(
        "the Dirichlet density lacks the total's part of the normaliser",
        "distributions/multivariate/simplex.py",
        "terms.sum(axis=-1) + log_gamma_remainder(total).squeeze(-1)",
        "terms.sum(axis=-1)",
        (f"{ORACLE}[0]",),
    ),
    "ordered log det": Bug(
        "the log determinant of an ordered vector includes its first element",
        "bijectors/vectors.py",
        "return jnp.cumsum(steps, axis=-1), x[..., 1:].sum(axis=-1)",
        "return jnp.cumsum(steps, axis=-1), x.sum(axis=-1)",
        (f"{JACOBIAN}[ordered]",),
    ),
    "simplex log det": Bug(
        "the log determinant of the simplex lacks its last part",
        "bijectors/vectors.py",
        "return jnp.exp(log_y), log_y.sum(axis=-1)",
        "return jnp.exp(log_y), log_y[..., :-1].sum(axis=-1)",
        (f"{JACOBIAN}[simplex]",),
    ),
    "interval log det": Bug(
        "the log determinant of an interval lacks its width",
        "bijectors/bounded.py",
        "return y, log(width) + log_sigmoid_slope(x)",
        "return y, 0 * log(width) + log_sigmoid_slope(x)",
        (f"{JACOBIAN}[interval]",),
    ),
    # Kernels and adaptation.
    "no turn across halves": Bug(
        "the U-turn test across the two halves of a trajectory is missing",
        "kernels/nuts.py",
        "                | is_turning(metric, tree.joint, new.momentum, total + tree.joint)\n",
        "",
        (f"{RECURSION}[funnel, diagonal metric]",),
    ),
    "leaf weights": Bug(
        "a leaf is chosen with probability proportional to the earlier weights",
        "kernels/nuts.py",
        "is_chosen = is_first | (jnp.log(u_leaf) < weight - log_weight)",
        "is_chosen = is_first | (jnp.log(u_leaf) < weight - old.log_weight)",
        (f"{RECURSION}[funnel, diagonal metric]",),
    ),
    "checkpoint level": Bug(
        "the U-turn test is missing at some levels of subtrees",
        "kernels/trajectory.py",
        "(level >= first_level) & (level <= last_level) & turns",
        "(level > first_level) & (level <= last_level) & turns",
        ("tests/kernels/test_trajectory.py::test_checkpoints_find_the_parts_that_a_search_finds[2-bent]",),
    ),
    "Barker's way back": Bug(
        "Barker's proposal is accepted as if it were symmetric",
        "kernels/barker.py",
        "state.point.log_density + of_signs",
        "state.point.log_density + 0 * of_signs",
        ("tests/sampler/test_known_targets.py::test_averages_are_right[beta-Barker()-8-8-16384]",),
    ),
    "NaN in a slice": Bug(
        "what is no number is inside of an elliptical slice",
        "kernels/elliptical_slice.py",
        "is_inside = (likelihood > ellipse.level) & (ending == Ending.GOOD)",
        "is_inside = ~(likelihood <= ellipse.level)",
        ("tests/kernels/test_elliptical_slice.py::test_no_draw_is_where_the_likelihood_is_no_number",),
    ),
    "factor of a stretch": Bug(
        "a stretch is accepted as if it changed volumes by one more dimension",
        "kernels/moves.py",
        "(here.shape[0] - 1) * jnp.log(z)",
        "here.shape[0] * jnp.log(z)",
        ("tests/kernels/test_ensemble.py::test_moments_of_a_narrow_normal_are_right[stretch-1500]",),
    ),
    "difference from oneself": Bug(
        "a walker of an ensemble moves along its own difference from another",
        "kernels/moves.py",
        "return (who + 1 + first) % count,",
        "return (who + first) % count,",
        ("tests/kernels/test_ensemble.py::test_two_others_are_every_pair_of_walkers_but_the_one_that_moves",),
    ),
    "energy of a jump": Bug(
        "a jump of a discrete entry does not change the energy that leapfrog steps conserve",
        "kernels/mixed_hmc.py",
        "energy = path.energy - jnp.where(is_jump, change, 0)",
        "energy = path.energy",
        ("tests/kernels/test_mixed_hmc.py::test_a_site_that_nothing_depends_on_has_its_shares",),
    ),
    "blocks that do not adapt": Bug(
        "of the blocks of a Gibbs sampler, only the first learns from its draws",
        "adaptation/each_block.py",
        "in update.own if isinstance(update, UpdateOfBlocks) else every:",
        "in every[:1]:",
        ("tests/kernels/test_gibbs.py::test_each_block_adapts_to_what_it_moves",),
    ),
    "scale of a conditional": Bug(
        "draws of a conditional distribution are a fifth too large",
        "density/conditional.py",
        "name: found[name].sample(jax.random.fold_in(key, number))",
        "name: 1.2 * found[name].sample(jax.random.fold_in(key, number))",
        ("tests/kernels/test_conditional.py::test_draws_are_those_of_the_posterior[a mean beside NUTS]",),
    ),
    "support out of order": Bug(
        "a sweep over the values of a discrete entry leaves out the smallest, and takes the present one",
        "kernels/discrete_gibbs.py",
        "value = value + (~is_step & (value >= now))",
        "value = value + ~is_step",
        ("tests/kernels/test_discrete_gibbs.py::test_nothing_cancels_where_one_value_is_nearly_certain",),
    ),
    "labels without their scale": Bug(
        "discrete sites are drawn at once from tables that forget the scale of a site",
        "density/eliminate/discrete/tables.py",
        "-jnp.inf, table.entries * table.scale)",
        "-jnp.inf, table.entries)",
        (
            "tests/density/eliminate/discrete/test_redrawn.py::test_draws_have_the_probabilities[masks and scales]",
        ),
    ),
    "moves that are all accepted": Bug(
        "labels that are drawn at once move to whatever other value they propose",
        "density/eliminate/discrete/redrawn.py",
        "< log_rest - log_others)",
        "< 0.0)",
        (
            "tests/density/eliminate/discrete/test_redrawn.py::test_moves_keep_the_probabilities[entries apart]",
            "tests/density/eliminate/discrete/test_redrawn.py::test_a_move_has_the_probabilities_of_the_formula",
        ),
    ),
    "one end of a bracket": Bug(
        "a bracket of a slice does not step out to the right",
        "kernels/bracket.py",
        "jnp.where((phase == _RIGHT) & (right_room == 0), _SHRINK, phase)",
        "jnp.where(phase == _RIGHT, _SHRINK, phase)",
        ("tests/sampler/test_known_targets.py::test_averages_are_right[beta-Slice()-8-8-6144]",),
    ),
    "trades the wrong way": Bug(
        "replicas trade places the more often, the less they should",
        "kernels/tempered.py",
        "(heights[:-1] - heights[1:])",
        "(heights[1:] - heights[:-1])",
        ("tests/kernels/test_tempered.py::test_modes_have_their_weights_and_the_evidence_is_right[slices]",),
    ),
    "likelihood left behind": Bug(
        "a replica that has moved keeps the likelihood of where it stood",
        "kernels/tempered.py",
        "is_kept = is_done & ~is_probe & ((is_known & ~is_still) | (turn == _CLOSE))",
        "is_kept = is_done & ~is_probe & (turn == _CLOSE)",
        ("tests/kernels/test_tempered.py::test_modes_have_their_weights_and_the_evidence_is_right[slices]",),
    ),
    "batch as one": Bug(
        "a batch of points shrinks the prior as if each had been replaced before the next",
        "nested/volumes.py",
        "within = np.arange(num_replaced) % batch",
        "within = np.zeros(num_replaced, int)",
        (
            "tests/nested/test_nested_volumes.py::"
            "test_the_evidence_of_ideal_runs_is_right_and_its_error_their_spread[in batches]",
        ),
    ),
    "ties count as above": Bug(
        "new points of nested sampling may go wherever the likelihood is that of the floor",
        "nested/moves.py",
        "(is_equal & (tie > self.tie))",
        "is_equal",
        (f"{NESTED}test_a_likelihood_of_steps_has_its_evidence",),
    ),
    "prior left out": Bug(
        "new points of nested sampling are not drawn by the prior",
        "nested/moves.py",
        "is_likely = (log_prior > point.log_prior + move.level) & (log_prior < jnp.inf)",
        "is_likely = jnp.isfinite(log_prior)",
        (f"{NESTED}test_a_likelihood_of_steps_has_its_evidence",),
    ),
    "places by the direction": Bug(
        "places that nested sampling tries come of the numbers of their direction, in five unknowns and more",
        "nested/moves.py",
        "keys.uniforms(key, tries.astype(jnp.uint32), jnp.uint32(_PLACE), position.dtype)",
        "keys.uniforms(key, jnp.uint32(_PLACE), tries.astype(jnp.uint32), position.dtype)",
        ("tests/nested/test_nested_moves.py::test_points_above_a_floor_keep_their_distribution",),
    ),
    "noise of a Langevin step": Bug(
        "a Langevin step has half of the variance of its noise",
        "kernels/minibatches.py",
        "jnp.sqrt(2 * friction * rate)",
        "jnp.sqrt(friction * rate)",
        ("tests/kernels/test_minibatches.py::test_langevin_steps_have_their_exact_variance[0.1-0.0]",),
    ),
    "one part for ever": Bug(
        "all steps of a draw take the same part of the data",
        "kernels/minibatches.py",
        "keys.item(of_step, jnp.uint32(_BATCH)",
        "keys.item(key, jnp.uint32(_BATCH)",
        ("tests/kernels/test_minibatches.py::test_steps_with_a_momentum_have_their_exact_variance[0.3-7]",),
    ),
    "momentum apart from the place": Bug(
        "a draw along stochastic gradients begins with a momentum that knows nothing of the place",
        "kernels/minibatches.py",
        "start = start - rate / (2 - friction) * begin.gradient",
        "start = start + 0.0 * begin.gradient",
        ("tests/kernels/test_minibatches.py::test_steps_with_a_momentum_have_their_exact_variance[0.1-2]",),
    ),
    "integral of weighted terms": Bug(
        "of an integral over a site of a subsampled plate, what is integrated is weighted",
        "density/eliminate/without.py",
        "weight = weight_of(whole, groups, data)",
        "weight = min(1.0, weight_of(whole, groups, data))",
        (
            "tests/kernels/test_local_unknowns.py::"
            "test_the_mean_over_all_parts_is_the_log_density_without_the_sites[exactly]",
        ),
    ),
    "noise that is left in": Bug(
        "the estimate of a log density is not corrected for its noise",
        "density/control.py",
        "whole + mean - correction",
        "whole + mean",
        ("tests/kernels/test_hmcecs.py::test_the_correction_makes_the_mean_density_right",),
    ),
    "parts for nothing": Bug(
        "a part of the data is exchanged whatever the log density says",
        "kernels/hmcecs.py",
        "is_accepted = is_exchange & (u < ratio)",
        "is_accepted = is_exchange",
        ("tests/kernels/test_hmcecs.py::test_draws_follow_the_marginal_of_a_noisy_target[HMC]",),
    ),
    "step size average": Bug(
        "the average of step sizes forgets too slowly",
        "adaptation/step_size.py",
        "weight = count**-_DECAY",
        "weight = count**-1.0",
        ("tests/adaptation/test_step_size.py::test_averaging_is_that_of_hoffman_and_gelman",),
    ),
    "step size not frozen": Bug(
        "sampling uses the last step size of warm-up instead of the average",
        "adaptation/step_size.py",
        "step_size=jnp.exp(state.log_average))",
        "step_size=state.step_size)",
        ("tests/adaptation/test_step_size.py::test_only_the_last_draw_of_warm_up_settles_on_the_average",),
    ),
    # Keys.
    "two uses, one key": Bug(
        "predictions use the random keys of the draws",
        "core/keys.py",
        "USE_PREDICT = 5",
        "USE_PREDICT = 0",
        ("tests/kernels/test_keys.py::test_each_use_has_a_number_of_its_own",),
    ),
    "uniform cells": Bug(
        "a uniform random number may be zero",
        "core/keys.py",
        "return high + low + 2.0**-53",
        "return high + low",
        ("tests/kernels/test_keys.py::test_uniform_numbers_lie_strictly_between_zero_and_one[float64]",),
    ),
    # Runs, stores and resuming.
    "resume keeps two segments": Bug(
        "a resumed warm-up uses only the last two of its segments",
        "mcmc/stored/restore.py",
        "chain.window = [_rows(segment, plan) for segment in segments or run.segments(number)]",
        "chain.window = [_rows(segment, plan) for segment in (segments or run.segments(number))[-2:]]",
        (f"{RESUMED}[long warm-up-after many segments]",),
    ),
    "segments in another order": Bug(
        "the segments of a chain are joined in reverse order",
        "storage/joined.py",
        "[each for each in chain if each.phase == phase and each.arrays] for chain in chains]",
        "[each for each in chain[::-1] if each.phase == phase and each.arrays] for chain in chains]",
        ("tests/storage/test_joined.py::test_chains_are_joined_and_cut_to_the_shortest[memory]",),
    ),
    # Diagnostics and results.
    "R-hat without splitting": Bug(
        "R-hat is computed from whole chains instead of split chains",
        "report/diagnostics.py",
        "    halves = split(columns)\n    scores",
        "    halves = columns\n    scores",
        (f"{ARVIZ}[r_hat-slow]",),
    ),
    "ESS of odd lags": Bug(
        "the effective sample size counts the last even term twice",
        "report/autocorrelation.py",
        "-1.0 + 2.0 * decreasing + last,",
        "-1.0 + 2.0 * decreasing + 2.0 * last,",
        (f"{ARVIZ}[ess_mean-slow]",),
    ),
    "error of the sd": Bug(
        "the Monte Carlo error of a standard deviation is computed for the variance",
        "report/diagnostics.py",
        "ess_of_means(squares) / variance) / 2",
        "ess_of_means(squares) / variance)",
        (
            "tests/report/test_report_diagnostics.py::test_the_error_of_the_sd_uses_the_ess_of_squared_deviations[independent]",
        ),
    ),
    "summary quantiles": Bug(
        "the 5% and 95% columns of the summary hold other quantiles",
        "report/selecting.py",
        '(f"{_percent(each)}%", each) for each in (tail, 0.5, 1 - tail)',
        '(f"{_percent(each)}%", each**2) for each in (tail, 0.5, 1 - tail)',
        ("tests/report/test_report_summary.py::test_the_table_has_a_row_per_scalar_and_the_right_numbers",),
    ),
    "variance of WAIC": Bug(
        "the variance in WAIC divides by n draws instead of n - 1",
        "predictive/waic.py",
        "draws.var(axis=0, ddof=1)",
        "draws.var(axis=0)",
        (
            "tests/predictive/test_waic.py::test_variances_over_draws_and_the_error_over_observations_are_those_of_a_sample",
        ),
    ),
    "error of WAIC": Bug(
        "the error of WAIC divides by n observations instead of n - 1",
        "predictive/waic.py",
        "pointwise.var(ddof=1)",
        "pointwise.var()",
        (
            "tests/predictive/test_waic.py::test_variances_over_draws_and_the_error_over_observations_are_those_of_a_sample",
        ),
    ),
    "silent divergences": Bug(
        "divergent draws are not reported",
        "report/rules/ends.py",
        "if diverging is None or not diverging.any():",
        "if True:",
        (
            "tests/report/test_report_notices.py::test_a_rule_speaks_with_its_number_its_sites_and_a_remedy[diverging]",
        ),
    ),
    # Derivatives.
    "start of an equation": Bug(
        "the derivative of an ODE solution by its start time has the wrong sign",
        "ode/sensitivities.py",
        "first -= directions[1]",
        "first += directions[1]",
        ("tests/ode/test_ode.py::test_what_begins_later_has_moved_less",),
    ),
    "slopes of a sharded sum": Bug(
        "the gradient of a sum over blocks lacks the parameters inside blocks",
        "density/rows/blocks.py",
        "    return total, (by_shared, by_own)\n",
        "    return total, (by_shared, jax.tree.map(jnp.zeros_like, by_own))\n",
        ("tests/parallel/test_chunks.py::test_value_gradient_and_terms_are_those_of_all_rows_at_once",),
    ),
    # The door of a gang.
    "proof without side": Bug(
        "the proofs of both sides of a gang's handshake are equal",
        "executors/gangs/handshake.py",
        'label + b"\\0" + transcript, DIGEST',
        'transcript + b"\\0", DIGEST',
        (f"{RELAY}[member and host agent]",),
    ),
    "proof without role": Bug(
        "a gang's proofs leave the role out",
        "executors/gangs/handshake.py",
        'label + b"\\0" + transcript, DIGEST',
        'label + b"\\0" + transcript[len(PROTOCOL) + 1 :], DIGEST',
        (f"{RELAY}[member and host agent]",),
    ),
    "proof without joiner's nonce": Bug(
        "a gang's proofs leave the joiner's nonce out",
        "executors/gangs/handshake.py",
        'label + b"\\0" + transcript, DIGEST',
        'label + b"\\0" + transcript[:-NONCE_SIZE], DIGEST',
        (f"{RELAY}[member and member]",),
    ),
    "proof without listener's nonce": Bug(
        "a gang's proofs leave the listener's nonce out",
        "executors/gangs/handshake.py",
        'label + b"\\0" + transcript, DIGEST',
        'label + b"\\0" + transcript[: len(PROTOCOL) + 1] + transcript[-NONCE_SIZE:], DIGEST',
        (f"{RELAY}[member and member]",),
    ),
    "messages without numbers": Bug(
        "a gang's messages are proven without their numbers",
        "executors/gangs/session.py",
        'hmac.new(key, part + number.to_bytes(8, "big"), DIGEST)',
        "hmac.new(key, part, DIGEST)",
        (f"{HANDSHAKE}test_a_message_that_was_not_sent_next_is_not_opened[repeated]",),
    ),
    "size without proof": Bug(
        "the size of a gang's message is used without its proof",
        "executors/gangs/session.py",
        "        _check(header[_SIZE:], _proof(key, _OF_SIZE, number, header[:_SIZE]))\n",
        "",
        (f"{HANDSHAKE}test_a_message_with_any_bit_turned_is_not_opened",),
    ),
    # More of each room.
    "error of the mean": Bug(
        "the error of the mean divides by the number of draws instead of the effective sample size",
        "report/diagnostics.py",
        "unit * sd / np.sqrt(ess_of_means(columns))",
        "unit * sd / np.sqrt(size)",
        (f"{ARVIZ}[mcse_mean-slow]",),
    ),
    "estimate made anew": Bug(
        "a walk on noisy estimates of the density makes the one of the accepted point anew before each proposal",
        "kernels/pmmh.py",
        "where(is_taken, point, state.point), jnp.zeros((), bool), point.position, kept",
        "where(is_taken, point, state.point), ~is_entering, point.position, kept",
        (
            "tests/kernels/test_kept_estimates.py::test_an_estimate_that_is_kept_leaves_the_distribution_exact",
        ),
    ),
    "chains share a key": Bug(
        "neighbouring chains use the same random numbers",
        "core/keys.py",
        "    return fold(root, np.uint32(chain))\n",
        "    return fold(root, np.uint32(chain // 2))\n",
        ("tests/kernels/test_keys.py::test_neighbouring_seeds_and_chains_share_no_key",),
    ),
    "names of draws": Bug(
        "two sampled sites use the same random numbers",
        "language/handlers/seed.py",
        "zlib.crc32(name.encode())",
        "len(name)",
        ("tests/language/test_random.py::test_keys_depend_on_the_seed_and_the_name",),
    ),
}
