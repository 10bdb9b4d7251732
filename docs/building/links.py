"""Check a built site without a network: links, anchors, and what its pages load."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}
"""Tags and attributes that name files which a browser fetches by itself."""
NO_FETCH = {"canonical", "prev", "next", "edit"}
"""Kinds of `link` that name a page and load nothing."""
ADDRESS = {
    ".css": re.compile(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)'\"]*"),
    ".js": re.compile(r"https?://(?!www\.w3\.org/)[^\"'`]*"),
}
"""An address of another host in a style or a script; those of the W3C are names of languages."""


class _Page(HTMLParser):
    """The anchors and links of a page, and the files that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        for kind, name in LOADED:
            if tag == kind and name in values and values.get("rel") not in NO_FETCH:
                self.loaded.append(values[name])


def faults(folder: Path) -> list[str]:
    """Return a line for each link that leads nowhere, and each address of another host in what pages load."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    found = [fault for path in pages if path.name != "404.html" for fault in _faults(path, pages, folder)]
    for path in sorted(folder.rglob("*")):
        pattern = ADDRESS.get(path.suffix)
        if pattern and (match := pattern.search(path.read_text(encoding="utf-8"))):
            found.append(f"{path.relative_to(folder)}: an address of another host: {match[0]}")
    return found


def _faults(path: Path, pages: dict[Path, _Page], folder: Path) -> Iterator[str]:
    here = path.relative_to(folder)
    for target in pages[path].loaded:
        if urlsplit(target).netloc:
            yield f"{here}: loads {target}, of another host"
        elif not _file(path, target, folder).is_file():
            yield f"{here}: loads {target}, which is not there"
    for target in pages[path].links:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        file = _file(path, parts.path, folder)
        if file not in pages:
            if not file.is_file():
                yield f"{here}: no page {target}"
        elif parts.fragment and unquote(parts.fragment) not in pages[file].anchors:
            yield f"{here}: no anchor {target}"


def _file(page: Path, target: str, folder: Path) -> Path:
    if not target:
        return page
    path = unquote(urlsplit(target).path)
    file = (folder / path.lstrip("/") if path.startswith("/") else page.parent / path).resolve()
    return file / "index.html" if file.is_dir() else file
