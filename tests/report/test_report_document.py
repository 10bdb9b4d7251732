"""Check the report of a run: what it holds, that it is one sound page, and its size."""

import json
import re

import numpy as np
import pytest
from html_checks import check_page
from report_runs import EVIL, document

from accord.core.errors import OptionError
from accord.core.notice import Notice
from accord.report.arviz import Group
from accord.report.beside import AbstractBeside
from accord.report.document.appendix import data_of
from accord.report.document.html_page import as_html
from accord.report.document.markdown import as_markdown
from accord.report.document.predictions import transforms
from accord.report.document.write import write

MEGABYTE = 2**20
WARNING = Notice("warning", "r_hat", f"R-hat of {EVIL} is 1.2.", "Call `infer.sample(x < 3)`.")


def record_in(text):
    """The data that a page holds."""
    return json.loads(next(each for each in check_page(text).scripts if each.lstrip().startswith("{")))


@pytest.mark.parametrize(
    ("count", "most"),
    [(3, 0.4), (1000, 1.0), pytest.param(100_000, 1.0, marks=pytest.mark.slow)],
)
def test_a_page_is_small_whatever_the_number_of_unknowns(count, most):
    rng = np.random.default_rng(0)
    sites = {"mu": rng.normal(size=(4, 200)), "theta": rng.normal(size=(4, 200, count - 1))}
    found = document(sites)
    text = as_html(found)
    check_page(text)
    assert len(text.encode()) < most * MEGABYTE
    assert found.table is not None
    assert found.table.count == count and len(found.table.labels) == min(count, 200)
    assert found.table.judged == min(count, 2**24 // 800)
    assert text.count('<tr data-site="') == min(count, 200)


@pytest.mark.slow
def test_long_chains_and_many_notices_stay_below_three_megabytes():
    rng = np.random.default_rng(0)
    notices = tuple(Notice("warning", "x", f"{number} " * 20, "y " * 40) for number in range(200))
    sites = {"theta" * 10: rng.normal(size=(6, 20_000, 60))}
    text = as_html(document(sites, notices, source="x = 1\n" * 3000))
    check_page(text)
    assert len(text.encode()) < 3 * MEGABYTE


def test_the_worst_of_many_unknowns_have_rows_and_come_first():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4, 100, 300))
    draws[0, :, 217] += 5  # one chain apart
    draws[:, :, 30] = np.nan
    found = document({"x": draws})
    assert found.table is not None
    assert found.table.labels[:2] == ("x[30]", "x[217]")
    assert found.sections[0].figures[1].title == "x[217]"
    assert "The rows are the worst 200 of all" in as_html(found)


def test_few_unknowns_are_in_the_order_of_the_model_and_the_worst_are_drawn_first():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4, 100, 3))
    draws[0, :, 2] += 5
    found = document({"x": draws, "y": rng.normal(size=(4, 100))})
    assert found.table is not None and found.table.labels == ("x[0]", "x[1]", "x[2]", "y")
    assert next(figure.title for figure in found.sections[0].figures) == "x[2]"


def test_the_same_run_gives_the_same_bytes():
    rng = np.random.default_rng(0)
    sites = {"mu": rng.normal(size=(4, 50)), "k": rng.poisson(3, size=(4, 50))}
    for form in (as_html, as_markdown):
        assert form(document(sites)) == form(document(dict(sites)))


def test_names_and_texts_of_users_are_text_and_no_markup():
    rng = np.random.default_rng(0)
    sites = {
        EVIL: rng.normal(size=(2, 40)),
        'a"b': rng.normal(size=(2, 40, 2)),
        "</style>": rng.normal(size=(2, 40)),
    }
    found = document(
        sites,
        (WARNING,),
        problems=(EVIL,),
        source=EVIL,
        again=EVIL,
        lost=[{"chains": [3], "draw": 2, "error": EVIL}],
        stopping=EVIL,
    )
    text = as_html(found)
    outline = check_page(text)
    assert [tag for tag, _ in outline.tags].count("script") == 2
    assert "<script>alert" not in text
    assert record_in(text)["rows"][0]["name"] == EVIL
    assert "<code>infer.sample(x &lt; 3)</code>" in text
    written = as_markdown(found)
    assert "\\<script\\>" in written and not re.search(r"(?<!\\)<", written)


@pytest.mark.parametrize(
    ("notices", "problems", "severity", "words"),
    [
        ((), (), "none", "No rule found a problem"),
        ((Notice("info", "x", "m", "r"),), (), "info", "No error and no warning; 1 notice"),
        ((WARNING,), (), "warning", "Read the notice below before"),
        ((WARNING, Notice("info", "x", "m", "r")), (), "warning", "Read the 2 notices"),
        ((Notice("error", "x", "m", "r"),), (), "error", "Do not use these draws: 1 error."),
        ((), ("a file is missing",), "error", "Do not use these draws: damage to the stored run."),
        ((WARNING,), ("a file is missing",), "error", "Do not use these draws: damage to the stored run."),
    ],
)
def test_the_verdict_is_that_of_the_worst_notice_and_green_only_without_any(
    notices, problems, severity, words
):
    rng = np.random.default_rng(0)
    found = document({"x": rng.normal(size=(2, 20))}, notices, problems=problems)
    assert found.verdict[0] == severity and words in found.verdict[1]
    text = as_html(found)
    assert f'class="verdict {severity}"' in text
    assert ('class="verdict none"' in text) == (not notices and not problems)
    assert all(each.message.split("<")[0] in text for each in notices)
    assert record_in(text)["verdict"] == severity


