"""Divide a model into programs: one for each combination of values by which its statements differ."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import keys
from ..core.errors import OptionError, SiteError, suggest
from ..density.branching import Branch, first_branch
from ..language import Model

_POSSIBLE = 1e-12  # a prior mass below it that was left out is rounding


@dataclass(frozen=True, eq=False)
class Program:
    """A model whose branching sites are known, so that its statements are the same for all values of its unknowns.

    **Fields**: `values` of these sites, by name, in the model's order; `model`, with these as conditions.
    """

    values: Mapping[str, Any]
    model: Model

    def __str__(self) -> str:
        return ", ".join(f"{name} = {np.asarray(value).tolist()}" for name, value in self.values.items())

    def seed(self, seed: int) -> int:
        """Derive the seed of its run: it depends on the values, and not on which other programs there are."""
        words = keys.chain_key(seed, 0)
        digest = hashlib.blake2b(str(self).encode(), digest_size=8).digest()
        for word in (np.uint32(keys.USE_PROGRAM), *np.frombuffer(digest, "<u4")):
            words = keys.fold(words, np.uint32(word))
        return int(words[0]) << 32 | int(words[1])


@dataclass(frozen=True)
class Division:
    """The programs of a model. **Fields**: `programs`; `left_out`, prior mass of values not asked for, by site."""

    programs: tuple[Program, ...]
    left_out: Mapping[str, float]


def programs_of(model: Model, values: Mapping[str, Sequence[Any]], most: int) -> Division:
    """Find the programs of a model, by tracing it with more and more of its branching sites known.

    Programs are in the order of the sites and of their values. Those of prior probability zero are left out.

    **Raises** `SiteError` and `ModelError` as `first_branch`, and for more programs than `most`; `OptionError` for
    values of a site that no branch depends on; `ModelError` for a model without branches.
    """
    found: list[Program] = []
    left_out: dict[str, float] = {}
    asked: set[str] = set()
    waiting = [Program({}, model)]
    while waiting:
        now = waiting.pop(0)
        branch = first_branch(now.model, values, most)
        if branch is None:
            found.append(now)
            continue
        asked.add(branch.name)
        if branch.name in values and branch.log_probs is not None:
            missed = 1 - float(np.exp(branch.log_probs).sum())
            left_out[branch.name] = max(left_out.get(branch.name, 0.0), missed)
        waiting = [*_divided(now, branch), *waiting]
        if len(found) + len(waiting) > most:
            raise SiteError(
                f"infer.divide: the model {model.name!r} has more than {most} programs, of which each is a run of its "
                f"own; site {branch.name!r} (at {branch.where}) gave the last. Name the values that matter, "
                f"`values={{{branch.name!r}: [...]}}`, or raise `most`."
            )
    for name in values:
        if name not in asked:
            raise OptionError(
                f"infer.divide: values are given of {name!r}, and no statement of the model depends on it."
                f"{suggest(name, asked)} The sites that decide which statements run are "
                f"{', '.join(map(repr, sorted(asked))) or 'none'}."
            )
    return Division(tuple(found), {name: mass for name, mass in left_out.items() if mass > _POSSIBLE})


def _divided(program: Program, branch: Branch) -> list[Program]:
    """Return a program for each value that is possible."""
    log_probs = branch.log_probs or (0.0,) * len(branch.values)
    return [
        Program(
            {**program.values, branch.name: _plain(value)},
            program.model.condition({branch.name: _plain(value)}),
        )
        for value, log_prob in zip(branch.values, log_probs, strict=True)
        if log_prob > -np.inf
    ]


def _plain(value: np.ndarray) -> Any:
    """Return a number of Python, which is a constant of the model, for what is one number."""
    return value.item() if value.ndim == 0 else value
