"""Check that each rule speaks when it should, says its number, and is silent otherwise."""

import numpy as np
import pytest

from accord.report import evidence as evidence_module
from accord.report import examine
from accord.report.evidence import Form


def good_run(num_chains: int = 4, num_draws: int = 1000) -> dict[str, dict[str, np.ndarray]]:
    """Independent draws with the statistics of a healthy sampler."""
    rng = np.random.default_rng(0)
    shape = (num_chains, num_draws)
    sites = {
        "mu": rng.normal(size=shape),
        "tau": np.exp(rng.normal(size=shape)),
        "theta": rng.normal(size=(*shape, 3)),
        "corr": np.broadcast_to(np.eye(2), (*shape, 2, 2)).copy(),
        "count": rng.poisson(2.0, shape),
    }
    stats = {
        "lp": rng.normal(size=shape),
        "energy": rng.normal(size=shape),
        "diverging": np.zeros(shape, bool),
        "non_finite": np.zeros(shape, np.int32),
        "n_steps": np.full(shape, 7),
        "tree_depth": np.full(shape, 3),
        "acceptance_rate": np.full(shape, 0.9),
        "step_size": np.full(shape, 0.5),
    }
    return {"sites": sites, "stats": stats}


OPTIONS = {
    "latents": ["mu", "tau", "theta"],
    "dim": 5,
    "max_tree_depth": 10,
    "target_accept": 0.8,
    "dims": {"theta": ["school"]},
    "coords": {"school": ["A", "B", "C"]},
}


def look(run, **options):
    return examine(run["sites"], run["stats"], **{**OPTIONS, **options})


def test_a_good_run_has_no_notices():
    assert look(good_run()) == []


def diverging(run):
    run["stats"]["diverging"] = run["sites"]["tau"] < np.quantile(run["sites"]["tau"], 37 / 4000)


def diverging_anywhere(run):
    run["stats"]["diverging"][:, ::100] = True


def diverging_large(run):
    run["stats"]["diverging"] = run["sites"]["theta"][:, :, 1] > 2.2


def diverging_at_any_element(run):
    run["stats"]["diverging"][:, ::25] = True
    which = np.arange(160).reshape(4, 40) % 3
    np.put_along_axis(run["sites"]["theta"][:, ::25], which[..., None], 6.0, axis=2)


def diverging_in_one_place(run):
    # Twice, a chain is held where `mu` is small.
    for start in (200, 600):
        run["stats"]["diverging"][1, start : start + 50] = True
        run["sites"]["mu"][1, start : start + 50] = run["sites"]["mu"].min()


def apart(run):
    run["sites"]["theta"][2, :, 1] += 5.0


def slightly_apart(run):
    run["sites"]["theta"][2, :, 1] += 0.4


def slow(run):
    walk = np.cumsum(np.random.default_rng(1).normal(size=(4, 1000)), axis=1)
    run["sites"]["mu"] = walk


def few_in_the_tail(run):
    # Far values come only in the middle of each chain, as when it enters a neck once.
    run["sites"]["mu"] *= np.exp(-np.square(np.linspace(-6, 6, 1000))) + 0.1


def stuck(run):
    for name in run["sites"]:
        run["sites"][name][2] = run["sites"][name][2, :1]


def stuck_in_one_site(run):
    run["sites"]["theta"][1, :, 2] = 0.5


def saturated(run):
    run["stats"]["tree_depth"][0, :500] = 10


def rarely_saturated(run):
    run["stats"]["tree_depth"][0, :2] = 10


def low_energy(run):
    run["stats"]["energy"][2] = np.cumsum(run["stats"]["energy"][2])


def rarely_diverging(run):
    run["stats"]["diverging"][0, :4] = True


def mostly_diverging(run):
    run["stats"]["diverging"][:, ::2] = True


def barely_apart(run):
    run["sites"]["theta"][2, :, 1] += 0.35


def barely_apart_and_slow(run):
    walk = np.cumsum(np.random.default_rng(3).normal(size=(4, 1000)), axis=1)
    run["sites"]["theta"][:, :, 1] += 0.2 * walk / walk.std()


