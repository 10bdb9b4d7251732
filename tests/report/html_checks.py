"""Check pages: well formed, headings in order, nothing fetched, pictures with words."""

import re
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link", "img", "hr"}


class Outline(HTMLParser):
    """Read a page: open tags, headings, tags with attributes, and texts by tag; complains about tags out of order."""

    def __init__(self, text: str):
        super().__init__()
        self.stack: list[str] = []
        self.levels: list[int] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.stack, self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), (tag, attrs)
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag, (tag, self.stack)

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] == "script":
            self.scripts.append(data)


def check_page(text: str) -> Outline:
    """Check what holds for every page, and return its outline."""
    found = Outline(text)
    assert text.startswith("<!DOCTYPE html>")
    assert found.levels[0] == 1 and found.levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(found.levels, found.levels[1:], strict=False))
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [str(attrs["href"]) for _, attrs in found.tags if "href" in attrs]
    assert all(link[0] == "#" and link[1:] in ids for link in links)
    assert not [
        tag for tag, attrs in found.tags if "src" in attrs or tag in ("link", "img", "iframe", "base")
    ]
    assert not [
        attrs for _, attrs in found.tags if any(name.startswith("on") or name == "style" for name in attrs)
    ]
    style = text[text.index("<style>") : text.index("</style>")]
    assert not re.search(r"https?:|url\(|@import", style)
    assert "http" not in re.sub(r"http-equiv", "", text[: text.index("<body>")])
    pictures = [attrs for tag, attrs in found.tags if tag == "svg"]
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in pictures)
    assert all(attrs.get("scope") in ("row", "col") for tag, attrs in found.tags if tag == "th")
    assert [tag for tag, _ in found.tags if tag in ("header", "nav", "main", "footer")] == [
        "header",
        "nav",
        "main",
        "footer",
    ]
    assert "nan" not in re.findall(r" [dxy]='([^']*)'", text)
    assert not re.search(r" (?:d|x|y|x1|y1|transform)='[^']*(?:nan|inf)", text)
    return found
