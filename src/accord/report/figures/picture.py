"""Hand a figure to people: in a notebook, or as a file."""

import html
from dataclasses import dataclass
from pathlib import Path

from ...core.errors import OptionError
from ...core.tracebacks import entry_points
from .marks import Figure
from .svg import figure_as_svg, panel_as_svg


@entry_points
@dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """Figure of a run: shows itself in a notebook, light or dark, and can be saved. Prints what it shows in words.

    **Fields**
    - `kind`: which plot it is, such as `"trace"`.
    - `figure`: the marks of its panels, in the units of the data.

    **Example**

    >>> picture = draws.plot("trace", ["mu", "tau"])
    >>> picture
    <Picture 'trace': 2 panels>
    >>> picture.save("trace.svg")
    """

    kind: str
    figure: Figure

    def save(self, path: str | Path) -> None:
        """Write it as an SVG file, black on white, which replaces a file of that name.

        **Raises** `OptionError` for a name that does not end in `.svg`, and for a folder that does not exist.
        """
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise OptionError(
                f"save: {str(path)!r} must end in .svg. Browsers and most programs turn it into others."
            )
        if not target.parent.is_dir():
            raise OptionError(f"save: the folder {str(target.parent)!r} does not exist. Make it first.")
        target.write_text(self._repr_svg_(), encoding="utf-8", newline="\n")

    def __repr__(self) -> str:
        count = len(self.figure.panels)
        return f"<Picture {self.kind!r}: {count} panel{'s' * (count != 1)}>"

    def __str__(self) -> str:
        return "\n".join(panel.sentence for panel in self.figure.panels)

    def _repr_svg_(self) -> str:
        return figure_as_svg(self.figure)

    def _repr_html_(self) -> str:
        panels = "".join(panel_as_svg(panel) for panel in self.figure.panels)
        words = html.escape(self.figure.sentence)
        return f"<div style='display:flex;flex-wrap:wrap;gap:1em'>{panels}</div><p>{words}</p>"