def awkward():
    """Draws that a report must take: by name, sites and changes."""
    rng = np.random.default_rng(0)
    few = rng.normal(size=(4, 30))
    with_nan = few.copy()
    with_nan[1, 3:9] = np.nan
    with_nan[2, 5] = np.inf
    return {
        "one chain": ({"x": few[:1]}, {}),
        "two draws": ({"x": few[:, :2]}, {}),
        "one draw": ({"x": few[:, :1]}, {}),
        "no draws": ({"x": few[:, :0], "y": np.zeros((4, 0, 3))}, {"complete": False, "requested": 30}),
        "many chains": ({"x": rng.normal(size=(80, 20, 3))}, {}),
        "seven chains": ({"x": rng.normal(size=(7, 20, 3))}, {}),
        "nan": ({"x": with_nan, "y": few}, {}),
        "all nan": ({"x": np.full((2, 30), np.nan)}, {}),
        "constant": ({"x": np.full((2, 30), 3.0), "y": np.zeros((2, 30, 2))}, {}),
        "huge": ({"x": 1e308 * np.sign(few), "y": 1e-320 * few}, {}),
        "close": ({"x": 1e9 + 1e-6 * few}, {}),
        "whole": ({"k": rng.poisson(3.0, size=(4, 30)), "b": few > 0}, {}),
        "wide whole": ({"k": rng.integers(0, 10**6, size=(4, 30))}, {}),
        "whole up to 2^63": ({"k": rng.integers(0, 2**63, size=(4, 30), dtype=np.uint64)}, {}),
        "whole beyond 2^53": ({"k": 2**60 + rng.integers(0, 3, size=(4, 30))}, {}),
        "empty site": ({"x": few, "e": np.zeros((4, 30, 0))}, {}),
        "no statistics": ({"x": few}, {"stats": {}, "warmup": {}, "counts": {}, "timings": {}}),
        "lost chains": (
            {"x": few[:2]},
            {"lost": [{"chains": [2, 3], "draw": 7, "error": "RuntimeError: it broke"}], "chains": (0, 1)},
        ),
    }


@pytest.mark.parametrize("name", awkward())
def test_a_report_is_written_whatever_the_draws(name):
    sites, changes = awkward()[name]
    found = document(sites, **changes)
    text = as_html(found)
    check_page(text)
    assert "NaN" not in json.dumps(data_of(found), allow_nan=False)
    assert as_markdown(found).startswith("# made")
    if name == "lost chains":
        assert "chain 2, 3 at draw 7: RuntimeError: it broke" in text
    if name == "no draws":
        assert "incomplete" in text and "0 of 30" in text


def test_the_data_in_a_page_are_those_of_the_table():
    rng = np.random.default_rng(0)
    found = document({"x": rng.normal(size=(4, 50, 3))})
    data = record_in(as_html(found))
    assert found.table is not None
    assert [row["name"] for row in data["rows"]] == list(found.table.labels)
    np.testing.assert_allclose([row["mean"] for row in data["rows"]], found.table.columns["mean"], rtol=1e-9)
    assert data["num_unknowns"] == 3 and data["record"]["seed"] == 3


def test_predictions_and_priors_beside_a_run_are_shown():
    rng = np.random.default_rng(0)

    class Beside(AbstractBeside):
        chains = (0, 1)
        num_draws = 40

        def __init__(self, group, observed):
            self.observed = observed
            self._group = group

        @property
        def groups(self):
            return (self._group,)

    x, counts = rng.normal(size=(2, 40)), rng.poisson(3.0, size=(2, 40, 25))
    ahead = Beside(
        Group("posterior_predictive", {"y": counts, "mean": x}, {}, {}), {"y": rng.poisson(3.0, size=25)}
    )
    prior = Beside(Group("prior", {"x": 5 * rng.normal(size=(1, 200)), "z": x}, {}, {}), {})
    section = document({"x": x}, beside=(ahead, prior)).sections[-1]
    assert [figure.title for figure in section.figures] == ["Predictive checks", "Prior and posterior"]
    assert [panel.title for figure in section.figures for panel in figure.panels] == [
        "Predictions of y",
        "Prior and posterior of x",
    ]
    assert document({"x": x}).sections[-1].name != "predictions"


@pytest.mark.parametrize("name", ["normal", "poisson"])
def test_shares_of_predictions_below_observations_are_even_for_a_right_model(name):
    # By Kolmogorov's limit, false alarms are rarer than 1e-9 for a distance of 0.17 among 400.
    make = getattr(np.random.default_rng(5), name)
    values = transforms(np.zeros((2, 200, 400)), make(2.0, size=(2, 200, 400)), make(2.0, size=400))
    at = (np.arange(400) + 0.5) / 400
    assert np.abs(np.sort(values) - at).max() < 0.17


def test_a_report_is_written_by_the_name_of_its_file(tmp_path):
    rng = np.random.default_rng(0)
    found = document({"x": rng.normal(size=(2, 20))})
    write(found, tmp_path / "run.html")
    write(found, str(tmp_path / "run.MD"))
    assert (tmp_path / "run.html").read_text("utf-8") == as_html(found)
    assert (tmp_path / "run.MD").read_text("utf-8") == as_markdown(found)
    for path, words in (("run.pdf", "must end in .html"), ("away/run.html", "does not exist")):
        with pytest.raises(OptionError, match=words):
            write(found, tmp_path / path)
