"""Write parts of Python code: strings, plates, and lines that are not too long."""

from collections.abc import Iterable, Iterator
from typing import Any

_TAB = "    "


def plate(name: str, labels: Iterable[Any], more: str = "") -> str:
    """Write the call of a plate with labels; `more`: arguments in front of these."""
    coords = [
        repr(label) if isinstance(label, bool | int | float) else quoted(str(label)) for label in labels
    ]
    return f"ac.plate({quoted(name)}, {len(coords)}{more}, coords=[{', '.join(coords)}])"


def as_column(prior: str) -> str:
    """Turn arrays of a prior into columns, so that they go with the rows of a matrix of coefficients."""
    return prior.replace("])", "])[:, None]") if "jnp.array([" in prior else prior


def quoted(name: str) -> str:
    """Write a string."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def plain(text: str) -> str:
    """Return text that can stand in a comment or between three quotes."""
    return text.replace("\\", "\\\\").replace('"""', "'''").replace("\n", " ")


def wrapped(line: str, width: int) -> list[str]:
    """Break a long line at commas within its brackets."""
    lines, start = [], 0
    if line.startswith("#"):
        return [line]
    places = list(_breaks(line))
    while len(line) - start + len(_TAB) > width:
        ahead = [place for place in places if start < place <= start + width - len(_TAB)]
        if not ahead:
            break
        lines.append(line[start : ahead[-1]].rstrip())
        start = ahead[-1]
    lines.append(line[start:])
    return [lines[0], *(f"{_TAB}{each}" for each in lines[1:])]


def _breaks(line: str) -> Iterator[int]:
    """Yield the places behind commas that are within brackets and outside of quotes."""
    depth, quote, is_escaped = 0, "", False
    for place, character in enumerate(line):
        if quote:
            quote = "" if character == quote and not is_escaped else quote
            is_escaped = character == "\\" and not is_escaped
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth and line[place + 1 : place + 2] == " ":
            yield place + 2
