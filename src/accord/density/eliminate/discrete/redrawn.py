"""Draw discrete unknowns of a density at once, given all its other unknowns.

They come from the tables by which such sites are summed out, with two differences: a mask on a prior counts, and a
scale is a power of each probability, since here the sites are unknowns and the density is a function of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp

from ....core import keys
from ....core.errors import SiteError
from ....core.position import Position
from ....distributions.special import log_sum_exp
from ...latent import concrete
from ...logdensity import LogDensity
from ...program import ModelProgram, every_site
from ...rows.row_files import in_memory
from ...support import EachAt, bounds_of
from ...unknowns import like
from ..at_once import at_once
from .assignment import check_assignment, comparing
from .backward import drawn, inverse
from .chain import Chain
from .contract import contract
from .plan import Plan, plan_of
from .summed import SummedProgram
from .sums import log_sum
from .table import Place, Table
from .tables import Tables, choices_of, place_of, raised_of, tables_of

_CHOICE, _ACCEPT, _KIND = range(3)  # streams of random numbers of a table

_PLAIN = 0.25
"""Share of entries that are drawn without regard to their present value: see `DiscreteGibbs.is_metropolised`."""


Check = Callable[[Mapping[str, Any]], None]
"""Raise `SiteError` where tables are not the model's with some data, at an assignment taken at random."""


@dataclass(frozen=True)
class Redraw:
    """How to draw some discrete unknowns of a density at once.

    **Fields**: `plan`, of what depends on them, and on those that are summed out of the density, which are drawn too
    and left; `names`, the unknowns among these; `is_separate`, whether their entries are independent given the rest;
    `num_each` and `num_all`, how many log probabilities depend on them, and how many numbers a draw takes.
    """

    plan: Plan
    names: tuple[str, ...]
    is_separate: bool
    num_each: int
    num_all: int

    @staticmethod
    def of(density: LogDensity, names: Sequence[str]) -> "tuple[Redraw, Check]":
        """Plan the draw; return it with what compares it with the model for other data of the same shapes.

        **Raises** `SiteError` where sites have infinitely many values, or their entries depend on each other in a way
        that has no sum; and for a density that is more than a model with all its rows.
        """
        base = density.program.whole
        if base is None or not isinstance(density.program, ModelProgram | SummedProgram):
            raise SiteError(f"{names[0]!r}: other sites are integrated out, or rows are cut.")
        data, summed = in_memory(density.data), base.layout.collapsed
        try:
            plan, check = _checked(base, (*names, *summed), data, in_doubt=False)
        except SiteError:
            plan, check = _checked(base, (*names, *summed), data, in_doubt=True)
        record = at_once(_record_shapes, density, plan)
        is_separate = not summed and all(isinstance(each, Table) and len(each.labels) == 1 for each in record)
        num_joint = sum(array.size for each in record for array in _arrays(each))
        before, after = plan.cost
        return Redraw(plan, tuple(names), is_separate, before, max(after, num_joint)), check

    def drawn(
        self, density: LogDensity, position: Position, words: jax.Array, *, is_metropolised: bool
    ) -> Position:
        """Draw the sites, by two words of a key; all other numbers of the position stay.

        `is_metropolised`: where entries are independent, each may propose one of its other values, and is accepted.
        """
        base, plan, data = density.program.whole, self.plan, density.data
        assert base is not None
        pieces = density.program.pieces(position)
        others = {name: piece for name, piece in pieces.items() if name not in plan.names}
        tables, record = _record(density, plan, others)
        if is_metropolised and self.is_separate:
            places = _moved(record, words, _places_now(base, pieces, tables, data))
        else:
            places = drawn(record, words)[0]
        with concrete(base.constants):
            sites = base.sites({**others, **choices_of(places, tables)}, data)
            values = {name: jnp.asarray(sites[name].value) for name in self.names}
        whole = position.whole
        assert whole is not None
        for name, value in values.items():
            entry = density.layout[name]
            whole = jax.lax.dynamic_update_slice_in_dim(
                whole, jnp.ravel(value).astype(whole.dtype), entry.start, axis=0
            )
        return replace(position, whole=whole)


def _checked(
    base: ModelProgram, names: tuple[str, ...], data: Mapping[str, Any], *, in_doubt: bool
) -> tuple[Plan, Check]:
    plan = at_once(plan_of, base, names, data, in_doubt)
    compare = comparing(base, plan)

    def check(data: Mapping[str, Any]) -> None:
        at_once(check_assignment, base, plan, compare, in_memory(data))

    check(data)
    return plan, check


