"""Read the sections of docstrings and the signatures of objects."""

import inspect
import re
from typing import Any, NamedTuple


class Text(NamedTuple):
    """Hold the parts of a docstring."""

    first: str
    sections: dict[str, str]


def read(thing: Any) -> Text:
    """Split a docstring into its first line and sections; a section starts with `**Name**` and ends at the next."""
    text = inspect.cleandoc(
        vars(thing).get("__doc__") or "" if isinstance(thing, type) else thing.__doc__ or ""
    )
    first = text.split("\n\n")[0].replace("\n", " ")
    pieces = re.split(r"^\*\*([A-Z][a-z ]+)\*\*:?", text, flags=re.MULTILINE)
    return Text(first, {pieces[i]: pieces[i + 1].strip() for i in range(1, len(pieces) - 1, 2)})


def signature(thing: Any) -> str:
    """Write a call: the name with argument names and defaults."""
    words, starred = [], False
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        # A function is named: its representation has an address.
        value = getattr(parameter.default, "__name__", None) or repr(parameter.default)
        stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL)
        words.append(stars + parameter.name + ("" if parameter.default is parameter.empty else f"={value}"))
    return f"{thing.__name__}({', '.join(words)})"


def fields_of(text: Text) -> str:
    """Join the items of **Fields** as lines."""
    items = re.split(r"^- ", text.sections.get("Fields", ""), flags=re.MULTILINE)
    # What follows the list, after an empty line, is not of the last field.
    return "<br>".join(flat(item.split("\n\n")[0]) for item in items if item.strip())


def flat(text: str) -> str:
    """Text on one line."""
    return re.sub(r"\s+", " ", text.split("\n\n")[0]).strip()
