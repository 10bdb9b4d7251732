"""Write the tables at the end of the page of distributions: what is defined, how accurately, and what goes with it."""

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
    """Functions that give a distribution under another name, and functions of distributions."""
    if not names:
        return ""
    lines = [f"| `{signature(getattr(dist, name))}` | {read(getattr(dist, name)).first} |" for name in names]
    head = [
        "## Functions",
        "",
        "Other names for the above, and functions of them.",
        "",
        "| function | gives |",
        "|---|---|",
    ]
    return "\n".join([*head, *lines])


def defined(names: list[str]) -> str:
    """What each class defines itself, read off the class."""
    lines = []
    for name in names:
        thing = getattr(dist, name)
        marks = [
            "yes" if getattr(thing, what, None) is not getattr(dist.AbstractDistribution, what) else ""
            for what in SUMMARIES
        ]
        lines.append(f"| {name} | {' | '.join(marks)} |")
    head = [
        "## What is defined",
        "",
        "What is not raises an error that says so. Wrappers define what their base does.",
        "",
    ]
    return "\n".join([*head, "| | " + " | ".join(SUMMARIES) + " |", "|---" * 7 + "|", *lines])


def accuracy(path: Path) -> str:
    """The largest errors against reference values, where they have been measured."""
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
        "| family | quantity | float64 | float32 |",
        "|---|---|---|---|",
    ]
    lines = [
        f"| {family} | {quantity} | {found['float64']:.1e} | {found['float32']:.1e} |"
        for family, quantities in sorted(errors.items())
        for quantity, found in quantities.items()
    ]
    return "\n".join([*head, *lines])


def constraint_table() -> str:
    """The supports, by the names of `constraints`."""
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
        "In `accord.distributions.constraints`. A value of each is:",
        "",
        "| name | value |",
    ]
    return "\n".join([*head, "|---|---|", *lines])


def bijector_table() -> str:
    """The maps, with their fields."""
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
    head = ["## Bijectors", "", "In `accord.bijectors`.", "", "| name | map | fields |", "|---|---|---|"]
    return "\n".join([*head, *lines])