def two_modes(run):
    run["sites"]["mu"][1:3] += 20.0


def left_behind(run):
    """Chain 3 stayed in a narrow place on the way."""
    run["sites"]["mu"][3] = 20.0 + 0.1 * run["sites"]["mu"][3]
    run["stats"]["lp"][3] -= 5000.0


def wider_below(run):
    """The neck of a funnel is higher than its bulk, and no better."""
    two_modes(run)
    run["stats"]["lp"][3] -= 150.0
    for name in ("tau", "theta"):
        run["sites"][name][3] *= 1e6


def two_modes_close_by(run):
    run["sites"]["mu"][1:3] += 2.0


def in_another_order(run):
    run["sites"]["theta"] += np.array([0.0, 10.0, 20.0])
    run["sites"]["theta"][1:3] = run["sites"]["theta"][1:3, :, [1, 0, 2]]
    run["sites"]["mu"][1:3] += 50.0


def changing_places(run):
    """Three components, whose order changes a few times in each chain."""
    run["sites"]["theta"] += np.array([0.0, 10.0, 20.0])
    orders = [[0, 1, 2], [1, 0, 2], [2, 0, 1], [2, 1, 0], [0, 2, 1]]
    for chain in range(4):
        for part, order in enumerate(np.roll(orders, chain, axis=0)[:3]):
            rows = slice(300 * part, 1000)
            run["sites"]["theta"][chain, rows] = np.sort(run["sites"]["theta"][chain, rows])[:, order]


def mirrored(run):
    run["sites"]["theta"] += np.array([-10.0, 0.0, 10.0])
    run["sites"]["theta"][1:3] *= -1


def with_other_signs(run):
    """Loadings of a factor: signs differ, and no order does."""
    run["sites"]["theta"] += np.array([-10.0, 5.0, 20.0])
    run["sites"]["theta"][1:3] *= -1


def mostly_still(run):
    for name in run["sites"]:
        run["sites"][name][3] = np.repeat(run["sites"][name][3, ::4], 4, axis=0)


def mostly_still_by_long_steps(run):
    mostly_still(run)
    run["stats"]["acceptance_rate"][3] = 0.05


def hardly_moving(run):
    for name in run["sites"]:
        run["sites"][name][3] = np.repeat(run["sites"][name][3, ::50], 50, axis=0)


def collinear(run):
    run["sites"]["theta"][:, :, 2] = 1 - run["sites"]["mu"] + 1e-3 * run["sites"]["theta"][:, :, 2]


def low_energy_along_a_site(run):
    low_energy(run)
    run["stats"]["energy"] = 5 * run["stats"]["energy"][2] + np.zeros((4, 1))
    run["sites"]["mu"] += np.sign(run["stats"]["energy"] - np.median(run["stats"]["energy"]))


def not_a_number(run):
    run["sites"]["tau"][0, :4] = np.nan


