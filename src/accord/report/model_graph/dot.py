"""Write a graph in the language of Graphviz, and draw it by Graphviz.

Source: https://graphviz.org/doc/info/lang.html.
"""

import shutil
import subprocess
from collections.abc import Mapping, Sequence

from ...core.errors import OptionError
from .node import Node, PlateTree, label

_PATIENCE = 60  # seconds
_STYLES = {
    "latent": "shape=ellipse",
    "collapsed": "shape=ellipse, style=dashed",
    "observed": "shape=ellipse, style=filled, fillcolor=lightgrey",
    "deterministic": "shape=box",
    "intervened": "shape=box, peripheries=2",
    "factor": "shape=diamond",
}


def as_dot(name: str, nodes: Sequence[Node], edges: Sequence[tuple[str, str]], ids: Mapping[str, str]) -> str:
    """Return the text; `ids` maps each site to a name of letters and digits."""

    def node(each: Node) -> str:
        text = label(each, "\n")
        return f"{ids[each.name]} [label={_quoted(text)}, {_STYLES[each.kind]}]"

    def opening(number: int, title: str) -> str:
        return f"subgraph cluster_{number} {{ label={_quoted(title)}; labeljust=r; labelloc=b; style=rounded"

    lines = [
        'graph [fontname="sans-serif"]',
        'node [fontname="sans-serif"]',
        *PlateTree.of(nodes).lines(node, opening, "}"),
        *(f"{ids[parent]} -> {ids[child]}" for parent, child in edges),
    ]
    return "\n".join([f"digraph {_quoted(name)} {{", *(f"  {line}" for line in lines), "}"]) + "\n"


def picture(dot: str, kind: str) -> bytes | None:
    """Return a picture of a graph in a format such as `"png"`; None if Graphviz is not installed.

    **Raises** `OptionError` if Graphviz fails, or takes longer than a minute.
    """
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, f"-T{kind}"], input=dot.encode(), capture_output=True, check=True, timeout=_PATIENCE
        )
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        raise OptionError(
            f"Graphviz could not draw the graph as {kind}: {said}. Save it as .svg or .dot."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise OptionError(
            f"Graphviz has not drawn the graph in {_PATIENCE} s. Save it as .svg or .dot."
        ) from error
    return done.stdout


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
