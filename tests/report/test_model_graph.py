"""Hold what a graph of a model prints, and what it is written as."""

import itertools
import re
import stat
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from accord.core.errors import OptionError
from accord.report.model_graph import ModelGraph, Node

SVG = "{http://www.w3.org/2000/svg}"
SCHOOL = (("school", 8),)
GRAPH = ModelGraph(
    "schools",
    (
        Node("mu", "latent", "Normal", ()),
        Node("theta", "collapsed", "Normal", SCHOOL),
        Node("twice", "deterministic", "", (*SCHOOL, ("", 3))),
        Node("y", "observed", "Normal", SCHOOL),
        Node("bonus", "factor", "", ()),
        Node("set", "intervened", "Normal", ()),
    ),
    (("mu", "theta"), ("theta", "twice"), ("twice", "y"), ("mu", "bonus")),
)
DOT = """digraph "schools" {
  graph [fontname="sans-serif"]
  node [fontname="sans-serif"]
  site0 [label="mu\\nNormal", shape=ellipse]
  subgraph cluster_0 { label="school (8)"; labeljust=r; labelloc=b; style=rounded
    site1 [label="theta\\nNormal", shape=ellipse, style=dashed]
    subgraph cluster_1 { label="3 steps"; labeljust=r; labelloc=b; style=rounded
      site2 [label="twice", shape=box]
    }
    site3 [label="y\\nNormal", shape=ellipse, style=filled, fillcolor=lightgrey]
  }
  site4 [label="bonus", shape=diamond]
  site5 [label="set\\nNormal", shape=box, peripheries=2]
  site0 -> site1
  site1 -> site2
  site2 -> site3
  site0 -> site4
}
"""
MERMAID = """flowchart TD
  site0(["mu<br>Normal"])
  subgraph plate0["school (8)"]
    site1(["theta<br>Normal"]):::collapsed
    subgraph plate1["3 steps"]
      site2["twice"]
    end
    site3(["y<br>Normal"]):::observed
  end
  site4{{"bonus"}}
  site5[["set<br>Normal"]]
  site0 --> site1
  site1 --> site2
  site2 --> site3
  site0 --> site4
  classDef observed fill:#d3d3d3,color:#000
  classDef collapsed stroke-dasharray:4
"""
LIST = """mu ~ Normal
school (8):
  theta ~ Normal given mu, integrated out
  3 steps:
    twice from theta
  y ~ Normal given twice, observed
bonus from mu
set has a value by do"""
ODD = ModelGraph("odd", (Node('a "b" <c> #1\\', "latent", "Normal", ()),), ())


def test_a_graph_is_text_for_those_who_read_and_draw():
    assert GRAPH.dot == DOT
    assert GRAPH.mermaid == MERMAID
    assert str(GRAPH) == LIST


def test_signs_with_a_meaning_of_their_own_are_written_so_that_they_have_none():
    assert r'label="a \"b\" <c> #1\\\nNormal"' in ODD.dot
    assert '(["a #quot;b#quot; #lt;c#gt; #35;1\\<br>Normal"])' in ODD.mermaid


@pytest.fixture
def without_graphviz(monkeypatch):
    monkeypatch.setenv("PATH", "")


@pytest.fixture
def with_graphviz(monkeypatch, tmp_path):
    """A program in the place of Graphviz, which says what it was asked and given."""
    program = tmp_path / "programs" / "dot"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$@"\n/bin/cat\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent))


