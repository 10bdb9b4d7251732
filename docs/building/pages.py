"""Prepare the pages of the site: those in `docs` as they are, and pages of what they link to elsewhere."""

import ast
import posixpath
import re
import shutil
from pathlib import Path, PurePosixPath

from .formulas import as_mathml

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "examples" / "gallery"
PICTURES = "pictures/examples"
ELSEWHERE = {
    "benchmarks/README.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
"""Pages that are outside of `docs`, and where they are on the site."""
STANDS_FOR = {"examples/gallery": "examples.md", "README.md": "index.md"}
"""Files and folders to which links lead, and the page of the site that stands for each."""

LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])|(?<=<img src=\")([^\"]+)(?=\")")
CODE = re.compile(r"`([^`]*[^`\w][^`]*)`")
DENSITY = 3
"""Column of the densities in the table of distributions."""
ITEM = re.compile(r"(?:[-*]|\d\.) ")
FENCED = re.compile(r"(^```.*?^```[ ]*$)", re.MULTILINE | re.DOTALL)


def prepare(into: Path) -> None:
    """Write all pages and pictures to a folder, which is emptied first."""
    shutil.rmtree(into, ignore_errors=True)
    places = places_on_the_site()
    for file, place in places.items():
        (into / place).parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            (into / place).write_text(_page(file, place, places), encoding="utf-8")
        elif file.suffix == ".py":
            (into / place).write_text(_example(file), encoding="utf-8")
        else:
            shutil.copyfile(file, into / place)


def places_on_the_site() -> dict[Path, str]:
    """Return the place of each file on the site, relative to its root."""
    docs = ROOT / "docs"
    shown = sorted(path for path in docs.rglob("*") if path.suffix in {".md", ".png", ".svg", ".css"})
    places = {path: path.relative_to(docs).as_posix() for path in shown}
    places |= {path: f"gallery/{path.stem}.md" for path in sorted(GALLERY.glob("*.py"))}
    return places | {ROOT / path: place for path, place in ELSEWHERE.items()}


def _page(file: Path, place: str, places: dict[Path, str]) -> str:
    """A page whose links lead to places on the site; code is left as it is."""
    known = {path.relative_to(ROOT).as_posix(): target for path, target in places.items()} | STANDS_FOR
    here = file.relative_to(ROOT).parent.as_posix()

    def moved(match: re.Match[str]) -> str:
        target = match[0]
        if re.match(r"[a-z]+:", target):
            return target
        path = posixpath.normpath(posixpath.join(here, target))
        if path not in known:
            raise ValueError(f"{file.relative_to(ROOT)} links to {target}, which is not on the site")
        return posixpath.relpath(known[path], str(PurePosixPath(place).parent))

    text = file.read_text(encoding="utf-8")
    parts = FENCED.split(_with_densities(text) if place == "distributions.md" else text)
    return "".join(part if part.startswith("```") else _with_lists(LINK.sub(moved, part)) for part in parts)


def _with_lists(text: str) -> str:
    """Lists as the builder reads them: after a blank line, and what belongs to an item indented by four."""
    lines, width = [], 0  # of the mark of the item that is open
    for line in text.split("\n"):
        item = ITEM.match(line)
        if item and not width and lines and lines[-1].strip():
            lines.append("")
        if item:
            width = len(item[0])
        elif line.strip() and not line.startswith(" "):
            width = 0
        is_inside = width and not item and line.startswith(" " * width)
        lines.append(" " * (4 - width) + line if is_inside else line)
    return "\n".join(lines)


def _with_densities(text: str) -> str:
    """The table of distributions with densities as formulas, where they are nothing but formulas."""

    def drawn(match: re.Match[str]) -> str:
        return as_mathml(match[1].replace("\\|", "|")) or match[0]

    def row(line: str) -> str:
        cells = line.split(" | ")
        if line.startswith("| <img") and len(cells) > DENSITY:
            density, *support = cells[DENSITY].partition("<br>Support")
            cells[DENSITY] = "".join([CODE.sub(drawn, density), *support])
        return " | ".join(cells)

    return "\n".join(row(line) for line in text.split("\n"))


def _example(file: Path) -> str:
    """An example as a page: its words, its picture if there is one, and its code."""
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    words = ast.get_docstring(tree) or ""
    title, _, rest = words.partition("\n\n")
    picture = f"{PICTURES}/{file.stem}.png"
    parts = [f"# {file.stem.replace('_', ' ').capitalize()}", f"**{title}**", _with_commands_as_code(rest)]
    if (ROOT / "docs" / picture).exists():
        parts.append(f"![What the example draws: {title}](../{picture})")
    code = "\n".join(text.splitlines()[tree.body[0].end_lineno :]).strip()
    return "\n\n".join([*parts, f"## Code\n\n```python\n{code}\n```"]) + "\n"


def _with_commands_as_code(words: str) -> str:
    return re.sub(
        r"(?:^    .*(?:\n|$))+",
        lambda found: f"```sh\n{re.sub('^    ', '', found[0], flags=re.MULTILINE).strip()}\n```\n",
        words,
        flags=re.MULTILINE,
    )
