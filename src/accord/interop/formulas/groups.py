"""Make groups of the rows of data, and blocks of the effects that differ between groups."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...core.errors import DataError, OptionError
from ...language.columns import Levels
from .parse import Formula
from .table import Table
from .terms import Term, group_terms

NewGroups = Literal["error", "population", "average"]


@dataclass(frozen=True, eq=False)
class Group:
    """The groups of a factor: a column, or a combination of columns. `name` is that of their plate."""

    factor: str
    columns: tuple[str, ...]
    name: str
    levels: Levels

    def of(self, table: Table) -> Levels:
        """Return the groups of each row of a table, by their own labels."""
        found = table.levels(self.columns[0])
        for column in self.columns[1:]:
            found = _combined(found, table.levels(column))
        return found

    def of_new(self, table: Table, new_groups: NewGroups) -> Levels:
        """Return the groups of new data: those known in their order, and then new ones.

        With `"average"` new ones have the code behind the last known one, and no label.

        **Raises** `DataError` for new groups with `"error"`.
        """
        found, known = self.of(table), self.levels.levels
        known_labels = set(known)
        new = tuple(label for label in found.levels if label not in known_labels)
        if new and new_groups == "error":
            shown = ", ".join(map(repr, new[:5])) + (", ..." if len(new) > 5 else "")
            raise DataError(
                f"accord.glm: {len(new)} of the groups of {self.factor!r} are not among those of the fit: {shown}. "
                'Give new_groups="population" to draw the effects of each from their population, or '
                'new_groups="average" for a group whose effects are zero.'
            )
        order = known if new_groups == "average" else (*known, *new)
        places = {label: place for place, label in enumerate(order)}
        codes = np.array([places.get(label, len(order)) for label in found.levels], np.int64)
        return Levels(codes[found.codes], order)


@dataclass(frozen=True, eq=False)
class Block:
    """Group terms with one distribution: effects of `terms` that differ between the levels of a group.

    **Fields**
    - `name`: of the site, such as `1|g` or `1 + x|g`.
    - `is_correlated`: several effects, with correlations.
    - `is_centred`: the effects are sampled, instead of standard ones.
    """

    name: str
    terms: tuple[Term, ...]
    group: Group
    is_correlated: bool
    is_centred: bool

    @property
    def labels(self) -> tuple[str, ...]:
        """One for each effect."""
        found: list[str] = []
        for term in self.terms:
            found += (
                [term.name] if term.labels is None else [f"{term.name}[{label}]" for label in term.labels]
            )
        return tuple(found)


def blocks_of(
    formula: Formula,
    table: Table,
    functions: Mapping[str, Any],
    common: Collection[str],
    centred: bool | Mapping[str, bool] | None,
    least_rows: float,
) -> list[Block]:
    """Evaluate the group terms of a formula. `common`: names of the other terms; the rest as for `Design.of`.

    **Raises** `OptionError` for a term that is there twice, and for `centred` of what is not a term.
    """
    blocks: list[Block] = []
    groups: dict[tuple[str, ...], Group] = {}
    for written in formula.groups:
        found = group_terms(f"({written.effects}|{written.factor})", formula, table, functions)
        for columns, terms in found.items():
            if columns not in groups:
                factor = ":".join(columns)
                group = Group(
                    factor, columns, f"{factor}_group" if factor in common else factor, Levels(None, ())
                )
                groups[columns] = Group(factor, columns, group.name, group.of(table))
            group = groups[columns]
            for together in [terms] if written.is_correlated else [[term] for term in terms]:
                name = f"{' + '.join(term.name for term in together)}|{group.factor}"
                num_effects = sum(term.num_columns for term in together)
                is_long = table.num_rows >= least_rows * group.levels.num_levels
                is_centred = centred.get(name, is_long) if isinstance(centred, Mapping) else centred
                blocks.append(
                    Block(
                        name,
                        tuple(together),
                        group,
                        written.is_correlated and num_effects > 1,
                        is_long if is_centred is None else bool(is_centred),
                    )
                )
    names = [block.name for block in blocks]
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"the formula {formula.text!r} has the group term {name!r} twice.")
    if isinstance(centred, Mapping):
        for name in centred:
            if name not in names:
                listed = ", ".join(map(repr, names)) or "none"
                raise OptionError(
                    f"accord.glm: centred has {name!r}, which is not a group term. There are: {listed}."
                )
    return blocks


def _combined(first: Levels, second: Levels) -> Levels:
    """Return the combinations of two factors that some row has, in the order of the first and then of the second."""
    both = first.codes * second.num_levels + second.codes
    used, codes = np.unique(both, return_inverse=True)
    labels = (
        f"{first.levels[place // second.num_levels]}:{second.levels[place % second.num_levels]}"
        for place in used
    )
    return Levels(codes, tuple(labels))