def _record(
    density: LogDensity, plan: Plan, others: Mapping[str, Any]
) -> tuple[Tables, tuple[Table | Chain, ...]]:
    """Return tables of the density, and what the sites are drawn from."""
    base = density.program.whole
    assert base is not None
    tables = tables_of(base, plan, others, density.data, every_site)
    if base.layout.collapsed and any(table.scale is not None for table in tables.tables.values()):
        raise SiteError(
            f"{plan.names[0]!r}: a scale is a power of the probabilities of what is drawn, and a factor on the "
            f"logarithm of a sum over {base.layout.collapsed[0]!r}."
        )
    raised = raised_of(tables)
    dtype = raised[0].entries.dtype
    found = contract(raised, tables.owned, dict(plan.chains), log_sum, dtype, recorded=True)
    return tables, found.record


def _record_shapes(density: LogDensity, plan: Plan) -> tuple[Table | Chain, ...]:
    found: list[Any] = []

    def look(position: Any) -> Any:
        pieces = density.program.pieces(position)
        others = {name: piece for name, piece in pieces.items() if name not in plan.names}
        found[:] = _record(density, plan, others)[1]
        return jnp.zeros(())

    jax.eval_shape(look, like(density.layout, jnp.result_type(float)))
    return tuple(found)


def _arrays(each: Table | Chain) -> list[jax.Array]:
    return [table.entries for table in (each.tables if isinstance(each, Chain) else (each,))]


def _places_now(
    base: ModelProgram, pieces: Mapping[str, Any], tables: Tables, data: Mapping[str, Any]
) -> dict[str, Place]:
    """Return the numbers of the present values in the support."""
    with concrete(base.constants):
        sites = base.sites(pieces, data)
        found = {}
        for name in tables.own:
            lower, _ = bounds_of(sites[name])
            index = (pieces[name] - jnp.asarray(lower)).astype(jnp.int32)
            found[name] = place_of(name, EachAt(index), tables)
    return found


def _moved(record: Sequence[Table | Chain], key: jax.Array, now: Mapping[str, Place]) -> dict[str, Place]:
    """Move entries that are independent: each proposes another of its values, or is drawn anew."""
    found = {}
    for number, table in enumerate(record):
        assert isinstance(table, Table)
        name, _ = table.labels[0]
        place = Table((), *now[name]).along((), table.axes)
        size = place.size
        counters = jnp.broadcast_to(jnp.arange(size, dtype=jnp.uint32), (3, size))
        streams = jnp.broadcast_to(jnp.arange(3, dtype=jnp.uint32)[:, None], (3, size)) + jnp.uint32(
            3 * number
        )
        levels = keys.uniform(key, counters, streams, table.entries.dtype).reshape(3, *place.shape)
        found[name] = (table.axes, moved(table.entries, place, levels))
    return found


def moved(log_probs: jax.Array, now: jax.Array, levels: jax.Array) -> jax.Array:
    """Move entries to another of their values by Liu's rule, or, one in four, draw them.

    **Arguments**: `log_probs`, whose first axis is the values, up to a constant for each entry; `now`, the present
    values; `levels`, three uniform numbers for each entry, along the first axis.

    **Source**: Liu (1996), Biometrika 83(3), 681-682: value j other than i is proposed with p_j / (1 - p_i), and
    accepted with min(1, (1 - p_i) / (1 - p_j)).
    """
    values = jnp.arange(log_probs.shape[0]).reshape(-1, *[1] * now.ndim)
    rest = jnp.where(values == now, -jnp.inf, log_probs)
    log_rest = log_sum_exp(rest, axis=0)
    is_alone = log_rest == -jnp.inf
    proposed = inverse(rest - jnp.where(is_alone, 0, log_rest), levels[_CHOICE])
    # The sum over all but the proposed value is not a difference, which would cancel.
    log_others = log_sum_exp(jnp.where(values == proposed, -jnp.inf, log_probs), axis=0)
    is_accepted = ~is_alone & (jnp.log(levels[_ACCEPT]) < log_rest - log_others)
    plain = inverse(log_probs - log_sum_exp(log_probs, axis=0), levels[_CHOICE])
    is_plain = levels[_KIND] < _PLAIN
    return jnp.where(is_plain, plain, jnp.where(is_accepted, proposed, now)).astype(now.dtype)
