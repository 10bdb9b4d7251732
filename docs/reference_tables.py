"""Write the tables at the end of the page of distributions: methods, accuracy, constraints and bijectors."""

import inspect
import json
import re
from pathlib import Path

from docstrings import fields_of, read, signature

import accord.distributions as dist
from accord import bijectors
from accord.distributions import constraints

SUMMARIES = ("mean", "variance", "mode", "entropy", "cdf", "icdf")


def factories(names: list[str]) -> str:
    """Return the table of functions that build or compare distributions."""
    if not names:
        return ""
    lines = [f"| `{signature(getattr(dist, name))}` | {read(getattr(dist, name)).first} |" for name in names]
    head = [
        "## Functions",
        "",
        "Alternative names of the distributions above, and functions of distributions.",
        "",
        "| function | result |",
        "|---|---|",
    ]
    return "\n".join([*head, *lines])


def defined(names: list[str]) -> str:
    """Return the table of the methods that each class defines."""
    lines = []
    for name in names:
        thing = getattr(dist, name)
        marks = [
            "yes" if getattr(thing, what, None) is not getattr(dist.AbstractDistribution, what) else ""
            for what in SUMMARIES
        ]
        lines.append(f"| {name} | {' | '.join(marks)} |")
    head = [
        "## Methods of each distribution",
        "",
        "A missing method raises an error that names it. Wrappers define the methods of their base.",
        "",
    ]
    return "\n".join([*head, "| | " + " | ".join(SUMMARIES) + " |", "|---" * 7 + "|", *lines])


def accuracy(path: Path) -> str:
    """Return the table of the largest measured errors against reference values."""
    if not path.exists():
        return ""
    errors = json.loads(path.read_text(encoding="utf-8"))
    head = [
        "## Accuracy",
        "",
        "The largest error of each quantity and of its first derivatives against values computed with 90 digits, at",
        "extreme parameters and far in the tails too, in units of its natural scale (see",
        "`tests/distributions/make_accuracy.py`).",
        "",
        "| distribution | quantity | float64 | float32 |",
        "|---|---|---|---|",
    ]
    lines = [
        f"| {family} | {quantity} | {found['float64']:.1e} | {found['float32']:.1e} |"
        for family, quantities in sorted(errors.items())
        for quantity, found in quantities.items()
    ]
    return "\n".join([*head, *lines])


def constraint_table() -> str:
    """Return the table of constraints."""
    lines = []
    for name in sorted(set(constraints.__all__) - {"Constraint"}):
        thing = getattr(constraints, name)
        if isinstance(thing, type):
            words = re.sub(r"\{(\w+)\}", r"`\1`", getattr(thing, "words", "")) or read(thing).first
            lines.append(
                f"| `{name}{inspect.signature(thing)}` | {words} |".replace(": Any", "").replace(
                    " -> None", ""
                )
            )
        elif isinstance(thing, dist.Constraint):
            lines.append(f"| `{name}` | {thing.describe()} |")
        elif callable(thing):
            lines.append(f"| `{name}` | {read(thing).first} |")
    head = [
        "## Constraints",
        "",
        "Constraints are in `accord.distributions.constraints`. The second column says what a value must be.",
        "",
        "| name | value |",
    ]
    return "\n".join([*head, "|---|---|", *lines])


def bijector_table() -> str:
    """Return the table of bijectors, with their fields."""
    lines = []
    for name in sorted(bijectors.__all__):
        thing = getattr(bijectors, name)
        if (
            isinstance(thing, type)
            and issubclass(thing, bijectors.AbstractBijector)
            and "Abstract" not in name
        ):
            text = read(thing)
            lines.append(f"| `{name}` | {text.first} | {fields_of(text)} |".replace("`|`", "\\|"))
    head = [
        "## Bijectors",
        "",
        "Bijectors are in `accord.bijectors`.",
        "",
        "| name | map | fields |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *lines])
