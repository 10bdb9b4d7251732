"""Split a formula into its outcome, its common terms, and its blocks of group terms.

The package formulae reads the terms. It flattens `(x | g)` into two terms, so that correlated and independent effects
look alike, and it does not know `||`: the blocks are cut out here, and read one by one.
"""

from dataclasses import dataclass

from ...core.errors import OptionError

_OPEN, _CLOSE, _QUOTES = "([{", ")]}", "'\"`"


@dataclass(frozen=True)
class GroupText:
    """The text of a group term `(effects | factor)`; `is_correlated` is false for `||`."""

    effects: str
    factor: str
    is_correlated: bool


@dataclass(frozen=True)
class Formula:
    """The parts of a formula as they are written; `common` is what is left without the group terms."""

    text: str
    outcome: str
    common: str
    groups: tuple[GroupText, ...]


def split(formula: str) -> Formula:
    """Split a formula.

    **Raises** `OptionError` for one without `~`, for parentheses that do not match, and for group terms that are not
    added to the others in parentheses.
    """
    if not isinstance(formula, str):
        raise OptionError(f"accord.glm: the formula is a string such as 'y ~ x + (1|g)', got {formula!r}.")
    sides = _split_at(formula, "~", formula)
    if len(sides) != 2 or not all(text.strip() for _, text in sides):
        raise OptionError(
            f"the formula {formula!r} is not of the form 'outcome ~ terms', such as 'y ~ x + (1|g)'."
        )
    outcome, terms = (text.strip() for _, text in sides)
    common, groups = "", []
    for sign, term in _split_at(terms, "+-", formula):
        term = term.strip()
        if not _has_bar(term, formula):
            common += f" {sign} {term}" if common or sign == "-" else term
            continue
        inside = _inside(term, formula)
        if inside is None or sign == "-":
            raise OptionError(
                f"the formula {formula!r}: the group term {term!r} must be in parentheses and added: '... + (x | g)'."
            )
        groups.append(_group(inside, formula))
    return Formula(formula, outcome, common.strip() or "1", tuple(groups))


def _group(inside: str, formula: str) -> GroupText:
    bar = "||" if "||" in inside else "|"
    sides = [text.strip() for text in inside.split(bar)]
    if len(sides) != 2 or not all(sides) or "|" in sides[0] + sides[1]:
        raise OptionError(f"the formula {formula!r}: ({inside}) is not of the form (effects | group).")
    return GroupText(sides[0], sides[1], bar == "|")


def _split_at(text: str, marks: str, formula: str) -> list[tuple[str, str]]:
    """Split at marks outside of brackets and quotes; return each part with the mark before it."""
    parts, start, sign = [], 0, "+"
    for place, depth, character in _outside_of_quotes(text, formula):
        if depth == 0 and character in marks and not _is_sign(text[start:place]):
            parts.append((sign, text[start:place]))
            start, sign = place + 1, character
    return [*parts, (sign, text[start:])]


def _is_sign(before: str) -> bool:
    """Return whether a plus or minus after this belongs to the term behind it, as in `y ~ -1 + x`."""
    return not before.strip()


def _has_bar(term: str, formula: str) -> bool:
    return any(character == "|" for _, _, character in _outside_of_quotes(term, formula))


def _inside(term: str, formula: str) -> str | None:
    """Return what a pair of parentheses around the whole term holds; None without one."""
    if not (term.startswith("(") and term.endswith(")")):
        return None
    closed = [place for place, depth, _ in _outside_of_quotes(term, formula) if depth == 0]
    return term[1:-1].strip() if closed == [len(term) - 1] else None


def _outside_of_quotes(text: str, formula: str) -> list[tuple[int, int, str]]:
    """Return place, depth of brackets after it, and character, of all that is not quoted.

    **Raises** `OptionError` for brackets that do not match.
    """
    found, open_brackets, quote = [], [], ""
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
            continue
        if character in _QUOTES:
            quote = character
            continue
        if character in _OPEN:
            open_brackets.append(_CLOSE[_OPEN.index(character)])
        elif character in _CLOSE and (not open_brackets or open_brackets.pop() != character):
            raise OptionError(f"the formula {formula!r} has a {character!r} without its beginning.")
        found.append((place, len(open_brackets), character))
    if open_brackets or quote:
        raise OptionError(f"the formula {formula!r} lacks a {(open_brackets or [quote])[-1]!r}.")
    return found
