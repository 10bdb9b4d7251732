"""Write a graph in the language of Mermaid, which GitHub, GitLab and JupyterLab draw.

Source: https://mermaid.js.org/syntax/flowchart.html.
"""

from collections.abc import Mapping, Sequence

from .node import Node, PlateTree, label

_STYLES = {
    "latent": ("([", "])", ""),
    "collapsed": ("([", "])", ":::collapsed"),
    "observed": ("([", "])", ":::observed"),
    "deterministic": ("[", "]", ""),
    "intervened": ("[[", "]]", ""),
    "factor": ("{{", "}}", ""),
}
_CLASSES = {"observed": "fill:#d3d3d3,color:#000", "collapsed": "stroke-dasharray:4"}


def as_mermaid(nodes: Sequence[Node], edges: Sequence[tuple[str, str]], ids: Mapping[str, str]) -> str:
    """Return the text; `ids` maps each site to a name of letters and digits."""

    def node(each: Node) -> str:
        before, after, style = _STYLES[each.kind]
        return f'{ids[each.name]}{before}"{_escaped(label(each, chr(10)))}"{after}{style}'

    def opening(number: int, title: str) -> str:
        return f'subgraph plate{number}["{_escaped(title)}"]'

    kinds = {each.kind for each in nodes}
    lines = [
        *PlateTree.of(nodes).lines(node, opening, "end"),
        *(f"{ids[parent]} --> {ids[child]}" for parent, child in edges),
        *(f"classDef {kind} {style}" for kind, style in _CLASSES.items() if kind in kinds),
    ]
    return "\n".join(["flowchart TD", *(f"  {line}" for line in lines)]) + "\n"


def _escaped(text: str) -> str:
    """Escape characters that have a meaning in Mermaid."""
    for sign, code in {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;"}.items():
        text = text.replace(sign, code)
    return text.replace("\n", "<br>")
