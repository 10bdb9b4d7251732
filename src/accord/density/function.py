"""Evaluate a user's own log density over a pytree of unconstrained arrays."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import jax.tree_util as jtu
import numpy as np
from jax.core import Tracer

from ..core import precision as precision_scope
from ..core.errors import DataError, ModelError
from ..core.notice import Notice
from ..core.precision import Precision
from ..language.messages.places import note_function
from .data import convert
from .layout import Layout
from .program import AbstractProgram, Recorded, View, every_site
from .shown import Shown, named_leaves
from .unknowns import Unknowns, pieces_at
from .weights import Parts

TERM = "log_density"


@dataclass(frozen=True, eq=False)
class FunctionProgram(AbstractProgram):
    """A function and the structure of the tree it takes; a leaf's name is its path, `a/b`, or `x` for a bare array."""

    name: str
    function: Callable[[Any], Any]
    structure: Any
    layout: Layout
    precision: Precision
    shown: Shown
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)

    @staticmethod
    def from_function(
        function: Callable[[Any], Any], example: Any, precision: Precision, shown: Shown | None = None
    ) -> "FunctionProgram":
        """Check the example, and the shapes of what the functions return, without evaluating them."""
        shown = shown or Shown()
        dtype = precision_scope.float_dtype(precision)
        leaves, structure = named_leaves(shown.word, example)
        with precision_scope.scope(precision):
            abstract = [jax.ShapeDtypeStruct(shape, dtype) for shape in leaves.values()]
            position = jtu.tree_unflatten(structure, abstract)
            try:
                result = jax.eval_shape(function, position)
            except Exception as error:
                note_function(error, function)
                raise
            layout = shown.layout(leaves, position, dtype)
        if getattr(result, "shape", None) != ():
            raise DataError(
                f"{shown.word}: the function must return one number, shape (); it returned {result}."
            )
        if jnp.issubdtype(result.dtype, jnp.complexfloating):
            raise DataError(
                f"{shown.word}: the function returned a complex number ({result.dtype}), and a log density is real. "
                "Return its real part, `value.real`, if the imaginary part is 0."
            )
        name = getattr(function, "__name__", type(function).__name__)
        return FunctionProgram(name, function, structure, layout, precision, shown)

    @property
    def written(self) -> Callable[..., Any]:
        """The function."""
        return self.function

    def terms_at(
        self, pieces: Mapping[str, jax.Array], data: Mapping[str, Any], view: View = every_site
    ) -> dict[str, jax.Array]:
        """Return the function's value as the only term."""
        del data, view
        return {TERM: jnp.asarray(self.function(self._tree(pieces)))}

    def parts_at(
        self,
        pieces: Mapping[str, jax.Array],
        data: Mapping[str, Any],
        view: View = every_site,
        beside: Collection[str] = (),
    ) -> Parts:
        """Count all as likelihood, but for the log Jacobian where that is known."""
        del beside
        number = self.terms_at(pieces, data, view)[TERM]
        jacobian = jnp.zeros_like(number)
        if self.shown.log_jacobian is not None:
            jacobian = jnp.asarray(self.shown.log_jacobian(self._tree(pieces)))
        return Parts(jnp.zeros_like(number), jacobian, number - jacobian)

    def said(self, position: Unknowns) -> str:
        """Return why the function refuses a position, in its own words; empty where it has none."""
        return (
            "" if self.shown.said is None else self.shown.said(self._tree(pieces_at(position, self.layout)))
        )

    def check_separate(self, data: Mapping[str, Any]) -> None:
        """Raise: a function has no parts."""
        raise ModelError(
            f"{self.name!r} is a log density without sites, so its likelihood cannot be told from its prior. Samplers "
            "such as `infer.NUTS()` need no parts, nor does `infer.evidence(draws, infer.BridgeSampling())`; for the "
            "rest, write it as a model, with `ac.model`."
        )

    def values(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Return the named values, and the leaves that these do not name."""
        del data
        pieces = pieces_at(position, self.layout)
        if self.shown.constrain is None:
            return pieces
        found = {name: jnp.asarray(value) for name, value in self.shown.constrain(self._tree(pieces)).items()}
        return pieces | found

    def recorded(self, position: Unknowns, data: Mapping[str, Any]) -> Recorded:
        """Compute the named values."""
        values = self.values(position, data)
        return Recorded({entry.name: values[entry.name] for entry in self.layout.drawn}, None)

    def positions(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Return the leaves, by `unconstrain` where `constrain` changes any."""
        del data
        dtype = jnp.result_type(float)
        given = {entry.name: jnp.asarray(values[entry.name], dtype) for entry in self.layout.entries}
        changed = [entry.name for entry in self.layout.entries if entry.kind == "latent"]
        if self.shown.constrain is None or not changed:
            return given
        if self.shown.unconstrain is None:
            raise DataError(
                f"the density {self.name!r} has `constrain=` and no `unconstrain=`, so that nothing says where "
                f"{', '.join(map(repr, changed))} {'has' if len(changed) == 1 else 'have'} given values. Give "
                f"`{self.shown.word}` `unconstrain=`, a function from such values by name to a position."
            )
        leaves, structure = jtu.tree_flatten(self.shown.unconstrain(given))
        shapes = [entry.unconstrained_shape for entry in self.layout.entries]
        if structure != self.structure or [np.shape(leaf) for leaf in leaves] != shapes:
            raise DataError(
                f"{self.shown.word}: `unconstrain` returned the tree {structure} with leaves of shapes "
                f"{', '.join(str(np.shape(leaf)) for leaf in leaves)}, and a position is {self.structure} with shapes "
                f"{', '.join(map(str, shapes))}."
            )
        names = [entry.name for entry in self.layout.entries]
        return {name: jnp.asarray(leaf, dtype) for name, leaf in zip(names, leaves, strict=True)}

    def check(self, data: Mapping[str, Any]) -> tuple[Notice, ...]:
        """Raise `DataError` for other data than the function holds."""
        for name, own in self.held.items():
            value = data.get(name, own)
            if not isinstance(value, Tracer) and not _are_equal(np.asarray(value), own):
                raise DataError(
                    f"the array {name!r} is a part of the function {self.name!r}, so that it cannot change. Make the "
                    "density anew, of a function that holds the new data."
                )
        return ()

    @property
    def held(self) -> dict[str, np.ndarray]:
        """The data that are shown beside draws, which the function does not read from here."""
        shown = {**self.shown.observed, **self.shown.constant}
        return {name: convert(name, value, self.precision) for name, value in shown.items()}

    def rebuilt(
        self, data: Mapping[str, Any], precision: Precision | None = None
    ) -> "tuple[FunctionProgram, dict[str, Any], tuple[Notice, ...]]":
        """Take the function again, which may be in another precision."""
        self.check({name: convert(name, value, self.precision) for name, value in data.items()})
        example = [np.zeros(entry.unconstrained_shape) for entry in self.layout.entries]
        tree = jtu.tree_unflatten(self.structure, example)
        program = FunctionProgram.from_function(self.function, tree, precision or self.precision, self.shown)
        return program, program.held, ()

    def _tree(self, pieces: Mapping[str, jax.Array]) -> Any:
        return jtu.tree_unflatten(self.structure, [pieces[entry.name] for entry in self.layout.entries])


def _are_equal(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=other.dtype.kind == "f")
