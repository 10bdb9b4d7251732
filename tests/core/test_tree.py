"""Test that what programs take and return are pytrees, and frozen."""

from dataclasses import FrozenInstanceError, replace

import jax
import numpy as np
import pytest

from accord.core.tree import node


@node
class Pair:
    first: np.ndarray
    second: int


def test_fields_are_children_with_their_names():
    leaves, structure = jax.tree_util.tree_flatten_with_path(Pair(np.ones(2), 3))
    assert [jax.tree_util.keystr(path, simple=True) for path, _ in leaves] == ["first", "second"]
    doubled = jax.tree.map(lambda leaf: 2 * leaf, structure.unflatten([leaf for _, leaf in leaves]))
    assert isinstance(doubled, Pair) and doubled.first.tolist() == [2, 2] and doubled.second == 6


def test_a_node_cannot_be_changed():
    pair = Pair(np.ones(2), 3)
    with pytest.raises(FrozenInstanceError):
        pair.second = 4
    assert replace(pair, second=4).second == 4 and pair.second == 3
