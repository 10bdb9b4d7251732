"""Draw discrete sites that were summed out, or find their most probable values, from the last sum to the first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from ....core import keys
from ....distributions.special import log_sum_exp
from .chain import Chain
from .table import Axis, Label, Place, Table, from_the_left, ordered

Places = Mapping[Label, Place]

Choose = Callable[[int, Any, jax.Array], jax.Array]
"""From the number of a table, that of a step, and log probabilities whose first axis is the values, to a value."""


def drawn(record: Sequence[Table | Chain], key: jax.Array) -> tuple[dict[str, Place], jax.Array]:
    """Draw all sites given the rest of the model; also return the log probability of the draw, shape `()`."""

    def choose(number: int, step: Any, log_probs: jax.Array) -> jax.Array:
        size = log_probs[0].size
        counters = jnp.arange(size, dtype=jnp.uint32) + jnp.asarray(step, jnp.uint32) * jnp.uint32(size)
        level = keys.uniform(key, counters, jnp.full(size, number, jnp.uint32), log_probs.dtype)
        return inverse(log_probs, level.reshape(log_probs.shape[1:]))

    return _backward(record, choose)


def most_probable(record: Sequence[Table | Chain]) -> dict[str, Place]:
    """Find the values of all sites that are the most probable together, from tables reduced by `largest`."""
    return _backward(record, lambda _, __, log_probs: jnp.argmax(log_probs, axis=0))[0]


def inverse(log_probs: jax.Array, level: jax.Array) -> jax.Array:
    """Find the first value at which the cumulative probability exceeds a level in (0, 1), along the first axis."""
    below = jnp.cumsum(jnp.exp(log_probs), axis=0)
    # Rounding may leave the last sum below 1: no value without probability is taken.
    is_passed = below <= level * below[-1]
    return jnp.minimum(is_passed.sum(axis=0), log_probs.shape[0] - 1)


def picked(table: Table, places: Places, rest: int = 0) -> jax.Array:
    """Take the entries at these places of all labels but the first `rest`; the axes of the table are left."""
    entries = table.entries
    for number, label in reversed([*enumerate(table.labels)][rest:]):
        axes, place = places[label]
        if label[0] in table.taken:
            flat = Table((), axes, place).along((), sorted(axes, key=from_the_left)).reshape(-1)
            along = flat[table.taken[label[0]].along(table.axes)].reshape([axis[2] for axis in table.axes])
        else:
            along = Table((), axes, place).along((), table.axes)
        index = along.reshape((1,) * (entries.ndim - len(table.axes)) + along.shape)
        entries = jnp.take_along_axis(entries, index, axis=number).squeeze(number)
    return entries


def _backward(record: Sequence[Table | Chain], choose: Choose) -> tuple[dict[str, Place], jax.Array]:
    places: dict[Label, Place] = {}
    total: Any = 0.0
    number = 0
    for each in reversed(record):
        if isinstance(each, Chain):
            found, log_prob = _along_chain(each, places, choose, number)
            places = {label: place for label, place in places.items() if label[0] not in each.spans} | found
            number += len(each.tables)
        else:
            place, log_prob = _chosen(each, places, choose, number, 0)
            places[each.labels[0]] = (each.axes, place)
            number += 1
        total = total + log_prob
    return {name: place for (name, _), place in places.items()}, jnp.asarray(total)


def _along_chain(
    chain: Chain, places: Places, choose: Choose, first: int
) -> tuple[dict[Label, Place], jax.Array]:
    """Choose the sites of a chain, from its last step to its first."""
    spans = [(name, lag) for name, length in chain.spans.items() for lag in range(length)]
    axes = {label: places[label][0] for label in spans}
    of_step = [replace(table, axes=table.axes[:-1]) for table in chain.tables]

    def step(window: list[jax.Array], now: tuple[Any, list[jax.Array]]) -> tuple[list[jax.Array], Any]:
        number, entries = now
        known = {**places, **{label: (axes[label], each) for label, each in zip(spans, window, strict=True)}}
        log_prob: Any = 0.0
        for place, (table, array) in reversed([*enumerate(zip(of_step, entries, strict=True))]):
            there = replace(table, entries=array)
            chosen, more = _chosen(there, known, choose, first + place, number)
            known[table.labels[0]] = (table.axes, chosen)
            log_prob = log_prob + more
        earlier = [_along(known[name, lag + 1], axes[name, lag]) for name, lag in spans]
        return earlier, ({label: known[label][1] for label in shown}, log_prob)

    locals_ = ordered(table.labels[0] for table in chain.tables if table.labels[0][0] not in chain.spans)
    shown = (*((name, 0) for name in chain.spans), *locals_)
    steps = jnp.arange(chain.axis[2], dtype=jnp.uint32)
    stacked = [jnp.moveaxis(table.entries, -1, 0) for table in chain.tables]
    window = [places[label][1] for label in spans]
    _, (found, log_probs) = jax.lax.scan(step, window, (steps, stacked), reverse=not chain.is_reversed)
    axes_of = {table.labels[0]: table.axes for table in of_step}
    own = {label: axes.get(label, axes_of.get(label, ())) for label in shown}
    return {label: ((chain.axis, *own[label]), found[label]) for label in shown}, log_probs.sum()


def _chosen(
    table: Table, places: Places, choose: Choose, number: int, step: Any
) -> tuple[jax.Array, jax.Array]:
    entries = picked(table, places, rest=1)
    log_probs = entries - log_sum_exp(entries, axis=0)
    index = choose(number, step, log_probs)
    return index, jnp.take_along_axis(log_probs, index[None], axis=0).sum()


def _along(place: Place, axes: tuple[Axis, ...]) -> jax.Array:
    return Table((), *place).along((), axes)
