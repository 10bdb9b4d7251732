"""Check reports and plots of real runs: in memory, from disk, incomplete, with results beside them, and of fits."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError
from accord.core.series import InMemory
from accord.density import LogDensity
from accord.mcmc.reported import document
from accord.report.plots import KINDS
from accord.vi.reported import document as fit_document

Y = np.array([0.3, -1.2, 0.8, 2.0])


@ac.model
def rows(y, scale=1.0):
    mu = ac.sample("mu", dist.Normal(0, 2))
    with ac.plate("row", len(y)):
        theta = ac.sample("theta", dist.Normal(mu, 1))
        ac.sample("y", dist.Normal(theta, scale), obs=y)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs") / "run"


@pytest.fixture(scope="module")
def draws(folder):
    return infer.sample(
        rows(Y),
        draws=60,
        warmup=100,
        chains=2,
        store=infer.RunFolder(folder),
        executor=infer.Serial(),
        quiet=True,
    )


@pytest.fixture(scope="module")
def fit():
    return infer.fit(rows(Y), steps=50, quiet=True)


def test_a_run_in_memory_and_from_disk_have_the_same_report_but_for_the_code(draws, folder, tmp_path):
    loaded = infer.load(folder)
    loaded.report(tmp_path / "one.html")
    infer.load(folder).report(tmp_path / "other.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "other.html").read_bytes()
    here = document(draws)
    assert here.source is not None and here.source.startswith("@ac.model\ndef rows(y, scale=1.0):")
    assert document(loaded).source is None
    for name in ("facts", "numbers", "site_rows", "data_rows", "again", "verdict"):
        assert getattr(here, name) == getattr(document(loaded), name), name


def test_a_report_tells_how_to_run_it_again(draws):
    again = document(draws).again
    made = eval(again.split("\n\n")[1], {"infer": infer, "rows": rows, "y": Y, "scale": 1.0})
    np.testing.assert_array_equal(made["mu"], draws["mu"])


def test_a_report_of_a_function_names_its_density():
    density = LogDensity.from_function(lambda x: -0.5 * (x**2).sum(), np.zeros(2))
    draws = infer.sample(density, draws=10, warmup=20, chains=1, executor=infer.Serial(), quiet=True)
    made = eval(document(draws).again.split("\n\n")[1], {"infer": infer, "density": density})
    np.testing.assert_array_equal(made["x"], draws["x"])


@pytest.mark.slow
def test_results_beside_a_run_are_shown(draws):
    beside = (
        infer.predict(draws, quiet=True),
        infer.log_likelihood(draws),
        infer.prior_predictive(rows(Y), draws=50, quiet=True),
    )
    found = document(draws, beside).sections[-1]
    assert [figure.title for figure in found.figures] == [
        "Predictive checks",
        "Leave-one-out",
        "Prior and posterior",
    ]
    elpd = infer.loo(draws, beside[1]).elpd
    assert found.facts[0][0] == "Leave-one-out of y" and f"elpd {elpd:.2f}" in found.facts[0][1]
    with pytest.raises(OptionError, match=r"infer\.predict"):
        document(draws, (draws,))


def test_a_bad_and_incomplete_run_is_reported(draws, tmp_path):
    values = {name: draws[name].copy() for name in draws}
    values["mu"][0, 3:] = np.nan
    bad = replace(
        draws,
        sites=InMemory(values),
        complete=False,
        requested=100,
        lost_chains=({"chains": [2], "draw": 4, "error": "it broke"},),
        problems=("a segment is missing",),
    )
    bad.report(tmp_path / "bad.html")
    text = (tmp_path / "bad.html").read_text("utf-8")
    for words in (
        "Do not use these draws",
        "60 of 100",
        "chain 2 at draw 4: it broke",
        "a segment is missing",
        "incomplete",
    ):
        assert words in text


@pytest.mark.parametrize("kind", KINDS)
def test_every_plot_shows_itself_and_can_be_saved(kind, draws, tmp_path):
    found = draws.plot(kind)
    found.save(tmp_path / f"{kind}.svg")
    ET.parse(tmp_path / f"{kind}.svg")
    assert found._repr_html_().count("<svg") == len(found.figure.panels) >= 1
    assert str(found) and repr(found).startswith(f"<Picture {kind!r}")


def test_a_plot_has_the_sites_and_the_number_that_were_asked_for(draws):
    assert len(draws.plot("trace", "theta").figure.panels) == 4
    assert len(draws.plot("density", most=2).figure.panels) == 2
    assert draws.plot("forest", most=2)._repr_svg_() != draws.plot("forest")._repr_svg_()
    assert [each.title for each in draws.plot("rank", ["mu"]).figure.panels] == ["Ranks of mu"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda draws: draws.plot("tarce"), "kind is 'tarce', but must be one of 'trace'.*[Dd]id you mean"),
        (lambda draws: draws.plot(3), "kind is 3"),
        (lambda draws: draws.plot("trace", "nu"), "no site 'nu'"),
        (lambda draws: draws.plot("trace", most=0), "most"),
        (lambda draws: draws.plot("energy", "mu"), "'energy' shows the sampler, not sites"),
        (lambda draws: draws.plot("tree_depth", most=2), "Leave out sites and most"),
        (lambda draws: draws.plot("pair", "mu"), "two unknowns"),
        (lambda draws: draws.plot().save("trace.png"), "must end in .svg"),
        (lambda draws: draws.plot().save("away/trace.svg"), "does not exist"),
        (lambda draws: draws.report("run.txt"), "must end in .html"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draws, call, words):
    with pytest.raises(OptionError, match=words):
        call(draws)


def test_a_sampler_without_energies_has_no_plot_of_them(draws):
    stats = {name: draws.stats[name] for name in draws.stats if name != "energy"}
    with pytest.raises(OptionError, match=r"no statistic 'energy'.*lp"):
        replace(draws, stats=InMemory(stats)).plot("energy")


def test_a_fit_is_reported_with_its_model_and_without(fit, tmp_path):
    here, away = fit_document(fit), fit_document(replace(fit, density=None))
    assert here.table is not None and here.table.labels == ("mu", *(f"theta[{row}]" for row in range(4)))
    assert [section.name for section in here.sections] == ["steps", "guide", "pairs"]
    assert away.table is None and [section.name for section in away.sections] == ["steps"]
    assert dict(here.numbers)["Pareto k"].startswith(f"{fit.pareto_k:.2f}")
    for name, each in (("here", fit), ("away", replace(fit, density=None))):
        each.report(tmp_path / f"{name}.html")
        each.report(tmp_path / f"{name}.md")
        assert "rows" in (tmp_path / f"{name}.html").read_text("utf-8")


@pytest.mark.slow
def test_a_fit_by_a_point_is_reported(tmp_path):
    found = infer.fit(rows(Y), infer.guides.Delta(), quiet=True)
    assert [section.name for section in fit_document(found).sections] == ["steps"]
    assert "Log density" in dict(fit_document(found).numbers)
