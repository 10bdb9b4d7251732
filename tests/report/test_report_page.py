"""Check what notebooks show of runs, notices and tables: escaped, limited, nothing from elsewhere."""

import re

import numpy as np
import pytest

from accord.core.notice import Notice
from accord.core.series import InMemory
from accord.report import summarise
from accord.report.page import ROWS, run_as_html

EVIL = "<script>alert('&')</script>"
RNG = np.random.default_rng(0)
NOTICES = (
    Notice("error", "r_hat", f"R-hat of {EVIL} is 3.", "Draw <more>."),
    Notice("info", "single_chain", "One chain.", ""),
)


def page(sites, notices=NOTICES):
    return run_as_html(
        "Draws of " + EVIL, InMemory(sites), notices, dims={"x": ("row",)}, coords={"row": [EVIL] * 3}
    )


def test_what_users_name_is_text_and_no_markup():
    text = page({EVIL: RNG.normal(size=(2, 20)), "x": RNG.normal(size=(2, 20, 3))})
    assert "<script" not in text and "alert(&#x27;&amp;&#x27;)" in text
    assert "Draw &lt;more&gt;." in text and "x[&lt;script&gt;" in text
    assert "<script" not in NOTICES[0]._repr_html_()
    assert "<script" not in summarise({EVIL: np.zeros((2, 5))})._repr_html_()


def test_a_page_fetches_nothing():
    assert not re.search(r"https?:|//|url\(|@import|src=|href=", page({"x": RNG.normal(size=(2, 20))}))


def test_every_tag_is_closed():
    text = page({"x": RNG.normal(size=(2, 20))})
    for tag in ("div", "p", "b", "code", "details", "summary", "table", "thead", "tbody", "tr", "th", "td"):
        assert len(re.findall(rf"<{tag}[ >]", text)) == text.count(f"</{tag}>"), tag


def test_the_most_severe_notice_comes_first_and_is_seen():
    text = page({"x": RNG.normal(size=(2, 20))})
    assert (
        text.index("<details open><summary>2 notices")
        < text.index("<b>error</b>")
        < text.index("<b>info</b>")
    )
    assert "<details><summary>1 notice</summary>" in page({"x": RNG.normal(size=(2, 20))}, NOTICES[1:])
    assert "notice" not in page({"x": RNG.normal(size=(2, 20))}, ())


@pytest.mark.parametrize("width", [0, 1, ROWS, 500])
def test_a_run_shows_few_rows_and_says_how_many_there_are(width):
    asked = []

    class Counted(InMemory):
        def columns(self, name, scalars):
            asked.append(len(scalars))
            return super().columns(name, scalars)

    text = run_as_html("head", Counted({"y": RNG.normal(size=(2, 20, width))}), (), dims={}, coords={})
    assert text.count("<tr") - 1 == sum(asked) == min(width, ROWS)
    assert ("... and 480 more rows" in text) == (width == 500)
