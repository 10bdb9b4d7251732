"""Write the pages of the reference from docstrings: `python docs/make_reference.py`.

Every public name has its signature, its docstring, and an example, which is the section **Example** of the docstring:
`help()` shows it, and a test runs it and compares what it prints.
"""

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import reference_names
from constraint_examples import EXAMPLES
from docstrings import read, signature
from reference_commands import command_page
from reference_names import Page

import accord.distributions as dist
from accord.distributions import constraints

FOLDER = Path(__file__).with_name("reference")
SETUP = Path(__file__).with_name("reference_setup.py")
WRITTEN = "<!-- Written by docs/make_reference.py from the code: change the docstrings, then run it. -->"


def make_pages() -> dict[str, str]:
    """The text of each page, by the name of its file."""
    pages = reference_names.pages()
    made = {f"{name}.md": _page(page) for name, page in pages.items()}
    made |= {"constraints.md": _constraints(), "command_line.md": f"{WRITTEN}\n\n{command_page()}"}
    return {"index.md": _index(pages)} | made


def docstring(thing: Any) -> str:
    """The docstring of a thing itself, not of what it inherits from."""
    own = vars(thing).get("__doc__") if isinstance(thing, type) else thing.__doc__
    return inspect.cleandoc(own or "")


def example_of(thing: Any) -> str:
    """The lines of the section **Example**, or an empty string."""
    return docstring(thing).partition("**Example**")[2].strip("\n")


def _index(pages: dict[str, Page]) -> str:
    setup = SETUP.read_text(encoding="utf-8").split("\n\n", 1)[1].strip()
    parts = [
        "# Reference",
        WRITTEN,
        "Every public name, with an example. Examples begin with these lines:",
        f"```py\n{setup}\n```",
        "Commands are on [a page of their own](command_line.md).",
    ]
    for name, page in pages.items():
        lines = [
            f"| [`{page.prefix}{each}`]({name}.md#{page.prefix}{each}) | {_cell(read(thing).first)} |"
            for each, thing in page.things.items()
        ]
        parts.append(
            "\n".join([f"## [{page.title}]({name}.md)", "", page.words, "", "| | |", "|---|---|", *lines])
        )
    for path, (prefix, names) in reference_names.listed_elsewhere().items():
        listed = ", ".join(f"`{prefix}.{name}`" for name in names)
        parts.append(f"## [{prefix.replace('dist', 'distributions').capitalize()}]({path})\n\n{listed}")
    return "\n\n".join(parts) + "\n"


def _page(page: Page) -> str:
    parts = [f"# {page.title}", WRITTEN, f"{page.words} [How examples begin](index.md)."]
    for name, thing in page.things.items():
        parts += [f"{_anchor(page.prefix + name)}\n\n## `{page.prefix}{name}`"]
        parts += [_call(page.prefix, signature(thing))] if page.is_called else []
        parts += [_body(docstring(thing))]
        if page.has_members and isinstance(thing, type):
            parts += [
                f"{_anchor(f'{page.prefix}{name}.{member}')}**{name}.{call}**\n\n{_body(text)}"
                for member, call, text in _members(page, thing)
            ]
    return "\n\n".join(parts) + "\n"


def _members(page: Page, thing: type) -> Iterator[tuple[str, str, str]]:
    """Its public methods and properties that have a docstring: name, how it is called, and what it says.

    What a base on the same page says of a method is not said again. Members of a base of the same name are its own.
    """
    bases = [base for base in thing.__mro__[1:] if base in page.things.values()]
    said = {name for base in bases for name in vars(base)}
    own = [base for base in reversed(thing.__mro__) if base.__name__ == thing.__name__]
    for name, member in {name: each for base in own for name, each in vars(base).items()}.items():
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        function = member.fget if isinstance(member, property) else member
        if name.startswith("_") or name in said or not callable(function) or not function.__doc__:
            continue
        call = f"`{name}`" if isinstance(member, property) else f"`{signature(function)}`"
        yield name, re.sub(r"\((self|cls)(, )?", "(", call), inspect.cleandoc(function.__doc__)


def _call(prefix: str, call: str) -> str:
    wrapped = textwrap.wrap(
        f"{prefix}{call}", 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(["```text", *wrapped, "```"])


def _body(text: str) -> str:
    """A docstring as Markdown: the lines of an example become a block."""
    before, has_example, example = text.partition("**Example**")
    return before.strip() + (f"\n\n```pycon\n{example.strip()}\n```" if has_example else "")


def _constraints() -> str:
    names = {"np": np, "constraints": constraints, "dist": dist}
    lines = []
    for name in sorted(constraints.__all__):
        thing = getattr(constraints, name)
        is_value = isinstance(thing, constraints.Constraint)
        words = thing.describe() if is_value else read(thing).first
        found = np.asarray(eval(EXAMPLES[name], names)).tolist()
        arguments = "" if is_value else signature(thing).partition("(")[2]
        call = f"constraints.{name}" + f"({arguments}" * bool(arguments)
        lines.append(f"| `{call}` | {_cell(words)} | `{EXAMPLES[name]}` | `{found}` |")
    head = [
        "# Constraints",
        "",
        WRITTEN,
        "",
        "In `accord.distributions.constraints`: called with values, each says which of them it allows. Each example",
        "asks of two, of which it allows the first. [How examples begin](index.md).",
        "",
        "| constraint | a value is | example | is allowed |",
        "|---|---|---|---|",
    ]
    return "\n".join([*head, *lines]) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _anchor(name: str) -> str:
    """Where links to a name lead: written out, since each site makes its own of headings."""
    return f'<a id="{name}"></a>'


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for page in FOLDER.glob("*.md"):
        page.unlink()
    for path, text in make_pages().items():
        (FOLDER / path).write_text(text, encoding="utf-8")
