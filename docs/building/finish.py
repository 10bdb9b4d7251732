"""Finish the built pages: formulas as MathML, and no address of another host in what a browser loads by itself."""

import html
import re
from pathlib import Path

from latex2mathml import converter

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
HOSTS = re.compile(r"https://(?:unpkg\.com|cdn\.jsdelivr\.net|api\.github\.com|\$\{e\}/api/v4)[^\"`']*")
"""Addresses from which the theme's script would fetch what these pages do not use: diagrams, light boxes, Python."""

SCROLLED = 'class:"md-typeset__scrollwrap"'
"""The box that the theme puts around a table: it scrolls, so the keyboard must reach it."""
NO_VERSION = '"select.version":"Select version"'
"""The name of the menu of versions for screen readers: it must have the words that it shows."""


def finish(folder: Path) -> None:
    """Finish every page and script of a folder."""
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        text = text.replace(NO_VERSION, f'"select.version":"Version: {folder.name}"')
        page.write_text(FORMULA.sub(_mathml, text), encoding="utf-8")
    for script in folder.rglob("*.js"):
        text = script.read_text(encoding="utf-8")
        text = HOSTS.sub("about:blank", text).replace(SCROLLED, f"tabIndex:0,{SCROLLED}")
        script.write_text(text, encoding="utf-8")


def _mathml(match: re.Match[str]) -> str:
    display = "block" if match[2] == "[" else "inline"
    return converter.convert(html.unescape(match[3]), display=display)
