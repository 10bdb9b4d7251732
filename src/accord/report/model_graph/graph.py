"""Hold and show the graph of a model: its sites and their dependencies."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...core.errors import OptionError
from ...core.tracebacks import entry_points
from .dot import as_dot, picture
from .mermaid import as_mermaid
from .node import Node, PlateTree
from .svg import as_svg

_PICTURES = (".png", ".pdf")
_REMARKS = {"observed": ", observed", "collapsed": ", integrated out"}


@entry_points
@dataclass(frozen=True, repr=False)
class ModelGraph:
    """Graph of a model, made by `Model.graph`: its sites, and an arrow to each from the sites it depends on.

    A notebook draws it, and `save` writes a picture. Unknowns are round, observed sites round and grey, deterministic
    sites boxes. Plates and scans are frames around the sites that they repeat.

    **Fields**
    - `name`: name of the model.
    - `nodes`: its sites in order, each with `name`, `kind`, `distribution` and `plates`, the outermost first.
    - `edges`: pairs of names of sites; the distribution or value of the second depends on the first.

    **Example**

    >>> graph = eight_schools(sigma, y).graph()
    >>> print(graph)
    mu ~ Normal
    tau ~ HalfCauchy
    school (8):
      z ~ Normal
      theta from mu, tau, z
      y ~ Normal given theta, observed
    >>> graph.edges
    (('mu', 'theta'), ('tau', 'theta'), ('z', 'theta'), ('theta', 'y'))
    """

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]

    @property
    def dot(self) -> str:
        """The graph in the language of Graphviz."""
        return as_dot(self.name, self.nodes, self.edges, self._ids())

    @property
    def mermaid(self) -> str:
        """The graph in the language of Mermaid, which GitHub, GitLab and JupyterLab draw."""
        return as_mermaid(self.nodes, self.edges, self._ids())

    @property
    def svg(self) -> str:
        """The graph as a picture, drawn without any program and without a network."""
        return as_svg(self.name, self.nodes, self.edges)

    def save(self, path: str | Path) -> None:
        """Write a file in the format of its ending: `.svg` for a picture, `.dot` or `.mmd` for text.

        `.png` and `.pdf` need Graphviz, which also draws `.dot` with other options.

        **Raises** `OptionError` for another ending, and for `.png` and `.pdf` if Graphviz is not installed or fails.
        """
        path = Path(path)
        texts: dict[str, Callable[[], str]] = {
            ".svg": lambda: self.svg,
            ".dot": lambda: self.dot,
            ".mmd": lambda: self.mermaid,
        }
        if path.suffix in texts:
            path.write_text(texts[path.suffix](), encoding="utf-8")
            return
        if path.suffix not in _PICTURES:
            raise OptionError(
                f"ModelGraph.save: {str(path)!r} must end in one of {', '.join([*texts, *_PICTURES])}."
            )
        drawn = picture(self.dot, path.suffix[1:])
        if drawn is None:
            raise OptionError(
                f"ModelGraph.save: {str(path)!r} needs the program `dot` of Graphviz, which is not installed. Install "
                "it (`apt install graphviz`, `brew install graphviz`), or save a picture without it: "
                f"{str(path.with_suffix('.svg'))!r}."
            )
        path.write_bytes(drawn)

    def __str__(self) -> str:
        def written(node: Node) -> str:
            given = ", ".join(parent for parent, child in self.edges if child == node.name)
            if node.kind == "intervened":
                return f"{node.name} has a value by do"
            if node.kind in ("deterministic", "factor"):
                return f"{node.name} from {given or 'constants'}"
            law = f"{node.name} ~ {node.distribution}{given and f' given {given}'}"
            return law + _REMARKS.get(node.kind, "")

        return "\n".join(PlateTree.of(self.nodes).lines(written, lambda _, title: f"{title}:", None))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show the picture in a notebook, in the colours of the page."""
        drawn = as_svg(self.name, self.nodes, self.edges, is_inline=True)
        return f"<div style='overflow-x:auto'>{drawn}</div>"

    def _repr_svg_(self) -> str:
        """Return the picture for viewers that show no HTML."""
        return self.svg

    def _ids(self) -> dict[str, str]:
        return {node.name: f"site{number}" for number, node in enumerate(self.nodes)}
