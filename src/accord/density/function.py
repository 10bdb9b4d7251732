"""Evaluate a user's own log density over a pytree of unconstrained arrays."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import jax.tree_util as jtu
import numpy as np

from ..core import precision as precision_scope
from ..core.errors import DataError, ModelError
from ..core.notice import Notice
from ..core.precision import Precision
from ..language.messages.places import note_function
from ..language.naming import check_text
from .layout import Entry, Layout
from .program import AbstractProgram, View, every_site
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
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)

    @staticmethod
    def from_function(
        function: Callable[[Any], Any], example: Any, precision: Precision
    ) -> "FunctionProgram":
        """Check the example and the function's shape without evaluating it."""
        dtype = precision_scope.float_dtype(precision)
        paths, structure = jtu.tree_flatten_with_path(example)
        entries: list[Entry] = []
        for path, leaf in paths:
            name = (
                "/".join(str(getattr(k, "key", getattr(k, "idx", getattr(k, "name", k)))) for k in path)
                or "x"
            )
            check_text("from_function: the name", name, DataError)
            shape = np.shape(leaf)
            if np.asarray(leaf).dtype.kind not in "fiu":
                raise DataError(
                    f"from_function: leaf {name!r} of the example is {leaf!r}, not real numbers. Of complex "
                    "ones give the real and imaginary parts as two leaves."
                )
            start = entries[-1].stop if entries else 0
            dims = tuple(f"{name}_dim_{axis}" for axis in range(len(shape)))
            entries.append(
                Entry(name, "latent", shape, str(dtype), dims, start, start + int(np.prod(shape)), shape)
            )
        if not entries:
            raise DataError("from_function: the example has no array; give one array for each unknown.")
        with precision_scope.scope(precision):
            abstract = [jax.ShapeDtypeStruct(entry.shape, dtype) for entry in entries]
            try:
                result = jax.eval_shape(function, jtu.tree_unflatten(structure, abstract))
            except Exception as error:
                note_function(error, function)
                raise
        if getattr(result, "shape", None) != ():
            raise DataError(
                f"from_function: the function must return one number, shape (); it returned {result}."
            )
        if jnp.issubdtype(result.dtype, jnp.complexfloating):
            raise DataError(
                f"from_function: the function returned a complex number ({result.dtype}), and a log density is real. "
                "Return its real part, `value.real`, if the imaginary part is 0."
            )
        name = getattr(function, "__name__", type(function).__name__)
        return FunctionProgram(name, function, structure, Layout(tuple(entries)), precision)

    @property
    def written(self) -> Callable[..., Any]:
        """The function."""
        return self.function

    def terms_at(
        self, pieces: Mapping[str, jax.Array], data: Mapping[str, Any], view: View = every_site
    ) -> dict[str, jax.Array]:
        """Return the function's value as the only term."""
        del data, view
        leaves = [pieces[entry.name] for entry in self.layout.entries]
        return {TERM: jnp.asarray(self.function(jtu.tree_unflatten(self.structure, leaves)))}

    def parts_at(
        self,
        pieces: Mapping[str, jax.Array],
        data: Mapping[str, Any],
        view: View = every_site,
        beside: Collection[str] = (),
    ) -> Parts:
        """Count all as likelihood."""
        del beside
        number = self.terms_at(pieces, data, view)[TERM]
        return Parts(jnp.zeros_like(number), jnp.zeros_like(number), number)

    def check_separate(self, data: Mapping[str, Any]) -> None:
        """Raise: a function has no parts."""
        raise ModelError(
            f"{self.name!r} is a log density without sites, so its likelihood cannot be told from its prior."
        )

    def values(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Return the leaves by name."""
        del data
        return pieces_at(position, self.layout)

    def positions(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Return the leaves as they are."""
        del data
        return {name: jnp.asarray(value, jnp.result_type(float)) for name, value in values.items()}

    def rebuilt(
        self, data: Mapping[str, Any], precision: Precision | None = None
    ) -> "tuple[FunctionProgram, dict[str, Any], tuple[Notice, ...]]":
        """Take the function again, which may be in another precision."""
        example = jtu.tree_unflatten(self.structure, [np.zeros(entry.shape) for entry in self.layout.entries])
        program = FunctionProgram.from_function(self.function, example, precision or self.precision)
        return program, dict(data), ()
