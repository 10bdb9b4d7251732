"""Sum a product of tables of the same axes over some of its sites, one after the other."""

from collections.abc import Callable, Collection, MutableSequence, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import jax

from ....distributions.special import log_sum_exp
from .table import Label, Table, ordered, product

Reduce = Callable[[jax.Array], jax.Array]
"""Reduce the first axis of log probabilities: `log_sum`, or `largest`."""


def log_sum(entries: jax.Array) -> jax.Array:
    """Sum probabilities over the first axis."""
    return log_sum_exp(entries, axis=0)


def largest(entries: jax.Array) -> jax.Array:
    """Return the largest probability along the first axis."""
    return entries.max(axis=0)


def summed(
    tables: Sequence[Table], inner: Collection[str], reduce: Reduce, record: MutableSequence[Any]
) -> Table:
    """Sum sites out of tables; each table that one is summed out of is added to `record`, with its label first."""
    return summed_labels(tables, lambda label: label[0] in inner, reduce, record)


def summed_labels(
    tables: Sequence[Table], is_inner: Callable[[Label], bool], reduce: Reduce, record: MutableSequence[Any]
) -> Table:
    """Sum labels out of tables, those first whose table is the smallest."""
    left = list(tables)
    while True:
        there = ordered(label for table in left for label in table.labels if is_inner(label))
        if not there:
            return product(left)
        sizes = {label: size for table in left for label, size in table.sizes.items()}

        def cost(label: Label, left: list[Table] = left, sizes: dict[Label, int] = sizes) -> int:
            met = {each for table in left if label in table.labels for each in table.labels}
            return prod(sizes[each] for each in met)

        label = min(there, key=cost)
        joint = product([table for table in left if label in table.labels], first=label)
        record.append(joint)
        left = [table for table in left if label not in table.labels]
        left.append(replace(joint, labels=joint.labels[1:], entries=reduce(joint.entries)))