# what happens to the run: (severity, code, words of the message, words of the remedy)
RULES = {
    diverging: ("warning", "divergences", "37 of 4000 draws diverged (0.9%), most with small", "above 0.8"),
    diverging_anywhere: ("warning", "divergences", "40 of 4000 draws diverged (1.0%).", "reparameterise"),
    diverging_large: ("warning", "divergences", "most with large 'theta[B]'", "what depends on 'theta[B]'"),
    diverging_at_any_element: ("warning", "divergences", "most with a large element of 'theta'", "on 'theta'"),
    diverging_in_one_place: ("warning", "divergences", "100 of 4000 draws diverged (2.5%).", "reparameterise"),
    apart: ("error", "r_hat", "R-hat is above 1.01 for 1 of 6 parameters, worst", "several modes"),
    slightly_apart: ("warning", "r_hat", "for 'theta[B]'", "warm-up and about 3 times as many draws"),
    slow: ("warning", "ess_bulk", "Bulk ESS is below 400 for 1 of 6 parameters, lowest", "times as many draws"),
    few_in_the_tail: ("warning", "ess_tail", "Tail ESS is below 400", "times as many draws"),
    stuck: ("error", "constant_chains", "Chain 2 did not move in 1000 draws.", "draws.stats"),
    stuck_in_one_site: ("error", "constant_chains", "in 1 of 10 parameters, such as 'theta[C]'.", "draws.stats"),
    saturated: ("warning", "tree_depth", "500 of 4000 draws (12.5%) reached max_tree_depth 10", "rescale"),
    rarely_saturated: ("info", "tree_depth", "2 of 4000 draws (less than 0.1%)", "max_tree_depth"),
    low_energy: ("warning", "e_bfmi", "E-BFMI is below 0.3 in 1 of 4 chains, lowest 0.0", "Reparameterise heavy tails"),
    low_energy_along_a_site: ("warning", "e_bfmi", "slowly, most along 'mu'", "what depends on 'mu'"),
    rarely_diverging: ("info", "divergences", "4 of 4000 draws diverged (0.1%)", "above 0.8"),
    mostly_diverging: ("error", "divergences", "2000 of 4000 draws diverged (50.0%)", "above 0.8"),
    barely_apart: ("info", "r_hat", "for 'theta[B]'", "warm-up and about 3 times as many draws"),
    barely_apart_and_slow: ("warning", "r_hat", "for 'theta[B]'", "warm-up"),
    two_modes: (
        "error",
        "chains_apart",
        "Chains 0, 3 stayed near -0.0",
        "Sample by `infer.sample(model, infer.Tempered())`, which",
    ),
    left_behind: (
        "error",
        "chains_apart",
        "of 'mu': the log density in chain 3 is 5,000 below that of the best chain. A mode as low",
        "Most likely, draws of chain 3 are not from the posterior: do not use them. Start elsewhere, by another",
    ),
    wider_below: ("error", "chains_apart", "or some have not reached the posterior yet", "infer.Tempered()"),
    two_modes_close_by: (
        "error",
        "r_hat",
        "worst 1.426 for 'mu'",
        "several modes: sample by `infer.sample(model, infer.Tempered())`",
    ),
    in_another_order: (
        "error",
        "chains_apart",
        "near 49.97 of 'mu': the chains found different modes, probably with the components along 'school' in",
        "If nothing but their labels differs, `infer.relabel(draws, 'school')` gives them the same labels in all",
    ),
    changing_places: (
        "error",
        "r_hat",
        "for 3 of 6 parameters",
        "Components along 'school' change places, between chains or between draws: matched they agree (R-hat 1.0",
    ),
    mirrored: (
        "error",
        "chains_apart",
        "with the components along 'school' in different orders, or with opposite signs",
        "the model cannot tell them apart. If only their signs are not determined, give one of them a positive prior.",
    ),
    with_other_signs: ("error", "chains_apart", "or some have not reached", "prior is proper. Else start"),
    mostly_still: ("warning", "slow_chains", "Chain 3 stayed in place for up to 75.1%", "step size"),
    mostly_still_by_long_steps: (
        "warning",
        "slow_chains",
        "Chain 3 stayed in place for up to 75.1%",
        "down to 0.05, with an aim of 0.8: the steps suit another place, in which warm-up has ended. Use a longer",
    ),
    hardly_moving: ("error", "slow_chains", "Chain 3 stayed in place for up to 98.1%", "step size"),
    collinear: ("info", "collinear", "'mu' and 'theta[C]' have correlation -1.000000", "Fix one of them"),
    not_a_number: ("error", "non_finite_draws", "4 of 4000 values of 'tau' are not finite", "overflows"),
}  # fmt: skip


@pytest.mark.parametrize("damage", RULES, ids=lambda damage: damage.__name__)
def test_a_rule_speaks_with_its_number_its_sites_and_a_remedy(damage):
    severity, code, message, remedy = RULES[damage]
    run = good_run()
    damage(run)
    found = {notice.code: notice for notice in look(run)}
    assert code in found
    assert found[code].severity == severity
    assert message in found[code].message
    assert remedy in found[code].remedy


POWERS = np.tile([0.0, 0.1, 1.0], (4, 1))


