"""Write a report into a file, as its name says."""

from pathlib import Path

from ...core.errors import OptionError
from .base import Document
from .html_page import as_html
from .markdown import as_markdown

FORMATS = {"html": as_html, "md": as_markdown}


def write(document: Document, path: str | Path) -> None:
    """Write a page for a name in `.html`, text for one in `.md`; a file of that name is replaced.

    Raises `OptionError` for another name, and for a folder that does not exist.
    """
    target = Path(path)
    if target.suffix[1:].lower() not in FORMATS:
        raise OptionError(f"report: {str(path)!r} must end in .html, for a page, or in .md, for Markdown.")
    if not target.parent.is_dir():
        raise OptionError(f"report: the folder {str(target.parent)!r} does not exist. Make it first.")
    target.write_text(FORMATS[target.suffix[1:].lower()](document), encoding="utf-8", newline="\n")


def text_of(document: Document, form: str) -> str:
    """Return a report as text; `form` is one of `FORMATS`."""
    return FORMATS[form](document)
