"""Evaluate a Stan program in JAX, by calls of its compiled library from XLA."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ...core.errors import DataError, ModelError, OptionError
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
        return _value(self._call(), True, self._flat(position))

    def log_jacobian(self, position: Mapping[str, Any]) -> jax.Array:
        """Evaluate the part of the log density that comes from the constraints of parameters, shape `()`."""
        call, x = self._call(), self._flat(position)
        return _value(call, True, x) - _value(call, False, x)

    def constrain(self, position: Mapping[str, Any]) -> "OrderedDict[str, Any]":
        """Compute parameters, transformed parameters and generated quantities.

        Random numbers are a function of the position.
        """
        numbers = _values(self._call(), self._flat(position), len(self.described.names))
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

    def unconstrain(self, values: Mapping[str, Any]) -> "OrderedDict[str, Any]":
        """Find the unconstrained numbers of values of all parameters, given by name.

        **Raises** `DataError` with Stan's message for values outside of their support; traced, it gives NaN.
        """
        parts = [jnp.ravel(jnp.asarray(values[name], float), order="F") for name in self.described.parameters]
        given, size = jnp.concatenate(parts), sum(self.described.unconstrained.values())
        found = _ffi(self._call(), "unconstrained", (size,))(given, **self._call().attributes)
        if not isinstance(found, Tracer) and not np.all(np.isfinite(found)):
            library, model = self._loaded()
            words = library.refusal(model, np.asarray(given), is_constrained=True)
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

    def _call(self) -> "_Call":
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
        return _Call(library.prefix, model, self.translation.name)


@dataclass(frozen=True)
class _Call:
    """A model as XLA's handlers find it; equal to others of the same program and data."""

    prefix: str
    model: int
    name: str

    @property
    def attributes(self) -> dict[str, Any]:
        return {"model": np.int64(self.model)}


def _ffi(call: _Call, name: str, *shapes: tuple[int, ...]) -> Any:
    results = tuple(jax.ShapeDtypeStruct(shape, jnp.float64) for shape in shapes)
    return jax.ffi.ffi_call(
        f"{call.prefix}_{name}", results if len(shapes) > 1 else results[0], vmap_method="broadcast_all"
    )


def _with_rule(*static: int) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function that has a rule for its derivative, with the numbers of arguments that are not arrays."""
    return partial(jax.custom_vjp, nondiff_argnums=static)


@_with_rule(0, 1)
def _value(call: _Call, jacobian: bool, x: Any) -> Any:
    return _ffi(call, "value", ())(x, **call.attributes, jacobian=jacobian)


def _value_forward(call: _Call, jacobian: bool, x: Any) -> Any:
    return _gradient(call, jacobian, x)


def _value_back(call: _Call, jacobian: bool, slope: Any, weight: Any) -> Any:
    del call, jacobian
    return (weight * slope,)


@_with_rule(0, 1)
def _gradient(call: _Call, jacobian: bool, x: Any) -> Any:
    return _ffi(call, "gradient", (), x.shape)(x, **call.attributes, jacobian=jacobian)


def _gradient_forward(call: _Call, jacobian: bool, x: Any) -> Any:
    value, slope = _gradient(call, jacobian, x)
    return (value, slope), (x, slope)


def _gradient_back(call: _Call, jacobian: bool, kept: Any, weights: Any) -> Any:
    x, slope = kept
    turned = _ffi(call, "product", x.shape)(x, weights[1], **call.attributes, jacobian=jacobian)
    return (weights[0] * slope + turned,)


@_with_rule(0, 2)
def _values(call: _Call, x: Any, size: int) -> Any:
    return _ffi(call, "values", (size,))(x, **call.attributes)


def _values_forward(call: _Call, x: Any, size: int) -> Any:
    return _values(call, x, size), None


def _values_back(call: _Call, size: int, kept: Any, weights: Any) -> Any:
    del size, kept, weights
    raise ModelError(
        f"the values that the Stan program {call.name!r} computes have no derivatives in JAX. Write what is to be "
        "differentiated for accord."
    )


_value.defvjp(_value_forward, _value_back)
_gradient.defvjp(_gradient_forward, _gradient_back)
_values.defvjp(_values_forward, _values_back)