def on_a_ladder(trips, heights):
    """A good run whose replicas arrived so often, by chain, with these mean log likelihoods on three rungs."""
    run, rng = good_run(), np.random.default_rng(1)
    made = np.zeros((4, 1000), np.int32)
    for chain, count in enumerate(trips):
        made[chain, :count] = 1
    run["stats"]["round_trips"] = made
    for rung, height in enumerate(heights):
        run["stats"][f"log_likelihood.{rung}"] = rng.normal(height, 0.1, size=(4, 1000))
    return run


# Round trips by chain, and log likelihoods by rung: severity, code, words of the message, words of the remedy.
LADDERS = {
    "no trip": ((40, 0, 30, 20), (-5, -4, -3.5), "error", "round_trips", "Chain 1: no replica", "more draws"),
    "few": (
        (40, 5, 30, 2),
        (-5, -4, -3.5),
        "warning",
        "round_trips",
        "Chains 1, 3: only 2 replicas",
        "moves further",
    ),
    "apart": ((40,) * 4, (-60, -20, -3.5), "warning", "rungs_apart", "rungs 1 and 2 of 3", "temperatures=5"),
}


@pytest.mark.parametrize("name", LADDERS)
def test_ladders_that_replicas_do_not_climb_are_told(name):
    trips, heights, severity, code, message, remedy = LADDERS[name]
    (found,) = look(on_a_ladder(trips, heights), temperatures=POWERS)
    assert (found.severity, found.code) == (severity, code)
    assert message in found.message and remedy in found.remedy


def test_a_good_ladder_is_silent_and_thinned_draws_count_for_those_between():
    assert look(on_a_ladder((40,) * 4, (-5, -4, -3.5)), temperatures=POWERS) == []
    assert look(on_a_ladder((3,) * 4, (-5, -4, -3.5)), temperatures=POWERS, num_made=20000) == []


@pytest.mark.parametrize(("count", "severity"), [(0, None), (3, "warning"), (400, "error")])
def test_draws_at_the_end_of_a_sum_are_told(count, severity):
    run = good_run()
    run["sites"]["n"] = np.random.default_rng(3).integers(0, 40, size=(4, 1000, 2))
    run["sites"]["n"].reshape(-1)[:count] = 40
    found = {notice.code: notice for notice in look(run, limits={"n": 40})}
    assert ("bound_reached" in found) == (severity is not None)
    if severity:
        notice = found["bound_reached"]
        assert notice.severity == severity and f"{count} of 8000 draws of 'n'" in notice.message
        assert "{'n': 80}" in notice.remedy and notice.sites == ("n",)


def test_draws_at_the_end_of_a_support_are_none_at_the_end_of_a_sum():
    """Of a draw in which all sums together leave out nothing, entries at the bound have no larger values."""
    run = good_run()
    run["sites"]["n"] = np.full((4, 1000, 2), 40)
    run["stats"]["beyond.n"] = np.zeros((4, 1000))
    run["stats"]["beyond.n"][0, :3] = 0.1
    (found,) = [notice for notice in look(run, limits={"n": 40}) if notice.code == "bound_reached"]
    assert "6 of 8000 draws" in found.message


@pytest.mark.parametrize(
    ("share", "severity"), [(1e-9, "info"), (5e-4, "info"), (0.02, "warning"), (np.nan, None)]
)
def test_what_a_sum_leaves_out_is_told(share, severity):
    run = good_run()
    run["sites"]["n"] = np.zeros((4, 1000), int)
    run["stats"]["beyond.n"] = np.full((4, 1000), share)
    found = {notice.code: notice for notice in look(run, limits={"n": 40})}
    assert ("left_out" in found) == (severity is not None)
    if severity:
        notice = found["left_out"]
        assert notice.severity == severity and f"at most {share:.2g} of" in notice.message
        assert ("{'n': 80}" in notice.remedy) == (severity == "warning")


def test_chains_are_called_by_their_numbers():
    run = good_run()
    stuck(run)
    counts = bad_ends("log_density", sample=[0, 3, 0, 2])
    found = {notice.code: notice for notice in look(run, chains=[3, 5, 7, 9], counts=counts)}
    assert "Chain 7 did" in found["constant_chains"].message
    assert "3 in chain 5, 2 in chain 9" in found["non_finite"].message


