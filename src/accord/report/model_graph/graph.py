"""Keep the sites of a model and what they depend on, and show them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import OptionError
from ...core.tracebacks import entry_points
from .dot import as_dot, picture
from .mermaid import as_mermaid
from .node import Node, PlateTree

_PICTURES = (".svg", ".png", ".pdf")
_REMARKS = {"observed": ", observed", "collapsed": ", integrated out"}


@entry_points
@dataclass(frozen=True, repr=False)
class ModelGraph:
    """The sites of a model, with an arrow to each from what it is written with; made by `Model.graph`.

    A notebook draws it, and `save` writes a picture: what is unknown is round, what is observed round and grey, what is
    computed a box, and plates and scans are frames around what they repeat.

    **Fields**
    - `name`: the model's.
    - `nodes`: its sites in order, each with `name`, `kind`, `distribution` and `plates`, the outermost first.
    - `edges`: pairs of names of sites; the law or value of the second is written with the value of the first.

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

    def save(self, path: str | Path) -> None:
        """Write a file, as its ending says: `.dot` or `.mmd` for text, `.svg`, `.png` or `.pdf` for a picture.

        **Raises** `OptionError` for another ending, and for a picture where Graphviz is not installed or fails.
        """
        path = Path(path)
        texts: dict[str, Callable[[], str]] = {".dot": lambda: self.dot, ".mmd": lambda: self.mermaid}
        if path.suffix in texts:
            path.write_text(texts[path.suffix](), encoding="utf-8")
            return
        if path.suffix not in _PICTURES:
            raise OptionError(
                f"ModelGraph.save: {str(path)!r} must end in one of {', '.join([*_PICTURES, *texts])}."
            )
        drawn = picture(self.dot, path.suffix[1:])
        if drawn is None:
            raise OptionError(
                f"ModelGraph.save: {str(path)!r} takes the program `dot` of Graphviz, which is not installed. Install "
                "it (`apt install graphviz`, `brew install graphviz`), or save text for Mermaid, which takes nothing: "
                f"{str(path.with_suffix('.mmd'))!r}."
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

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows: a picture where Graphviz is installed, else text that JupyterLab draws."""
        try:
            drawn = picture(self.dot, "svg")
        except OptionError:  # a notebook can do without
            drawn = None
        if drawn is not None:
            return {"image/svg+xml": drawn.decode(), "text/plain": str(self)}
        return {"text/markdown": f"```mermaid\n{self.mermaid}```\n", "text/plain": str(self)}

    def _ids(self) -> dict[str, str]:
        return {node.name: f"site{number}" for number, node in enumerate(self.nodes)}
