"""Redraw a table in the output of a notebook's cell, in its place.

Rich does so by widgets, which not every notebook has; IPython's displays can be updated without.
"""

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

_WIDTH = 110  # characters
_STYLE = (
    "white-space:pre;overflow-x:auto;line-height:1.3;font-family:ui-monospace,monospace;background:none;"
    "color:inherit"
)
_FRAME = f"<pre style='{_STYLE}'>{{code}}</pre>"


def _displayed(content: Any) -> Any:
    from IPython.display import display

    return display(content, display_id=True)


class NotebookDisplay:
    """A display that is drawn anew in its place; to be used as `rich.live.Live`.

    **Arguments**: `shown`, what to show first; `display`, which shows content of IPython and returns its handle.
    """

    def __init__(self, shown: "RenderableType", display: Callable[[Any], Any] = _displayed):
        self._shown = shown
        self._display = display
        self._handle: Any = None

    def start(self, refresh: bool = False) -> None:
        """Show it, whatever `refresh` says."""
        del refresh
        self._handle = self._display(_content(self._shown))

    def update(self, shown: "RenderableType", refresh: bool = False) -> None:
        """Show something else in its place, at once if `refresh`."""
        self._shown = shown
        if refresh and self._handle is not None:  # there is none in a notebook that keeps no displays
            self._handle.update(_content(shown))

    def stop(self) -> None:
        """Leave what is shown."""


def _content(shown: "RenderableType") -> Any:
    """Return a renderable as content of IPython: HTML with the text beside it."""
    from IPython.display import HTML
    from rich.console import Console

    console = Console(file=io.StringIO(), record=True, width=_WIDTH, force_jupyter=False, force_terminal=True)
    console.print(shown)
    return HTML(console.export_html(inline_styles=True, code_format=_FRAME))
