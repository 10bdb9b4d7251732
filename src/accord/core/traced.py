"""Walk through traced JAX programs, and compute keys that identify them."""

import enum
import hashlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal

# Parameters that no longer affect results: rules of derivatives and of batching, and values that Equinox derives from
# the others. Where JAX makes a rule anew in each trace, it would equal no other.
_SPENT = {
    "custom_jvp_call": ("jvp_jaxpr_fun",),
    "custom_vmap_call": ("rule",),
    "custom_vjp_call": ("fwd_jaxpr_thunk", "bwd", "out_trees"),
    "custom_lin": ("bwd",),  # which no program can have: lowering refuses forward derivatives of `custom_vjp`
    "remat2": ("policy",),
}
_DERIVED = ("equinox.internal._primitive", "Flatten")
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.dtype, np.generic, enum.Enum)


def functions(jaxpr: Any) -> Iterator[Any]:
    """Yield a traced function, and every function in it."""
    yield jaxpr
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            for part in _parts(value):
                if _is_function(part):
                    yield from functions(part)


def distinct_functions(jaxpr: Any) -> Iterator[Any]:
    """Yield the same functions, each once."""
    seen, waiting = {id(jaxpr)}, [jaxpr]
    while waiting:
        function = waiting.pop()
        yield function
        for equation in function.eqns:
            for part in (part for value in equation.params.values() for part in _parts(value)):
                if _is_function(part) and id(part) not in seen:
                    seen.add(id(part))
                    waiting.append(part)


def equations(jaxpr: Any) -> Iterator[Any]:
    """Yield the equations of a traced function, and of every function in it."""
    return (equation for function in functions(jaxpr) for equation in function.eqns)


def key_of(traced: Any, *, with_rules: bool = False) -> Hashable:
    """Return the key of a program: programs with equal keys compute the same from the same constants.

    The key records which operation takes which results, and every parameter of each operation. JAX's printed text would
    not do: it has one name for all unused results, `[...]` for arrays, and ambiguous names for Python functions.
    Objects that are not plain values are compared as JAX compares them, and the key keeps them alive.

    Rules of derivatives and of batching are left out, because a program that runs is neither differentiated nor batched
    any more. `with_rules` includes them; each rule equals only itself.
    """
    teller = _Teller({} if with_rules else _SPENT)
    teller.tell_function(getattr(traced, "jaxpr", traced))
    return teller.words.hexdigest(), tuple(teller.objects)


def equation_key(equation: Any) -> Hashable:
    """Return the key of an equation: those with equal keys compute the same from the same variables.

    A variable is known by itself, so that keys are for equations of one function.
    """
    teller = _Teller(_SPENT)
    given = tuple(v for v in equation.invars if not isinstance(v, Literal))
    places = {variable: place for place, variable in enumerate(dict.fromkeys(given))}
    teller.tell_equation(equation, places)
    return teller.words.hexdigest(), tuple(teller.objects), given


class _Teller:
    """Collector of a program's key: `words`, a digest of plain values, and `objects`, in order."""

    def __init__(self, left_out: Mapping[str, Sequence[str]]) -> None:
        self._left_out = left_out
        self.words = hashlib.sha256()
        self.objects: list[Hashable] = []
        self._numbers: dict[int, int] = {}

    def tell_function(self, function: Any) -> None:
        """Add a function in full the first time, and by its number after that."""
        inner = getattr(function, "jaxpr", function)
        is_known = id(function) in self._numbers
        self._tell("function", self._numbers.setdefault(id(function), len(self._numbers)))
        if is_known:
            return
        for value in getattr(function, "consts", ()):
            self._tell_array(value)
        places: dict[Any, int] = {}
        for variable in (*inner.constvars, *inner.invars):
            self._tell_result(variable, places)
        for equation in inner.eqns:
            self.tell_equation(equation, places)
        self._tell_arguments(inner.outvars, places)

    def tell_equation(self, equation: Any, places: dict[Any, int]) -> None:
        """Add an equation, of which the places of arguments are known."""
        name = equation.primitive.name
        self._tell("equation", name, len(equation.outvars))
        self.objects += [equation.primitive, equation.ctx]
        self._tell_arguments(equation.invars, places)
        for parameter, value in sorted(equation.params.items()):
            if parameter not in self._left_out.get(name, ()):
                self._tell(parameter)
                for part in _parts(value):
                    self._tell_part(part)
        for variable in equation.outvars:
            self._tell_result(variable, places)

    def _tell_part(self, part: Any) -> None:
        if _is_function(part):
            self.tell_function(part)
        elif isinstance(part, _PLAIN):
            self._tell(type(part).__qualname__, str(part) if isinstance(part, np.dtype) else part)
        elif (type(part).__module__, type(part).__name__) != _DERIVED:
            self._tell("object")
            self.objects.append(part)

    def _tell_arguments(self, atoms: Any, places: dict[Any, int]) -> None:
        for atom in atoms:
            if isinstance(atom, Literal):
                self._tell_array(atom.val)
                self.objects.append(atom.aval)
            else:
                self._tell(places[atom])

    def _tell_result(self, variable: Any, places: dict[Any, int]) -> None:
        places[variable] = len(places)
        self.objects.append(variable.aval)

    def _tell_array(self, value: Any) -> None:
        dtype = getattr(value, "dtype", None)
        if dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key):
            self._tell(str(dtype))
            value = jax.random.key_data(value)
        array = np.asarray(value)
        self._tell("array", str(array.dtype), array.shape)
        self.words.update(np.ascontiguousarray(array).tobytes())

    def _tell(self, *words: Any) -> None:
        self.words.update(repr(words).encode())


def _parts(value: Any) -> Iterator[Any]:
    """Yield the parts of an operation's parameter, with a word before the contents of each sequence."""
    if isinstance(value, Mapping):
        value = sorted(value.items())
    if isinstance(value, tuple | list):
        yield f"{len(value)} parts"
        for each in value:
            yield from _parts(each)
    else:
        yield value


def _is_function(part: Any) -> bool:
    return hasattr(part, "eqns")
