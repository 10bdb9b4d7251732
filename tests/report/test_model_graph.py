"""Hold what a graph of a model prints, and what it is written as."""

import re
import stat
from pathlib import Path

import pytest

import accord as ac
from accord.core.errors import OptionError
from accord.report.model_graph import ModelGraph, Node

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


def test_a_picture_takes_graphviz(tmp_path, without_graphviz):
    with pytest.raises(OptionError, match=r"'.*g\.svg' takes the program `dot` .*Install.*g\.mmd'"):
        GRAPH.save(tmp_path / "g.svg")
    with pytest.raises(OptionError, match=r"must end in one of \.svg, \.png, \.pdf, \.dot, \.mmd"):
        GRAPH.save(tmp_path / "g.jpeg")


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_graphviz_draws_a_picture(tmp_path, with_graphviz, kind):
    GRAPH.save(tmp_path / f"g.{kind}")
    assert (tmp_path / f"g.{kind}").read_text(encoding="utf-8") == f"-T{kind}\n{DOT}"


def test_what_graphviz_says_is_told(tmp_path, with_graphviz):
    (tmp_path / "programs" / "dot").write_text("#!/bin/sh\necho no such format >&2\nexit 1\n")
    with pytest.raises(
        OptionError, match=r"could not draw the graph as pdf: no such format\. Save it as \.mmd"
    ):
        GRAPH.save(tmp_path / "g.pdf")
    assert "text/markdown" in GRAPH._repr_mimebundle_()


def test_a_notebook_gets_a_picture_or_what_it_draws_itself(monkeypatch, with_graphviz):
    shown = GRAPH._repr_mimebundle_()
    assert shown["image/svg+xml"] == f"-Tsvg\n{DOT}" and shown["text/plain"] == LIST
    monkeypatch.setenv("PATH", "")
    shown = GRAPH._repr_mimebundle_()
    assert shown["text/markdown"] == f"```mermaid\n{MERMAID}```\n" and shown["text/plain"] == LIST


def test_the_drawing_on_the_page_is_that_of_its_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the code of the page writes a file
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    (drawing,) = re.findall(r"^```mermaid\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    before = page.partition("```mermaid")[0]
    for block in re.findall(r"^```python\n(.*?)^```$", before, re.MULTILINE | re.DOTALL):
        exec(block, names)
    model: ac.Model = names["model"]
    assert model.graph().mermaid == drawing