def bad_ends(kind, **phases):
    return {kind: {phase: np.array(counts) for phase, counts in phases.items()}}


# counts by kind and phase: (severity, code, words of the message)
ENDS = {
    "rare log densities": (bad_ends("log_density", sample=[0, 3, 0, 0]), "info", "non_finite", "3 of 4000"),
    "log densities": (bad_ends("log_density", sample=[0, 30, 9, 0]), "warning", "non_finite", "39 of 4000"),
    "most log densities": (bad_ends("log_density", sample=[500] * 4), "error", "non_finite", "50.0%"),
    "a rare gradient": (
        bad_ends("gradient", sample=[0, 0, 3, 0]),
        "warning",
        "non_finite_gradient",
        "3 in chain 2",
    ),
    "gradients": (
        bad_ends("gradient", sample=[0, 0, 1, 4]),
        "error",
        "non_finite_gradient",
        "leave that part",
    ),
    "warm-up": (
        bad_ends("gradient", warmup=[1, 0, 0, 4]),
        "info",
        "non_finite_warmup",
        "The gradient was not finite 5 times during warm-up",
    ),
    "much of warm-up": (
        bad_ends("log_density", warmup=[14, 20, 9, 13]),
        "warning",
        "non_finite_warmup",
        "The log density was not finite in 56 of 1400 draws of warm-up (4.0%), and never after it",
    ),
    "less of warm-up": (
        bad_ends("log_density", warmup=[14, 20, 9, 12]),
        "info",
        "non_finite_warmup",
        "The log density was not finite 55 times",
    ),
    "much of warm-up, and once after it": (
        bad_ends("log_density", warmup=[14, 20, 9, 13], sample=[0, 0, 1, 0]),
        "warning",
        "non_finite",
        "It was so in 56 of 1400 draws of warm-up (4.0%)",
    ),
    "much of warm-up in one way, and the other after it": (
        bad_ends("log_density", warmup=[20, 20, 20, 20]) | bad_ends("gradient", sample=[400] * 4),
        "warning",
        "non_finite_warmup",
        "The log density was not finite in 80 of 1400",
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_numbers_that_are_not_finite_are_told_by_kind_phase_and_share(name):
    counts, severity, code, words = ENDS[name]
    blamed = {"gradient": (("mu",), " Such as: a log of 0."), "log_density": (("tau",), "")}
    notices = look(good_run(), counts=counts, blamed=blamed, num_warmup=350, warmups=np.full(4, 350))
    (found,) = [each for each in notices if each.code == code]
    assert len(notices) == len(counts)
    assert found.severity == severity
    assert words in found.message
    named = {"non_finite_gradient": ("mu",), "non_finite": ("tau",), "non_finite_warmup": ("tau",)}
    assert found.sites == (() if severity == "info" and code == "non_finite_warmup" else named[code])


def test_a_short_warm_up_is_no_evidence_of_an_undefined_density():
    counts = bad_ends("log_density", warmup=[5, 5, 5, 5])
    for length, severity in ((99, "info"), (100, "warning")):
        notices = look(good_run(), counts=counts, num_warmup=length, warmups=np.full(4, length))
        assert [each.severity for each in notices] == [severity]


# options of the run: (severity, code, words of the message)
SETTINGS = {
    "tiny steps": (dict(step_size=np.array([1.0, 1e-7, 1e-9, 0.5])), "error", "step_size", "chains 1, 2"),
    "boundless steps": (dict(step_size=np.array([1.0, 1e20, 1.0, 1.0])), "error", "step_size", "1e+20"),
    "a short warm-up": (dict(num_warmup=10), "info", "short_warmup", "10 draws"),
    "a long warm-up": (
        dict(num_warmup=350, warmups=np.array([350, 525, 787, 350]), is_settled=np.full(4, True)),
        "info",
        "long_warmup",
        "Chains 1, 2 had not settled after 350 draws of warm-up, which went on to 525 and 787.",
    ),
    "an endless warm-up": (
        dict(num_warmup=350, warmups=np.array([350, 350, 2000, 350]), is_settled=np.arange(4) != 2),
        "warning",
        "long_warmup",
        "Chain 2 had not settled",
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_that_no_posterior_wants_are_told(name):
    options, severity, code, words = SETTINGS[name]
    (found,) = look(good_run(), **options)
    assert (found.severity, found.code) == (severity, code)
    assert words in found.message


def test_a_log_density_of_plus_infinity_is_an_error_however_rare():
    (found,) = look(good_run(), counts=bad_ends("log_density", sample=[0, 1, 0, 0]), is_unbounded=True)
    assert (found.severity, found.code) == ("error", "non_finite")


def test_no_rule_speaks_of_steps_that_are_not_known():
    assert look(good_run(), step_size=np.full(4, np.nan), num_warmup=500) == []


def test_chains_that_never_left_one_common_start_are_found():
    run = good_run()
    for name in run["sites"]:
        run["sites"][name][:] = 1
    assert [notice.message for notice in look(run)] == ["Chains 0, 1, 2, 3 did not move in 1000 draws."]


def test_an_indicator_that_one_chain_never_changes_is_not_a_stuck_chain():
    run = good_run()
    run["sites"]["is_large"] = (run["sites"]["mu"] > 2.5).astype(np.float64)
    run["sites"]["is_large"][1] = 0.0
    assert "constant_chains" not in {notice.code for notice in look(run)}


def test_chains_stuck_in_different_places_have_a_boundless_r_hat():
    run = good_run()
    run["sites"]["mu"] = np.broadcast_to(np.arange(4.0)[:, None], (4, 1000))
    found = {notice.code: notice for notice in look(run)}
    assert found["r_hat"].severity == "error"
    assert "for 'mu'" in found["r_hat"].message
    assert len(found["r_hat"].message) < 80


def test_an_incomplete_run_is_an_error():
    (notice,) = look(good_run(), complete=False, requested=3000)
    assert (notice.severity, notice.code) == ("error", "incomplete")
    assert "1000 of 3000 draws" in notice.message
    assert "infer.resume" in notice.remedy


def test_notices_come_worst_first():
    run = good_run()
    for damage in (diverging, apart, rarely_saturated, slow):
        damage(run)
    severities = [notice.severity for notice in look(run)]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)
    assert len(set(severities)) == 3


def test_one_chain_is_information():
    found = look(good_run(num_chains=1))
    assert [(notice.severity, notice.code) for notice in found] == [("info", "single_chain")]


@pytest.mark.parametrize("num_chains", [1, 2, 4])
@pytest.mark.parametrize("num_draws", [0, 1, 2, 3, 4, 5, 10])
@pytest.mark.parametrize("value", [None, 0.0, np.nan, np.inf])
def test_a_short_or_broken_run_is_told_so_and_nothing_fails(num_chains, num_draws, value):
    run = good_run(num_chains, num_draws)
    if value is not None:
        run = {
            kind: {name: np.full_like(v, value) if v.dtype.kind == "f" else v for name, v in values.items()}
            for kind, values in run.items()
        }
    found = {notice.code: notice for notice in look(run)}
    assert "too_few_draws" in found
    assert found["too_few_draws"].severity == ("warning" if num_draws else "error")


def test_nothing_at_all_is_too_few_draws():
    assert [notice.code for notice in examine({}, {})] == ["too_few_draws"]


def test_absent_statistics_and_options_are_passed_over():
    run = good_run()
    assert examine(run["sites"], {}) == []
    saturated(run)
    diverging(run)
    (notice,) = examine(run["sites"], run["stats"])
    assert "smaller steps" in notice.remedy


def test_many_chains_are_asked_for_no_more_than_a_total():
    assert look(good_run(num_chains=40, num_draws=100)) == []


def test_a_large_posterior_is_judged_on_a_part_of_every_site(monkeypatch):
    monkeypatch.setattr(evidence_module, "BUDGET", 4000 * 20)
    run = good_run()
    run["sites"]["large"] = np.random.default_rng(3).normal(size=(4, 1000, 50))
    run["sites"]["mu"][2] += 5.0
    run["sites"]["large"][1, :, 49] += 5.0
    found = {notice.code: notice for notice in look(run)}
    assert "judged for about 20 of 60 parameters" in found["judged_in_part"].message
    assert "2 of 16 parameters" in found["r_hat"].message  # the constants of corr have no R-hat


FORMS = {"tau": (Form("theta", '"theta": reparam.LocScale()'),)}
LINE = 'handlers.reparam(model, {"theta": reparam.LocScale()})'


def test_the_neck_of_a_funnel_is_met_with_the_line_to_write():
    run = good_run()
    diverging(run)
    (notice,) = look(run, scaled_by=FORMS)
    assert notice.remedy.startswith("'tau' sets the scale of 'theta'")
    assert LINE in notice.remedy and "Else raise target_accept above 0.8" in notice.remedy


def test_a_chain_that_is_held_at_a_small_scale_names_it():
    run = good_run()
    run["stats"]["diverging"][2, 100:400] = True
    run["sites"]["tau"][2, 100:400] = run["sites"]["tau"].min()
    assert "most with" not in look(run)[0].message  # one place, which may be there for another reason
    assert LINE in next(each for each in look(run, scaled_by=FORMS) if each.code == "divergences").remedy


def test_of_few_unknowns_one_that_is_a_scale_is_suspected():
    run = good_run()
    rarely_diverging(run)
    assert LINE in look(run, scaled_by=FORMS)[0].remedy
    many = ["mu", "tau", "theta", "more"]
    assert LINE not in look(run, scaled_by=FORMS, latents=many)[0].remedy
    blamed = {"divergence": (("mu",), " Look here.")}
    assert LINE not in look(run, scaled_by=FORMS, blamed=blamed)[0].remedy


def test_a_few_divergences_are_enough_to_name_a_scale_and_nothing_else():
    run = good_run()
    low = np.argsort(run["sites"]["tau"].ravel())[500:1300:160]
    run["stats"]["diverging"].ravel()[low] = True
    assert "'tau'" not in look(run)[0].message
    (notice,) = look(run, scaled_by=FORMS)
    assert "most with small 'tau'" in notice.message and LINE in notice.remedy


def test_divergences_elsewhere_name_no_scale():
    run = good_run()
    diverging_large(run)
    (notice,) = look(run, scaled_by=FORMS)
    assert "reparam.LocScale" not in notice.remedy


def test_energies_along_a_scale_are_met_with_the_same_line():
    run = good_run()
    low_energy_along_a_site(run)
    found = [each for each in look(run, scaled_by={"mu": FORMS["tau"]}) if each.code == "e_bfmi"]
    assert LINE in found[0].remedy


def test_chains_that_disagree_are_sent_to_the_notice_that_prints_the_line():
    run = good_run()
    run["sites"]["mu"][2] += 0.5 * run["sites"]["mu"].std()
    found = {notice.code: notice for notice in look(run, scaled_by=FORMS)}
    assert found["r_hat"].remedy.startswith("The chains disagree: use more warm-up")
    low_energy_along_a_site(run)
    found = {notice.code: notice for notice in look(run, scaled_by={"mu": FORMS["tau"]})}
    assert found["r_hat"].remedy.startswith("The chains disagree: first do what the notice on E-BFMI says.")
    diverging(run)
    found = {notice.code: notice for notice in look(run, scaled_by=FORMS)}
    assert found["r_hat"].remedy.startswith(
        "The chains disagree: first do what the notice on divergences says."
    )


def test_few_effective_draws_are_sent_to_the_notice_that_prints_the_line():
    run = good_run()
    diverging(run)
    run["sites"]["mu"] = np.repeat(run["sites"]["mu"][:, ::50], 50, axis=1)
    found = {notice.code: notice for notice in look(run, scaled_by=FORMS)}
    assert found["ess_bulk"].remedy.endswith(
        "times as many draws, or reparameterise as the notice on divergences says."
    )


def test_sites_of_steps_are_reparameterised_around_the_step():
    run = good_run()
    low_energy_along_a_site(run)
    level = Form("level", '"level": reparam.LocScale()', is_in_steps=True)
    around_step = '`ac.scan(handlers.reparam(step, {"level": reparam.LocScale()}), ...)`'
    for forms, line in (
        (
            (level,),
            f"scale of 'level', whose posterior narrows with it like a funnel: reparameterise by {around_step},",
        ),
        ((*FORMS["tau"], level), f"reparameterise by `{LINE}` and {around_step}, or take more draws."),
    ):
        (notice,) = (each for each in look(run, scaled_by={"mu": forms}) if each.code == "e_bfmi")
        assert line in notice.remedy


def test_a_good_run_is_silent_whatever_has_a_scale():
    assert look(good_run(), scaled_by=FORMS) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"discrete": ["count"]},
            "infer.Tempered(infer.Gibbs({'count': infer.DiscreteGibbs(), ...: infer.NUTS()}))",
        ),
        ({"temperatures": np.tile(np.linspace(0, 1, 5), (4, 1))}, "Take more rungs than 5"),
    ],
)
def test_the_line_for_modes_is_one_that_this_run_can_take(options, words):
    run = good_run()
    two_modes(run)
    for rung in range(5):
        run["stats"][f"log_likelihood.{rung}"] = run["stats"]["lp"]
    (notice,) = [each for each in look(run, **options) if each.code == "chains_apart"]
    assert words in notice.remedy


