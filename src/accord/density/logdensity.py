"""Turn a model, or a function, into a log density over vectors of unconstrained numbers."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import EllipsisType
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from ..core.errors import DataError, SiteError
from ..core.forks import check_threads
from ..core.masked import unmasked
from ..core.notice import Notice
from ..core.options import checks_options
from ..core.position import Position
from ..core.precision import Precision
from ..core.tracebacks import entry_points
from ..language import Model
from ..language.handlers.whole import SampleDiscrete, SampleWhole
from ..language.shapes import check_real
from .callback import Callback
from .checks import non_finite_message
from .data import check_names, convert
from .function import FunctionProgram
from .layout import Layout
from .program import AbstractProgram, ModelProgram
from .shown import Shown
from .stages import staged
from .unknowns import Unknowns, checked, free_of, joined
from .weights import POSTERIOR, Parts, Weights


@entry_points
class LogDensity(eqx.Module):
    """The log density of the latent sites of a model given its data, at positions of shape `(dim,)`.

    A position holds every latent site in the layout's order, mapped to the whole real line; the log density includes
    the Jacobian of that map. All methods can be used under `jit`, `grad` and `vmap`, and compute in its dtype.
    Discrete sites that a sampler moves are whole numbers: such a density takes a `Position` in place of an array.
    The data are leaves of this pytree: under `jit`, new data of the same shape compile nothing.

    **Fields**
    - `data`: the traced arrays among the model's arguments and conditions, by name (`X`, `X/key`, `condition/x`).
    - `program`: how to evaluate it.
    - `notices`: what tracing the model gave reason to say.

    **Example**

    >>> density = ac.LogDensity.from_model(coin(4, heads))
    >>> position = density.unconstrain({"p": 0.75})
    >>> print(f"{density(position):.4f}, {density.constrain(position)['p']:.2f}")
    -3.8055, 0.75
    >>> {name: f"{term:.4f}" for name, term in density.site_terms(position).items()}
    {'p': '-1.5562', 'y': '-2.2493'}
    >>> normal = ac.LogDensity.from_function(lambda x: -0.5 * (x**2).sum(), np.zeros(3))
    >>> infer.sample(normal, draws=100, chains=2, quiet=True)
    <Draws of <lambda>: 2 chains x 100 draws; x[3]>
    """

    data: dict[str, Any]
    program: AbstractProgram = eqx.field(static=True)
    notices: tuple[Notice, ...] = eqx.field(static=True, default=())

    @staticmethod
    def from_model(
        model: Model,
        precision: Precision = "float64",
        whole: Collection[str] = (),
        whole_if_discrete: Collection[str] | EllipsisType = (),
    ) -> "LogDensity":
        """Trace `model` once, in the scope of `precision`, without computing anything.

        Where sites are collapsed, it is evaluated at some points, to see that this is exact with its data.

        **Arguments**: `whole`, names of discrete latent sites whose values are unknowns of the density: it is then
        evaluated at a `Position` of free and whole numbers, and is -inf outside of their supports; `whole_if_discrete`,
        names of latent sites of which the discrete ones are such too, or `...` for all.

        **Raises** `DataError` for arguments that are not numbers; `SiteError` for a site that does not fit, is
        discrete and not in `whole`, or observes NaN, and for a name in `whole` of no discrete latent site; `ModelError`
        for a model without latent sites, with a Python branch on one, or without data to make its prior proper.
        """
        if whole:
            model = model.inside_of(SampleWhole(tuple(sorted(whole))))
        if whole_if_discrete:
            names = whole_if_discrete if whole_if_discrete is ... else tuple(sorted(whole_if_discrete))
            model = model.inside_of(SampleDiscrete(names))
        program, data, notices = ModelProgram.from_model(model, precision)
        return LogDensity.of_stages(program, data, notices)

    @staticmethod
    def of_stages(
        program: AbstractProgram, data: dict[str, Any], notices: tuple[Notice, ...]
    ) -> "LogDensity":
        """Make the density of a whole model, with the stages that it asks for."""
        made = staged(program, data)
        return LogDensity(data, made, (*notices, *made.told))

    @staticmethod
    @checks_options
    def from_function(
        function: Callable[[Any], Any],
        example: Any,
        precision: Precision = "float64",
        *,
        constrain: Callable[[Any], Any] | None = None,
        unconstrain: Callable[[Any], Any] | None = None,
        dims: Mapping[str, str | Sequence[str | None]] | None = None,
        coords: Mapping[str, Any] | None = None,
    ) -> "LogDensity":
        """Make a log density of a function of a pytree of arrays, all unconstrained.

        **Arguments**
        - `function`: from a pytree like `example` to a log density, shape `()`. Where `constrain` changes numbers, it
          includes the log Jacobian.
        - `example`: gives structure and shapes; its numbers are not used.
        - `constrain`: a JAX function from such a pytree to the values that draws show, by name. Without it they show
          the leaves, under their paths (`a/b`; `x` for a bare array). A leaf that it does not name is not shown.
        - `unconstrain`: its inverse, for `unconstrain` and `infer.from_values`: from a mapping with a value for each
          leaf, by name, to the pytree.
        - `dims`: names of axes by the name of a value, as `{"theta": "school"}` or `{"L": ("row", None)}`.
        - `coords`: labels by dim, as `{"school": ["Eton", "Harrow"]}`. Both reach ArviZ.

        **Raises** `DataError` when `example` holds anything but numbers, `function` does not return one number,
        `constrain` does not return named arrays, or dims and coords do not fit their shapes; `OptionError` for labels
        that come twice.
        """
        shown = Shown("from_function", constrain, unconstrain, dims or {}, coords or {})
        return LogDensity.of_function(function, example, precision, shown)

    @staticmethod
    @checks_options
    def from_callback(
        function: Callable[[Any], Any],
        example: Any,
        precision: Precision = "float64",
        *,
        constrain: Callable[[Any], Any] | None = None,
        unconstrain: Callable[[Any], Any] | None = None,
        dims: Mapping[str, str | Sequence[str | None]] | None = None,
        coords: Mapping[str, Any] | None = None,
    ) -> "LogDensity":
        """Make a log density of a Python function of NumPy arrays, which returns its gradient too.

        Compiled programs call it back for each evaluation, which takes a millisecond or so beside its own work. Threads
        call it at the same time, so it must not change what they share; with `infer.Processes` it must be picklable. It
        is called once here, at `example`.

        **Arguments**
        - `function`: from a pytree of NumPy arrays like `example` to the pair `(log density, gradient)`, a number and a
          pytree of arrays of the same shapes. It must return the same for the same numbers.
        - `example`: gives structure and shapes, and where `function` is tried.
        - others: as of `from_function`; `constrain` and `unconstrain` are JAX functions.

        **Raises** `DataError` as `from_function` does, and for returned values of other shapes or kinds, also during a
        run; `ModelError` where second derivatives are asked for. What `function` raises ends the run.

        **Example**

        >>> import numpy as np
        >>> normal = ac.LogDensity.from_callback(lambda x: (-0.5 * (x**2).sum(), -x), np.zeros(3))
        >>> normal.layout.dim
        3
        """
        called = Callback.of(function, example)
        shown = Shown("from_callback", constrain, unconstrain, dims or {}, coords or {})
        return LogDensity.of_function(called, example, precision, shown)

    @staticmethod
    def of_function(
        function: Callable[[Any], Any], example: Any, precision: Precision, shown: Shown
    ) -> "LogDensity":
        """Make the density of a function with what draws show of it. For arguments and errors see `from_function`."""
        program = FunctionProgram.from_function(function, example, precision, shown)
        return LogDensity(program.held, program)

    @property
    def layout(self) -> Layout:
        """The place of each site in a position, and its shape, dims and coords."""
        return self.program.layout

    @property
    def dim(self) -> int:
        """Number of free numbers in a position."""
        return self.layout.dim

    @property
    def constants(self) -> Mapping[str, np.ndarray]:
        """Arguments that are constants of the program because the model needs their values while it is traced."""
        return self.program.constants

    def __call__(self, position: Unknowns) -> Float[Array, ""]:
        """Evaluate the log density at `position`, with respect to the unconstrained numbers."""
        position = self._checked(position)
        return self.program.log_density(position, self.data).astype(free_of(position).dtype)

    def value_and_grad(self, position: Unknowns) -> tuple[Float[Array, ""], Float[Array, " dim"]]:
        """Evaluate the log density and its gradient at `position`, by its free numbers."""
        position = self._checked(position)
        if not isinstance(position, Position):
            return jax.value_and_grad(self.__call__)(position)
        return jax.value_and_grad(lambda free: self(replace(position, free=free)))(position.free)

    def value(self, position: Unknowns, weights: Weights = POSTERIOR) -> Float[Array, ""]:
        """Evaluate the log density at `position` with its parts weighted, as in `value(position, tempered(0.5))`.

        Weights are in `accord.density.weights`: `POSTERIOR` (the log density itself), `MAP` (without the Jacobian),
        `MLE` (the likelihood alone) and `tempered(beta)`. Given to a function under `jit`, they are data of it.

        **Raises** `ModelError` where prior and likelihood count differently and cannot be told apart: for a function,
        and where the prior of a site depends on a collapsed one.
        """
        position = self._checked(position)
        if not weights.are_alike:
            self.program.check_separate(self.data)
        return self.program.weighted(position, self.data, weights).astype(free_of(position).dtype)

    def parts(self, position: Unknowns) -> Parts:
        """Evaluate log prior, log Jacobian and log likelihood at `position`: they sum to the log density.

        **Raises** `ModelError` where prior and likelihood cannot be told apart: see `value`.
        """
        position = self._checked(position)
        self.program.check_separate(self.data)
        return self.program.parts(position, self.data)

    def constrain(self, position: Unknowns) -> dict[str, Array]:
        """Compute the latent and deterministic sites at `position`, in the model's order.

        Sites that are collapsed are drawn, by random numbers that are a function of the position.
        """
        return self.program.values(self._checked(position), self.data)

    def unconstrain(self, values: Mapping[str, Any]) -> Unknowns:
        """Find the position at which the latent sites have these values.

        A site that is reparameterised may be given in the place of its auxiliary.

        **Raises** `DataError` for missing, unknown or wrongly shaped values, and for those outside of a site's support.
        """
        check_threads()
        latents = {entry.name: entry for entry in self.layout.unknowns}
        given = self.layout.latents_of(values, "unconstrain")
        for name, entry in latents.items():
            if name not in given:
                raise DataError(
                    f"unconstrain: the value of site {name!r} is missing; its shape is {entry.shape}."
                )
            by, shape = given[name], self.layout[given[name]].shape
            if np.shape(values[by]) != shape:
                raise DataError(f"unconstrain: site {by!r} has shape {shape}, got {np.shape(values[by])}.")
            unmasked(values[by], f"unconstrain: site {by!r}")
            check_real(f"unconstrain: the value of site {by!r}", values[by])
        pieces = self.program.positions(values, self.data)
        for name, piece in pieces.items():
            if not isinstance(piece, Tracer) and not np.all(np.isfinite(piece)):
                by = given[name]
                raise DataError(
                    f"unconstrain: the value of site {by!r} is not inside of its support: {values[by]!r}."
                )
        return joined(pieces, self.layout)

    def site_terms(self, position: Unknowns) -> dict[str, Float[Array, ""]]:
        """Evaluate each site's term of the log density, Jacobians included: the terms sum to it."""
        return self.program.terms(self._checked(position), self.data)

    def observed_nan_counts(self, position: Unknowns) -> dict[str, Array]:
        """Count the observed values that are NaN or infinite and not masked: int32 by site.

        Only of sites whose values the model computes or masks; where they are data unchanged, they have been checked.
        """
        return self.program.non_finite(self._checked(position), self.data)

    def check_observed(self, counts: Mapping[str, Any]) -> None:
        """Raise `SiteError` for the first site of which `observed_nan_counts` counted any."""
        for name, count in counts.items():
            if int(count):
                raise SiteError(non_finite_message(self.layout[name], int(count)))

    def with_data(self, data: Mapping[str, Any]) -> "LogDensity":
        """Return the density with other data for the names given.

        Where the shapes are as before and no constant changes, nothing is traced again, unless the density has been
        pickled: then its model is traced to check the new data.

        **Raises** `DataError` for unknown names and values that are not numbers; `SiteError` as `from_model` does.
        """
        check_names(data, {**self.data, **self.constants})
        new = {name: convert(name, value, self.program.precision) for name, value in data.items()}
        is_same_program = all(
            name in self.data and (value.shape, value.dtype) == (self.data[name].shape, self.data[name].dtype)
            for name, value in new.items()
        )
        every = {**self.data, **new}
        # A worker, whose copy knows nothing to check, gives it tracers alone, or nothing where there are no data.
        is_left = not new or any(isinstance(value, Tracer) for value in every.values())
        if not (is_same_program and (is_left or self.program.can_check)):
            program, arrays, notices = self.program.rebuilt({**self.data, **self.constants, **new})
            return LogDensity.of_stages(program, arrays, notices)
        found = self.program.check(every)
        if is_left:
            return LogDensity(every, self.program, self.notices)
        kept = (notice for notice in self.notices if notice.code != "index_not_checked")
        return LogDensity(every, self.program, (*kept, *found))

    # By identity, so that `jax.jit(density.value_and_grad)` works though data has no hash.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    def _checked(self, position: Unknowns) -> Unknowns:
        check_threads()
        return checked(position, self.layout)
