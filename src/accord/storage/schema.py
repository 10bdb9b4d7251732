"""Check that a value from JSON has a form: kinds and bounds of values, by key.

A form is a function of a value and of its place in words. It returns nothing, and raises `StorageError` that names the
place, what is there and what must be. The forms of a run folder are in `forms.py`.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..core.errors import StorageError

Form = Callable[[Any, str], None]

LARGEST = 2**63 - 1


def anything(value: Any, where: str) -> None:
    """Take whatever JSON may hold."""


def text(value: Any, where: str) -> None:
    """Take a string that can be written as UTF-8."""
    if not isinstance(value, str):
        refuse(value, where, "a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        refuse(value, where, "text in UTF-8")


def number(value: Any, where: str) -> None:
    """Take a real number; NaN and the infinities too."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(value, where, "a number")
    if isinstance(value, int) and abs(value) > LARGEST:
        refuse(value, where, "a number of 64 bits")


def flag(value: Any, where: str) -> None:
    """Take true or false."""
    if not isinstance(value, bool):
        refuse(value, where, "true or false")


def scalar(value: Any, where: str) -> None:
    """Take a string, a number, true, false or null."""
    if isinstance(value, str):
        text(value, where)
    elif value is not None and not isinstance(value, bool):
        number(value, where)


def count(least: int = 0, most: int = LARGEST) -> Form:
    """Take integers in a range."""

    def check(value: Any, where: str) -> None:
        if type(value) is not int or not least <= value <= most:
            refuse(value, where, f"an integer from {least} to {most}")

    return check


def one_of(*words: str) -> Form:
    """Take one of some strings."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, str) or value not in words:
            refuse(value, where, f"one of {', '.join(words)}")

    return check


def matching(pattern: str, wanted: str) -> Form:
    """Take strings of a regular expression, which `wanted` says in words."""
    compiled = re.compile(pattern)

    def check(value: Any, where: str) -> None:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            refuse(value, where, wanted)

    return check


def or_none(form: Form) -> Form:
    """Take null too."""

    def check(value: Any, where: str) -> None:
        if value is not None:
            form(value, where)

    return check


def either(first: Form, other: Form, is_first: Callable[[Any], bool]) -> Form:
    """Take a value by the first form if `is_first(value)`, else by the other."""

    def check(value: Any, where: str) -> None:
        (first if is_first(value) else other)(value, where)

    return check


def list_of(form: Form, least: int = 0, most: int = 2**28) -> Form:
    """Take lists of `least` to `most` values of a form."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list) or not least <= len(value) <= most:
            refuse(value, where, f"a list of {least} to {most} values" if most < 2**28 else "a list")
        for place, each in enumerate(value):
            form(each, f"{where}[{place}]")

    return check


def map_of(form: Form) -> Form:
    """Take mappings from any names to values of a form."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            refuse(value, where, "a mapping")
        for name, each in value.items():
            text(name, f"a key of {where}")
            form(each, f"{where}.{name[:80]}")

    return check


def fields(
    required: Mapping[str, Form], optional: Mapping[str, Form] | None = None, others: Form | None = None
) -> Form:
    """Take mappings with these fields. Others must have the form `others`, or must not be there."""
    known = {**required, **(optional or {})}

    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            refuse(value, where, "a mapping")
        for name in required:
            if name not in value:
                raise StorageError(f"{where} lacks {name!r}.")
        for name, each in value.items():
            form = known.get(name, others)
            if form is None:
                raise StorageError(f"{where} has {name[:80]!r}, which it cannot have.")
            form(each, f"{where}.{name[:80]}")

    return check


def shape(value: Any, where: str) -> None:
    """Take the shape of an array that could be in memory."""
    list_of(count(), most=64)(value, where)
    if math.prod(value) > 2**40:
        refuse(value, where, "the shape of an array of at most 2**40 elements")


def refuse(value: Any, where: str, wanted: str) -> None:
    """Raise `StorageError` for a value."""
    found = repr(value) if not isinstance(value, list | dict) else f"a {type(value).__name__} of {len(value)}"
    raise StorageError(f"{where} is {found[:80]}, and must be {wanted}.")
