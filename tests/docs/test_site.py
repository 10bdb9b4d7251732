"""Test what the site is made of, without building it: pages, their plan, links, anchors and formulas."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
try:
    from building import links, pages
    from building.formulas import as_mathml
finally:
    sys.path.remove(str(ROOT / "docs"))

HEADING = re.compile(r"^#{1,6} (.+?)\s*$", re.MULTILINE)
WRITTEN_ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
LINK = re.compile(r"\]\(([^)\s#]*)#([^)\s]+)\)")


def on_plan(entry):
    if isinstance(entry, str):
        yield entry
    else:
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from on_plan(part)


def anchors_on_github(text):
    """Return the anchors that GitHub makes of headings, and those that are written out."""
    seen, found = {}, set(WRITTEN_ANCHOR.findall(text))
    for heading in HEADING.findall(pages.FENCED.sub("", text)):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if slug in seen else slug)
        seen[slug] = seen.get(slug, 0) + 1
    return found


def test_the_plan_has_every_page_once():
    plan = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    planned = list(on_plan(plan))
    there = {place for place in pages.places_on_the_site().values() if place.endswith(".md")}
    assert sorted(planned) == sorted(place for place in there if not place.startswith("gallery/"))


def test_pages_lead_to_places_on_the_site(tmp_path):
    pages.prepare(tmp_path)
    for page in tmp_path.rglob("*.md"):
        for target in re.findall(
            r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", pages.FENCED.sub("", page.read_text("utf-8"))
        ):
            assert (page.parent / target).exists(), (page.name, target)
    example = (tmp_path / "gallery" / "nile.md").read_text("utf-8")
    assert example.startswith("# Nile\n\n**Follow the level")
    assert (
        "(../pictures/examples/nile.png)" in example and "```sh\npython examples/gallery/nile.py\n" in example
    )
    assert "def nile(flow):" in example


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/**/*.md")), ids=lambda path: path.stem)
def test_links_to_a_place_on_a_page_find_it(page):
    text = page.read_text(encoding="utf-8")
    for target, anchor in LINK.findall(pages.FENCED.sub("", text)):
        other = page.parent / target if target else page
        if other.suffix == ".md" and ":" not in target:
            assert anchor in anchors_on_github(other.read_text(encoding="utf-8")), (target, anchor)


def test_lists_are_lists_for_the_builder():
    text = "**Fields**\n- `a`: first,\n  second line.\n- b\n\n1. One:\n\n   text of one\nnot of the list"
    assert pages._with_lists(text) == (
        "**Fields**\n\n- `a`: first,\n    second line.\n- b\n\n1. One:\n\n    text of one\nnot of the list"
    )


def test_a_page_that_leads_out_of_the_site_is_an_error(tmp_path, monkeypatch):
    page = ROOT / "docs" / "index.md"
    with pytest.raises(
        ValueError, match=r"docs/index\.md links to getting_started\.md, which is not on the site"
    ):
        pages._page(page, "index.md", {page: "index.md"})


@pytest.mark.parametrize(
    ("formula", "part"),
    [
        ("exp(-z^2 / 2) / scale", "<mfrac><mrow><mi>exp</mi>"),
        ("(a + b) / (c d)", "<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mrow><mi>c</mi>"),
        ("scale (a + 1)", "<mi>scale</mi><mspace"),  # a product: scale is no function
        ("sqrt(2 pi)", "<msqrt><mn>2</mn>"),
        ("x^(a - 1)", "<msup><mrow><mi>x</mi></mrow><mrow><mi>a</mi>"),
        ("probs[k]", "<msub><mrow><mi>probs</mi></mrow><mrow><mi>k</mi></mrow></msub>"),
        ("P(X <= low)", "<mo>≤</mo>"),
        ("choose(n, k) p", 'linethickness="0"'),
        ("-|z| x", '<mo form="prefix">−</mo>'),
    ],
)
def test_formulas_are_drawn(formula, part):
    drawn = as_mathml(formula)
    assert drawn is not None and part in drawn
    for tag in ("mrow", "mfrac", "msup", "msub", "math"):
        assert drawn.count(f"<{tag}>") + drawn.count(f"<{tag} ") == drawn.count(f"</{tag}>"), tag


@pytest.mark.parametrize(
    "text", ["Sum over j of x^j", "f_1(x_1) ... f_n(x_n)", "(a + b", "x", "a +", "where"]
)
def test_words_and_halves_are_no_formulas(text):
    assert as_mathml(text) is None


def test_most_densities_are_drawn():
    text = (ROOT / "docs" / "distributions.md").read_text(encoding="utf-8")
    assert pages._with_densities(text).count("<math") > 130


def test_a_checked_site_names_each_fault(tmp_path):
    """Each kind of fault once."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text('<h1 id="top">a</h1>', "utf-8")
    (tmp_path / "x.css").write_text(
        "/* https://fonts.example */ a { background: url(//example.org/a.png) }", "utf-8"
    )
    (tmp_path / "x.js").write_text(
        'var a = "http://www.w3.org/2000/svg", b = "https://example.org/b.js"', "utf-8"
    )
    (tmp_path / "index.html").write_text(
        '<a href="a/#top">right</a> <a href="a/#no">x</a> <a href="b/">x</a> <a href="https://example.org">right</a>'
        '<script src="https://example.org/c.js"></script> <img src="no.png"> <link rel="stylesheet" href="x.css">',
        "utf-8",
    )
    assert links.faults(tmp_path) == [
        "index.html: loads https://example.org/c.js, of another host",
        "index.html: loads no.png, which is not there",
        "index.html: no anchor a/#no",
        "index.html: no page b/",
        "x.css: an address of another host: url(//example.org/a.png",
        "x.js: an address of another host: https://example.org/b.js",
    ]