def vectors(elements: np.ndarray, **others: np.ndarray) -> dict:
    """A good run of other sites: `x`, `(chain, draw, n)`, and `others`."""
    run = good_run()
    run["sites"] = {"x": elements, **others}
    return run


NAMED = {"x": ["x_dim_0"]}


def switching(count: int) -> np.ndarray:
    """Ordered elements, ten apart, that chains have in different orders from their middle on."""
    draws = np.random.default_rng(4).normal(size=(4, 1000, count)) + 10.0 * np.arange(count)
    draws[1:, 500:, :3] = draws[1:, 500:, [1, 2, 0]]
    return draws


def one_in_two_places() -> np.ndarray:
    """Fifty effects that overlap, of which one is in another place in two chains: no two can have changed places."""
    draws = np.random.default_rng(5).normal(size=(4, 1000, 50))
    draws[2:, :, 7] = 6.0 + 0.3 * draws[2:, :, 7]
    return draws


def a_sum_that_is_known() -> np.ndarray:
    walk = np.cumsum(np.random.default_rng(6).normal(size=(4, 1000)), axis=1)
    return np.stack([walk, -walk], axis=-1)


@pytest.mark.parametrize("elements", [one_in_two_places(), a_sum_that_is_known()], ids=["one", "a sum"])
def test_elements_that_disagree_alone_or_overlap_have_not_changed_places(elements):
    found = look(vectors(elements), latents=["x"], dims=NAMED)
    assert {"r_hat", "chains_apart"} & {notice.code for notice in found}
    assert not any(
        "change places" in notice.remedy or "different orders" in notice.message for notice in found
    )


def test_what_disagrees_beside_elements_that_change_places_is_not_passed_over():
    tau = np.random.default_rng(7).normal(size=(4, 1000))
    tau[2:] += 30.0
    run = vectors(switching(4), tau=tau)
    (notice,) = [each for each in look(run, latents=["x", "tau"], dims=NAMED) if each.code == "r_hat"]
    assert "'tau'" in notice.message
    assert "Components along 'x_dim_0' change places" in notice.remedy
    assert "If others still disagree then" in notice.remedy


@pytest.mark.parametrize(
    ("gap", "options"),
    [
        (189.0, {"dim": 100}),  # as of a series with correlations of 0.99 in one mode and 0.3 in the other
        (276.0, {"dim": 60}),  # as of scales that are small in one mode
        (5000.0, {"discrete": ["count"]}),  # the number of their values would count
        (5000.0, {"dim": None}),
    ],
)
def test_a_mode_that_may_weigh_more_for_its_width_is_not_said_to_weigh_nothing(gap, options):
    run = good_run()
    two_modes(run)
    run["stats"]["lp"][1:3] -= gap
    (notice,) = [each for each in look(run, **options) if each.code == "chains_apart"]
    assert "the chains found different modes" in notice.message
