"""Compile the positions at which some sites have given values, and find those inside of the supports."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from ...core.errors import DataError
from ...core.precision import float_dtype
from ...core.tree import to_numpy
from ...density import LogDensity
from ...density.given import position_with, support_in_words
from ...programs.standalone import compile_alone
from .base import AT_ONCE

Values = Mapping[str, np.ndarray]
"""Values by latent site, in the model's space."""

Placing = Callable[[Values, np.ndarray, np.ndarray, str], Any]
"""From values, free numbers for what has none, shape `(try, dim)`, words of keys for whole ones, shape `(try, 2)`, and
where the values come from: positions, with an axis of tries."""


def compiled(density: LogDensity, names: tuple[str, ...]) -> Placing:
    """Compile the positions where the sites of these names have values."""
    dtype = float_dtype(density.program.precision)
    shapes = {name: density.layout[name].shape for name in names}
    draws_whole = any(entry.name not in names for entry in density.layout.whole)

    def positions(density: LogDensity, values: Any, elsewhere: Any, words: Any) -> Any:
        if not draws_whole:
            return jax.vmap(lambda position: position_with(density, values, position))(elsewhere)

        def at(position: Any, words: Any) -> Any:
            key = jax.random.wrap_key_data(words, impl="threefry2x32")
            return position_with(density, values, position, key)

        return jax.vmap(at)(elsewhere, words)

    no_words = np.zeros((AT_ONCE, 2), np.uint32) if draws_whole else None
    program = compile_alone(
        density,
        positions,
        {name: np.zeros(shape, dtype) for name, shape in shapes.items()},
        np.zeros((AT_ONCE, density.dim), dtype),
        no_words,
    )

    def run(values: Values, elsewhere: np.ndarray, words: np.ndarray, where: str) -> Any:
        with np.errstate(over="ignore"):  # an infinity is found outside of the support
            cast = {name: values[name].astype(dtype) for name in names}
        tens = elsewhere.astype(dtype).reshape(len(elsewhere) // AT_ONCE, AT_ONCE, density.dim)
        keys = words.reshape(-1, AT_ONCE, 2) if draws_whole else [None] * len(tens)
        found = [to_numpy(program(cast, each, key)) for each, key in zip(tens, keys, strict=True)]
        # A support may depend on a site that is drawn: then some places are left out.
        is_usable = np.full(len(elsewhere), True)
        for name in names:
            is_usable &= np.concatenate([is_inside[name] for _, is_inside in found])
            if not is_usable.any():
                words_of = support_in_words(density, name)
                must = f": it must be {words_of}" if words_of else ""
                raise DataError(
                    f"{where}: site {name!r} is to begin at {short(values[name])}, which is outside or on the edge of "
                    f"its support ({density.layout[name].distribution}{must}). Give a value inside of it."
                )
        every = (position for position, _ in found)
        return jax.tree.map(lambda *rows: np.concatenate(rows)[is_usable], *every)

    return run


def short(value: np.ndarray) -> str:
    """Show a value, with a few of its numbers."""
    with np.printoptions(precision=6, threshold=8):
        return f"{value}"
