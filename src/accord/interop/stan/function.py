"""Evaluate a Stan program in JAX, by calls of its compiled library from XLA."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ...core.errors import DataError, OptionError
from .calls import Call, unconstrained, value, values
from .library import Described, Library, key_of
from .toolchain import WORD
from .translate import Translation


@dataclass(frozen=True, eq=False)
class Program:
    """A Stan program with its data. In another process it is loaded again.

    **Fields**: `translation`; `data`, as Stan reads them, and their key `model`; `described`, what it computes.
    """

    translation: Translation
    data: Mapping[str, np.ndarray]
    model: int
    described: Described

    @staticmethod
    def of(translation: Translation, data: Mapping[str, np.ndarray]) -> "Program":
        """Compile and load it. Raises `DataError` with Stan's message for data that do not fit."""
        library, model = Library.of(translation.source), key_of(data)
        try:
            library.load(model, data)
        except ValueError as error:
            raise DataError(
                f"{WORD}: the program {translation.name!r} refuses its data. Stan says: {error}"
            ) from None
        return Program(translation, data, model, library.describe(model))

    @property
    def __name__(self) -> str:
        return self.translation.name.removesuffix(".stan")

    def __call__(self, position: Mapping[str, Any]) -> jax.Array:
        """Evaluate the log density with the log Jacobian and all constants, shape `()`."""
        return value(self._call(), True, self._flat(position))

    def log_jacobian(self, position: Mapping[str, Any]) -> jax.Array:
        """Evaluate the part of the log density that comes from the constraints of parameters, shape `()`."""
        call, x = self._call(), self._flat(position)
        return value(call, True, x) - value(call, False, x)

    def constrain(self, position: Mapping[str, Any]) -> "OrderedDict[str, Any]":
        """Compute parameters, transformed parameters and generated quantities.

        Random numbers are a function of the position.
        """
        sizes = self.described.num_smooth, len(self.described.names)
        numbers = values(self._call(), sizes, self._flat(position))
        found: OrderedDict[str, Any] = OrderedDict()
        kinds = {**self.translation.parameters, **self.translation.others}
        start = 0
        for name, shape in {**self.described.parameters, **self.described.others}.items():
            stop = start + int(np.prod(shape))
            part = jnp.reshape(numbers[start:stop], shape, order="F")
            if kinds[name].type == "int":
                # Stan's sign for what was not assigned
                lowest = jnp.iinfo(jnp.int32).min
                part = jnp.where(jnp.isnan(part), lowest, part).astype(int)
            found[name], start = part, stop
        return found

    def unconstrain(self, given: Mapping[str, Any]) -> "OrderedDict[str, Any]":
        """Find the unconstrained numbers of values of all parameters, given by name.

        **Raises** `DataError` with Stan's message for values outside of their support; traced, it gives NaN.
        """
        parts = [jnp.ravel(jnp.asarray(given[name], float), order="F") for name in self.described.parameters]
        numbers, size = jnp.concatenate(parts), sum(self.described.unconstrained.values())
        found = unconstrained(self._call(), size, numbers)
        if not isinstance(found, Tracer) and not np.all(np.isfinite(found)):
            library, model = self._loaded()
            words = library.refusal(model, np.asarray(numbers), is_constrained=True)
            raise DataError(
                f"unconstrain: {self.translation.name!r} refuses these values. Stan says: {words}"
            )
        return self.split(found)

    def split(self, flat: Any) -> "OrderedDict[str, Any]":
        """Cut unconstrained numbers by parameter; those of a number that has one have shape `()`."""
        found: OrderedDict[str, Any] = OrderedDict()
        start = 0
        for name, count in self.described.unconstrained.items():
            part = flat[start : start + count]
            found[name] = part if self.described.parameters[name] else part[0]
            start += count
        return found

    def said(self, position: Mapping[str, Any]) -> str:
        """Return why Stan refuses a position; empty if it does not."""
        library, model = self._loaded()
        words = library.refusal(model, np.asarray(self._flat(position)))
        return f"Stan says: {words}" if words else ""

    def messages(self) -> dict[str, int]:
        """Return what it has said in this process."""
        library, model = self._loaded()
        return library.messages(model)

    def _flat(self, position: Mapping[str, Any]) -> Any:
        return jnp.concatenate([jnp.ravel(position[name]) for name in self.described.unconstrained])

    def _loaded(self) -> tuple[Library, int]:
        library = Library.of(self.translation.source)
        library.load(self.model, self.data)
        return library, self.model

    def _call(self) -> Call:
        if not jax.config.read("jax_enable_x64"):
            raise OptionError(
                f"the Stan program {self.translation.name!r} computes in float64, and this is float32. Leave out "
                "precision='float32'; outside of a run, evaluate under jax.enable_x64(True)."
            )
        if jax.default_backend() != "cpu":
            raise OptionError(
                f"the Stan program {self.translation.name!r} runs on the CPU, and JAX's default is "
                f"{jax.default_backend()!r} here. Set JAX_PLATFORMS=cpu before Python starts."
            )
        library, model = self._loaded()
        return Call(library.prefix, model, self.translation.name)