def test_text_is_saved_without_graphviz(tmp_path, without_graphviz):
    for name, text in (("g.dot", DOT), ("g.mmd", MERMAID)):
        GRAPH.save(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_a_picture_of_pixels_takes_graphviz(tmp_path, without_graphviz):
    with pytest.raises(OptionError, match=r"'.*g\.png' needs the program `dot` .*Install.*g\.svg'"):
        GRAPH.save(tmp_path / "g.png")
    with pytest.raises(OptionError, match=r"must end in one of \.svg, \.dot, \.mmd, \.png, \.pdf"):
        GRAPH.save(tmp_path / "g.jpeg")


@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_graphviz_draws_a_picture(tmp_path, with_graphviz, kind):
    GRAPH.save(tmp_path / f"g.{kind}")
    assert (tmp_path / f"g.{kind}").read_text(encoding="utf-8") == f"-T{kind}\n{DOT}"


def test_what_graphviz_says_is_told(tmp_path, with_graphviz):
    (tmp_path / "programs" / "dot").write_text("#!/bin/sh\necho no such format >&2\nexit 1\n")
    with pytest.raises(
        OptionError, match=r"could not draw the graph as pdf: no such format\. Save it as \.svg"
    ):
        GRAPH.save(tmp_path / "g.pdf")


def parsed(graph):
    return ElementTree.fromstring(graph.svg)


def texts(graph):
    return [each.text for each in parsed(graph).iter(SVG + "text")]


def test_a_drawing_takes_no_program_and_no_network(tmp_path, without_graphviz):
    GRAPH.save(tmp_path / "g.svg")
    assert (tmp_path / "g.svg").read_text(encoding="utf-8") == GRAPH.svg == GRAPH._repr_svg_()
    links = re.findall(r"https?://[^'\"]*|href|url\(|<script", GRAPH.svg + GRAPH._repr_html_())
    assert set(links) == {"http://www.w3.org/2000/svg"}  # the name of the format
    assert "currentColor" in GRAPH._repr_html_() and "#fff" not in GRAPH._repr_html_()


def test_a_drawing_has_each_site_plate_and_arrow_once():
    for graph in (GRAPH, ODD):
        found = texts(graph)
        for node in graph.nodes:
            assert node.name in found
        picture = parsed(graph)
        between = [edge for edge in graph.edges if edge[0] != edge[1]]
        assert len(list(picture.iter(SVG + "polyline"))) == len(between)
        assert len(list(picture.iter(SVG + "path"))) == len(graph.edges) - len(between)


LAYERED = ModelGraph(
    "layers",
    (
        Node("mu", "latent", "Normal", ()),
        Node("sd", "latent", "HalfNormal", ()),
        Node("effect", "latent", "Normal", (("group", 3),)),
        Node("inner", "latent", "Normal", (("group", 3), ("floor", 2))),
        Node("mean", "deterministic", "", (("row", 9),)),
        Node("y", "observed", "Normal", (("row", 9),)),
        Node("step", "latent", "Normal", (("", 4),)),
    ),
    (
        ("mu", "effect"),
        ("sd", "inner"),
        ("effect", "mean"),
        ("inner", "mean"),
        ("mean", "y"),
        ("sd", "y"),
        ("mu", "y"),
        ("step", "step"),
    ),
)


def boxes(graph):
    """By site, left, top, right and bottom of its shape, in the order of the model."""
    found = []
    for each in parsed(graph).find(SVG + "g"):
        at = {name: float(value) for name, value in each.attrib.items() if name in WHERE}
        if each.tag == SVG + "ellipse":
            found.append((at["cx"] - at["rx"], at["cy"] - at["ry"], at["cx"] + at["rx"], at["cy"] + at["ry"]))
        elif each.tag == SVG + "rect" and "rx" not in at:
            found.append((at["x"], at["y"], at["x"] + at["width"], at["y"] + at["height"]))
    return dict(zip((node.name for node in graph.nodes), found, strict=True))


WHERE = ("cx", "cy", "rx", "ry", "x", "y", "width", "height")


def apart(one, other):
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_sites_lie_apart_and_arrows_point_downward():
    found = boxes(LAYERED)
    for one, other in itertools.combinations(found.values(), 2):
        assert apart(one, other)
    for one, other in LAYERED.edges:
        assert one == other or found[one][3] <= found[other][1]


def test_arrows_pass_no_site_on_their_way():
    found = boxes(LAYERED)
    lines = [
        [tuple(map(float, point.split(","))) for point in each.attrib["points"].split()]
        for each in parsed(LAYERED).iter(SVG + "polyline")
    ]
    for (one, other), points in zip(
        [edge for edge in LAYERED.edges if edge[0] != edge[1]], lines, strict=True
    ):
        for (x, y), (u, v) in itertools.pairwise(points):
            for part in np.linspace(0, 1, 50):
                a, b = x + part * (u - x), y + part * (v - y)
                crossed = [
                    name
                    for name, (left, top, right, bottom) in found.items()
                    if left < a < right and top < b < bottom
                ]
                assert set(crossed) <= {one, other}


def test_a_graph_without_sites_is_drawn():
    assert parsed(ModelGraph("nothing", (), ())).tag == SVG + "svg"


def test_what_is_named_in_a_drawing_is_text_and_no_markup():
    evil = "<script>&'\""
    graph = ModelGraph(evil, (Node(evil, "latent", "Normal", ((evil, 2),)),), ())
    assert texts(graph) == [f"{evil} (2)", evil, "Normal"]
    assert "<script" not in graph._repr_html_()


def test_the_drawing_on_the_page_is_that_of_its_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the code of the page writes a file
    docs = Path(__file__).parents[2] / "docs"
    before, is_there, _ = (docs / "models.md").read_text(encoding="utf-8").partition("(pictures/exam.svg)")
    assert is_there
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", before, re.MULTILINE | re.DOTALL):
        exec(block, names)
    assert (tmp_path / "exam.svg").read_bytes() == (docs / "pictures" / "exam.svg").read_bytes()
