"""Check the reports and the plots of paths, of draws from guides, of fits and of calibrations."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import optax
import pytest
from html_checks import check_page
from laws import each
from scipy.stats import binom

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.calibration import reported as of_calibration
from accord.calibration.calibration import Calibration, Trial
from accord.calibration.findings import findings
from accord.calibration.uniformity import Uniformity
from accord.core.errors import OptionError
from accord.core.notice import Notice
from accord.core.series import InMemory
from accord.report.document.appendix import data_of
from accord.report.document.html_page import as_html
from accord.report.figures.uniform import Ranked, overview, rank_ecdf, rank_histogram
from accord.report.figures.weights import bounds, shares
from accord.vi import reported as of_fit
from accord.vi.pathfinder import reported as of_paths

QUIET: dict[str, Any] = dict(quiet=True, progress=False)
Y = np.array([0.3, -1.2, 2.0])


@ac.model
def groups(y: Any, times: int = 2) -> None:
    mu = ac.sample("mu", dist.Normal(0, 2))
    with ac.plate("g", len(y), coords=["<b>", "c", "d"]):
        theta = ac.sample("theta", dist.Normal(0, 1))
        ac.sample("y", dist.Normal(mu + times * theta, 1.0), obs=y)


MODEL = groups(Y)


@pytest.fixture(scope="module")
def paths() -> Any:
    return infer.pathfinder(MODEL, paths=3, draws=200, seed=4, **QUIET)


@pytest.fixture(scope="module")
def fit() -> Any:
    return infer.fit(MODEL, infer.guides.LowRank(rank=2), steps=300, seed=1, **QUIET)


@pytest.fixture(scope="module")
def calibration() -> Any:
    return infer.calibrate(MODEL, simulations=6, draws=12, warmup=60, thinning=2, seed=4, **QUIET)


def made_up(ranks: np.ndarray, num_draws: int = 30) -> Calibration:
    """A calibration of `groups` with these ranks of mu; those of other parameters are even."""
    like = infer.calibrate(MODEL, simulations=2, draws=num_draws, warmup=20, thinning=1, **QUIET)
    manifest = type(like.manifest)({**like.manifest, "chains": list(range(len(ranks)))})
    even = np.arange(len(ranks)) * (num_draws + 1) // len(ranks)
    trials = [
        Trial(
            number,
            number,
            (),
            {"mu": ranks[number], "theta": np.full(3, even[number]), "lp": even[number]},
            {},
        )
        for number in range(len(ranks))
    ]
    found = Calibration.of(manifest, trials)
    return found.with_notices(findings(found, trials))


def page_of(document: Any) -> str:
    text = as_html(document)
    check_page(text)
    assert "<b>c" not in text and "theta[<b>" not in text
    return text


def test_a_report_of_paths_is_one_sound_page_with_weights_and_draws(paths: Any, tmp_path: Any) -> None:
    document = of_paths.document(paths, (infer.predict(paths, quiet=True),))
    text = page_of(document)
    assert [section.name for section in document.sections] == ["candidates", "draws", "pairs", "predictions"]
    assert "No rule found a problem with these draws" in text and len(text) < 400_000
    assert document.table is not None and document.table.labels == paths.summary().labels
    np.testing.assert_array_equal(document.table.columns["mean"], paths.summary()["mean"])
    numbers = dict(document.numbers)
    assert numbers["Pareto k"].startswith(f"{paths.pareto_k:.2f}")
    assert numbers["Different draws"] == f"{len(set(paths['mu'][0]))} of 200"
    assert "resampled among 600 candidates" in dict(document.facts)["Draws"]
    json.dumps(data_of(document), allow_nan=False)
    paths.report(tmp_path / "paths.html", infer.predict(paths, quiet=True))
    assert (tmp_path / "paths.html").read_text("utf-8") == text
    paths.report(tmp_path / "paths.md")
    assert "| theta\\[\\<b\\>\\] |" in (tmp_path / "paths.md").read_text("utf-8")
    with pytest.raises(OptionError, match="must end in"):
        paths.report(tmp_path / "paths.pdf")
    other = infer.pathfinder(MODEL, paths=1, draws=10, **QUIET)
    with pytest.raises(OptionError, match="Compute it from these draws"):
        paths.report(tmp_path / "paths.html", infer.predict(other, quiet=True))


def test_a_report_of_draws_of_a_guide_has_the_notices_of_its_fit(fit: Any, tmp_path: Any) -> None:
    drawn = fit.draw(150, seed=7)
    assert drawn.notices == fit.notices and drawn.pareto_k == fit.pareto_k
    document = of_fit.document_of_draws(drawn)
    page_of(document)
    assert [section.name for section in document.sections] == ["draws", "pairs"]
    assert document.notices == fit.notices and dict(document.facts)["Seed of the draws"] == "7"
    assert dict(document.numbers)["Pareto k of the fit"].startswith(f"{fit.pareto_k:.2f}")
    drawn.report(tmp_path / "drawn.html", infer.predict(drawn, quiet=True))
    assert 'id="predictions"' in (tmp_path / "drawn.html").read_text("utf-8")


def test_a_bad_fit_makes_the_verdict_of_its_draws(paths: Any) -> None:
    notice = Notice("error", "high_pareto_k", "Pareto k is 2.", "Draw.")
    bad = paths.judged([notice], {})
    for document in (of_paths.document(bad), of_fit.document_of_draws(bad.drawn)):
        assert document.verdict == ("error", "Do not use these draws: 1 error.")


def test_a_report_of_a_calibration_shows_the_ranks_that_are_farthest_from_uniform(
    calibration: Any, tmp_path: Any
) -> None:
    document = of_calibration.document(calibration)
    text = page_of(document)
    assert document.head.startswith("Calibration of chains: 6 simulations \u00d7 12 draws by NUTS")
    assert document.table is not None and document.table.labels == calibration.labels
    assert list(document.table.columns) == ["mean_rank", "p", "p_adjusted"] and '">ranks</th>' in text
    (section,) = document.sections
    first = calibration.labels[int(np.argmin(calibration.values["p"]))]
    assert [figure.title for figure in section.figures][:2] == ["All parameters", first]
    calibration.report(tmp_path / "calibration.html")
    assert (tmp_path / "calibration.html").read_text("utf-8") == text
    calibration.report(tmp_path / "calibration.md")
    assert "wanted: at least 0.01" in (tmp_path / "calibration.md").read_text("utf-8")


def test_ranks_at_both_ends_are_called_by_their_name_in_the_report() -> None:
    found = made_up(np.repeat([0, 30], 30))
    document = of_calibration.document(found)
    assert document.verdict == ("error", "Do not use draws that are made like these: 1 error.")
    assert dict(document.numbers)["Parameters whose ranks are not uniform"] == "1 of 5 (mu: too narrow)"
    every, mu = document.sections[0].figures[:2]
    assert every.panels[0].legend == ((0, "mu"),) and "1 not uniform" in every.panels[0].sentence
    assert mu.title == "mu" and "Draws are too narrow" in mu.sentence
    assert "2 of 12 bars leave the band" in mu.panels[0].sentence
    assert "the line leaves the band" in mu.panels[1].sentence
    assert 'class="bad"' in page_of(document)


def ranked(ranks: np.ndarray, num_ranks: int) -> Ranked:
    test = Uniformity(len(ranks), num_ranks)
    return Ranked("x", ranks, num_ranks, "", test.cuts, test.counts(ranks), *test.band())


@pytest.mark.parametrize(("times", "num_ranks"), [(1, 2), (7, 3), (9, 31), (20, 21), (3, 101)])
def test_bars_of_even_ranks_are_flat_and_within_their_band(times: int, num_ranks: int) -> None:
    even = np.arange(times * num_ranks) % num_ranks
    panel = rank_histogram(ranked(even, num_ranks))
    band, _, bars = panel.marks
    np.testing.assert_allclose(bars.top, 1.0)  # also of bars of different widths
    np.testing.assert_allclose(np.sum((bars.right - bars.left) * bars.top), 1.0)
    assert (bars.left[0], bars.right[-1]) == (0.0, 1.0) and np.all(band.low <= 1) and np.all(band.high >= 1)
    assert "0 of" in panel.sentence and "stays within" in rank_ecdf(ranked(even, num_ranks)).sentence


def test_bars_are_as_many_as_the_ranks_fill() -> None:
    for size, num_ranks, expected in (
        (1000, 101, 20),
        (1000, 100, 20),
        (1000, 51, 17),
        (40, 51, 8),
        (10, 51, 5),
        (9, 3, 3),
    ):
        bars: Any = rank_histogram(ranked(np.zeros(size, int), num_ranks)).marks[2]
        assert len(bars.top) == expected


def test_the_band_of_a_histogram_holds_all_bars_with_the_chance_that_it_names() -> None:
    # Exactly, for two bars: the count of one is binomial, and that of the other the rest.
    size = 40
    panel = rank_histogram(ranked(np.arange(size) % 2, 2))
    band: Any = panel.marks[0]
    low, high = (np.round(each[0] * size / 2) for each in (band.low, band.high))
    assert binom.pmf(np.arange(low, high + 1), size, 0.5).sum() >= 0.95
    assert (
        binom.cdf(low - 1, size, 0.5) <= 0.05 / 4 < binom.cdf(low, size, 0.5)
    )  # shared by both bars and both sides
    assert low + high == size


def test_the_line_of_ranks_is_that_of_the_test() -> None:
    ranks = np.array([0, 3, 3, 9])
    found = ranked(ranks, 10)
    line: Any = rank_ecdf(found).marks[2]
    np.testing.assert_allclose(line.y[1:-1], [np.mean(ranks < cut) - cut / 10 for cut in found.cuts])
    assert line.y[0] == line.y[-1] == 0
    many = [ranked(ranks, 10)] * 300
    assert len(overview(many, [False] * 299 + [True]).marks) < 210


def test_weights_are_shown_by_how_many_candidates_hold_them() -> None:
    panel = shares(np.log(np.array([0.5, 0.25, 0.25])))
    line: Any = panel.marks[1]
    np.testing.assert_allclose(line.y, [0.5, 0.75, 1.0])
    assert "1 draw of 3 has half of the weight" in panel.sentence
    assert "no draw has any weight" in shares(np.full(3, -np.inf)).sentence
    assert "unknown" in bounds({0: np.nan}, {0: np.nan}).sentence
    assert "from \u22122 to 3" in bounds({0: -2.0, 3: 3.0}, {0: 0.1, 3: np.nan}).sentence


KINDS = {
    "paths": ("paths", {"density": 4, "forest": 1, "pair": 6, "weights": 1, "bounds": 1}),
    "draws of a guide": ("fit", {"density": 4, "forest": 1, "pair": 6}),
    "calibration": ("calibration", {"rank_ecdf": 5, "rank": 5, "overview": 1}),
}


@each(KINDS)
def test_results_are_plotted_by_kind_and_other_options_are_refused(case: Any, request: Any) -> None:
    name, kinds = case
    found = request.getfixturevalue(name)
    found = found.draw(100) if name == "fit" else found
    for kind, most in kinds.items():
        picture = found.plot(kind)
        assert picture.kind == kind and 1 <= len(picture.figure.panels) <= most
        assert picture._repr_svg_().startswith("<svg")
    first = next(iter(kinds))
    assert found.plot().kind == first
    assert len(found.plot(first, "theta").figure.panels) == 3
    assert len(found.plot(first, most=2).figure.panels) == 2
    for options, words in (
        (dict(kind="trace"), "kind is 'trace', but must be one of"),
        (dict(kind=3), "kind is 3"),
        (dict(sites="thet"), "Did you mean 'theta'"),
        (dict(most=0), "most"),
        (dict(no_such_option=1), "no option"),
    ):
        with pytest.raises(OptionError, match=words):
            found.plot(**options)
    for kind in {"weights", "bounds", "overview"} & set(kinds):
        with pytest.raises(OptionError, match="Leave out sites and most"):
            found.plot(kind, "mu")


def test_results_without_draws_have_a_report_and_no_plots(paths: Any, calibration: Any) -> None:
    none = replace(
        paths,
        drawn=replace(
            paths.drawn,
            sites=InMemory({name: paths[name][:, :0] for name in paths}),
            positions=paths.drawn.positions[:0],
        ),
        log_weights=np.zeros(0),
        bounds={},
        errors={},
    )
    document = of_paths.document(none)
    assert document.table is None and not document.sections
    page_of(document)
    for kind in ("density", "forest", "pair", "weights", "bounds"):
        with pytest.raises(OptionError, match=r"no draws to plot. See `paths\.notices`"):
            none.plot(kind)
    empty = Calibration.of(calibration.manifest, [])
    page_of(of_calibration.document(empty))
    with pytest.raises(OptionError, match="no simulation has all its draws"):
        empty.plot()


AGAIN = {
    "paths": lambda paths, fit, calibration: (of_paths.document(paths), "paths", paths),
    "a fit": lambda paths, fit, calibration: (of_fit.document(fit), "fit", fit),
    "draws of a guide": lambda paths, fit, calibration: (
        of_fit.document_of_draws(fit.draw(50, seed=3)),
        "drawn",
        fit.draw(50, seed=3),
    ),
    "a calibration": lambda paths, fit, calibration: (
        of_calibration.document(calibration),
        "calibration",
        calibration,
    ),
    "a calibration of fits": lambda paths, fit, calibration: (
        of_calibration.document(
            found := infer.calibrate(MODEL, infer.guides.MeanField(), simulations=3, draws=5, **QUIET)
        ),
        "calibration",
        found,
    ),
}


@each(AGAIN)
def test_the_call_in_a_report_makes_the_same_numbers_again(
    case: Any, paths: Any, fit: Any, calibration: Any, capsys: Any
) -> None:
    document, name, expected = case(paths, fit, calibration)
    namespace: dict[str, Any] = {"groups": groups, "y": Y}
    exec(document.again, namespace)
    found = namespace[name]
    if name == "fit":
        assert all(
            np.array_equal(found.losses[number], expected.losses[number]) for number in expected.losses
        )
    elif name == "calibration":
        assert all(np.array_equal(found.ranks[site], expected.ranks[site]) for site in expected.ranks)
    else:
        assert all(np.array_equal(found[site], expected[site]) for site in expected)
    assert "times=2" in document.again and document.again in as_html(document).replace("&#x27;", "'").replace(
        "&quot;", '"'
    )


def test_what_a_manifest_does_not_hold_as_code_is_named_beside_the_call() -> None:
    start = infer.from_prior()
    paths = infer.pathfinder(MODEL, paths=1, draws=20, init=start, **QUIET)
    assert "# and init, as in the settings above" in of_paths.document(paths).again
    fit = infer.fit(MODEL, optimizer=optax.adam(0.01), objective=infer.ELBO(), steps=20, until=None, **QUIET)
    again = of_fit.document(fit).again
    assert "an optimizer of one's own" in again and "until=None" in again
