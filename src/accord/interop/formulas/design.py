"""Make the arguments of a written model of data: columns of terms, codes of groups, and the outcome."""

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .groups import Block, Group, NewGroups, blocks_of
from .outcome import Outcome, OutcomeText, read_new, read_outcome, trials_of
from .parse import Formula
from .table import Missing, Table
from .terms import Term, common_terms, names_in

RESERVED = frozenset({"ac", "dist", "jax", "jnp", "glm", "eta", "mu", "num_obs"})


@dataclass(frozen=True, eq=False)
class Design:
    """Terms, groups and outcome of a formula for the data of a fit. Argument `names` by term, group or outcome."""

    formula: Formula
    family: str
    support: str
    outcome: Outcome
    common: tuple[Term, ...]
    offsets: tuple[Term, ...]
    has_intercept: bool
    blocks: tuple[Block, ...]
    names: Mapping[Any, str]
    num_rows: int

    @staticmethod
    def of(
        formula: Formula,
        table: Table,
        family: str,
        support: str,
        functions: Mapping[str, Any],
        centred: bool | Mapping[str, bool] | None,
        least_rows: float,
    ) -> "Design":
        """Evaluate a formula. Blocks of at least `least_rows` rows for each group are centred, unless told otherwise.

        **Raises** `OptionError` and `DataError`.
        """
        text = OutcomeText.of(formula.outcome)
        outcome = read_outcome(text, table, family, support, formula.text, functions)
        common, offsets, has_intercept = common_terms(formula, table, functions)
        blocks = blocks_of(formula, table, functions, {term.name for term in common}, centred, least_rows)
        names = _argument_names(outcome, common, offsets, blocks)
        return Design(
            formula,
            family,
            support,
            outcome,
            tuple(common),
            tuple(offsets),
            has_intercept,
            tuple(blocks),
            names,
            table.num_rows,
        )

    @property
    def terms(self) -> dict[str, Term]:
        """The terms that are arguments, by argument."""
        groups = (term for block in self.blocks for term in block.terms if term.name != "1")
        return {
            self.names["term", term.name, term.num_columns]: term
            for term in (*self.common, *self.offsets, *groups)
        }

    @property
    def groups(self) -> dict[str, Group]:
        """The groups, by argument."""
        return {self.names["group", block.group.factor]: block.group for block in self.blocks}

    def argument(self, term: Term) -> str:
        """Return the name of the argument that holds a term."""
        return self.names["term", term.name, term.num_columns]

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the written model for the data of the fit."""
        found: dict[str, Any] = {name: term.values for name, term in self.terms.items()}
        found |= {name: group.levels for name, group in self.groups.items()}
        return found | self._rest(self.num_rows, self.outcome.trials, self.outcome.values)

    def of_new(self, data: Any, new_groups: NewGroups, missing: Missing) -> tuple[dict[str, Any], Table]:
        """Return the arguments for new data, without an outcome where these lack it.

        **Raises** `DataError`.
        """
        table = Table.read(data, self.names_needed(), missing, optional=self.outcome.text.columns)
        found: dict[str, Any] = {name: term.of_new(table) for name, term in self.terms.items()}
        found |= {name: group.of_new(table, new_groups) for name, group in self.groups.items()}
        values = read_new(self.outcome, table, self.family, self.support)
        return found | self._rest(table.num_rows, trials_of(self.outcome.text, table), values), table

    def names_needed(self) -> frozenset[str]:
        """Return the columns that predictions need."""
        return columns_of_terms(self.formula) | trial_columns(self.outcome.text)

    def _rest(self, num_rows: int, trials: Any, values: Any) -> dict[str, Any]:
        found: dict[str, Any] = (
            {} if self.terms or self.groups or trials is not None else {"num_obs": num_rows}
        )
        if trials is not None:
            found[self.names["trials"]] = trials
        return found | {self.names["outcome"]: values}


def columns_of(formula: Formula) -> frozenset[str]:
    """Return the columns that a formula names."""
    outcome = OutcomeText.of(formula.outcome)
    return columns_of_terms(formula) | outcome.columns | trial_columns(outcome)


def columns_of_terms(formula: Formula) -> frozenset[str]:
    """Return the columns that the right-hand side of a formula names."""
    found = names_in(formula.common)
    for group in formula.groups:
        found |= names_in(f"({group.effects}|{group.factor})")
    return found


def trial_columns(text: OutcomeText) -> frozenset[str]:
    """Return the column with the number of trials of a proportion, if there is one."""
    return frozenset({text.trials}) if isinstance(text.trials, str) else frozenset()


def _argument_names(
    outcome: Outcome, common: list[Term], offsets: list[Term], blocks: list[Block]
) -> dict[Any, str]:
    """Name the arguments, by what they hold."""
    names: dict[Any, str] = {}
    wanted: dict[Any, str] = {
        ("term", term.name, term.num_columns): term.name for term in (*common, *offsets)
    }
    for block in blocks:
        wanted |= {
            ("term", term.name, term.num_columns): term.name for term in block.terms if term.name != "1"
        }
        wanted["group", block.group.factor] = block.group.name
    if isinstance(outcome.text.trials, str):
        wanted["trials"] = outcome.text.trials
    elif outcome.text.trials is not None:
        wanted["trials"] = "trials"
    wanted["outcome"] = outcome.text.name
    taken = set(RESERVED)
    for key, name in wanted.items():
        names[key] = free_name(name, taken)
    return names


def free_name(name: str, taken: set[str]) -> str:
    """Make an identifier of a name that is not taken yet, and take it."""
    plain = re.sub(r"\W+", "_", name).strip("_") or "x"
    plain = f"x_{plain}" if plain[0].isdigit() else plain
    found, count = plain, 2
    while found in taken or keyword.iskeyword(found):
        found, count = f"{plain}_{count}", count + 1
    taken.add(found)
    return found
