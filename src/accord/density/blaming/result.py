"""Hold what is to blame for a number that is not finite, and print it."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_MAX_SITES = 6  # listed one to a line
_MAX_LINE = 90  # characters of a line of code
_MAX_VALUE = 60  # characters of an array

OWN = "the log density of"
"""How the owner of an operation is named that accord does for a site."""


@dataclass(frozen=True)
class BadTerm:
    """A site whose log density is not finite.

    **Fields**
    - `site`; `kind`: "latent", "observed", "collapsed", "factor", or "function" for a density of one; `log_density`.
    - `entries`: index and value of the first entries to blame, of `num_entries` in all.
    - `reason`: what is wrong with them, or empty where that is not known. `is_outside`: they are not in the support;
      `is_edge`: they are on its edge, or beyond.
    """

    site: str
    kind: str
    log_density: float
    entries: tuple[tuple[tuple[int, ...], Any], ...] = ()
    num_entries: int = 0
    reason: str = ""
    is_outside: bool = False
    is_edge: bool = False

    def __str__(self) -> str:
        if self.kind == "function":
            return f"the function returns {self.log_density:g}{': ' * bool(self.reason)}{self.reason}"
        text = f"{self.kind} site {self.site!r} has log density {self.log_density:g}"
        if self.entries:
            shown = ", ".join(f"{shorten(value)}{at(index)}" for index, value in self.entries)
            more = f" and {self.num_entries - len(self.entries)} more" * (
                self.num_entries > len(self.entries)
            )
            text += f": {shown}{more}{', ' * bool(self.reason)}{self.reason}"
        return text


@dataclass(frozen=True)
class BadDerivative:
    """A latent site whose derivative of the log density is not finite.

    **Fields**
    - `site`; `indices`: of the first such entries of its unconstrained numbers, of `num_entries` in all.
    - `through`: the sites whose terms have this derivative.
    """

    site: str
    indices: tuple[tuple[int, ...], ...]
    num_entries: int
    through: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = ", ".join(str(index[0] if len(index) == 1 else index) for index in self.indices if index)
        where = f"at index {where}" if where else ""
        more = f" and {self.num_entries - len(self.indices)} more" * (self.num_entries > len(self.indices))
        through = f", through {' and '.join(map(_site, self.through))}" if self.through else ""
        return f"the derivative by site {self.site!r}{' ' * bool(where)}{where}{more} is not finite{through}"


@dataclass(frozen=True)
class BadParameter:
    """A parameter of a site's distribution that is out of its range: the first such entry, and the valid range."""

    site: str
    distribution: str
    name: str
    value: Any
    index: tuple[int, ...]
    must_be: str

    def __str__(self) -> str:
        return (
            f"site {self.site!r}: {self.name} of {self.distribution} is {shorten(self.value)}{at(self.index)}; "
            f"it must be {self.must_be}"
        )


@dataclass(frozen=True)
class Operation:
    """The operation where the first number that is not finite arises.

    **Fields**
    - `name`: of the operation as it is written (`log`, `division`), or of the argument that was not finite already.
    - `where`: "file:line" of the user's code; `line`: its text, or empty.
    - `inputs`, `output`: at the first entry that is not finite, of `num_entries`; numbers of arrays are left out.
    - `is_derivative`: whether the operation itself is finite and its derivative is not.
    - `is_discarded`: whether a `where` discards it, so that it is multiplied by zero in the derivative.
    - `primitive`: JAX's name of it; or "argument", "constant" or "derivative rule".
    - `owner`: the distribution or function of a library that computed it, or empty for the user's own code.
    - `step`: of the loops around it, or empty.
    """

    name: str
    where: str
    line: str = ""
    inputs: tuple[float, ...] = ()
    output: float = math.nan
    is_derivative: bool = False
    is_discarded: bool = False
    primitive: str = ""
    owner: str = ""
    step: tuple[int, ...] = ()

    def __str__(self) -> str:
        given = ", ".join(f"{value:g}" for value in self.inputs)
        if self.primitive == "argument":
            text = f"{self.name}, which holds {self.output:g}, is used"
        elif self.primitive == "constant" and not self.name:
            text = f"{self.output:g} is written"
        elif self.primitive == "derivative rule":
            text = f"the {self.name} returns {self.output:g}"
        elif self.is_derivative:
            text = f"the derivative of {self.name}{f' at {given}' if given else ''} is {self.output:g}"
        else:
            text = f"{self.name}{f' of {given}' if given else ''} is {self.output:g}"
        text += f", in {self.owner}" if self.owner else ""
        text += f", at {self.where}" if self.where else ""
        text += f" `{_abbreviated(self.line)}`" if self.line else ""
        return text + (f", step {', '.join(map(str, self.step))} of the loop" if self.step else "")


@dataclass(frozen=True)
class Blame:
    """An explanation of what is not finite at a position, with what to do. Prints as a report of some lines.

    **Fields**
    - `log_density`; `terms`: by site, what it adds; `values`: by latent site, in the model's space.
    - `bad_terms`, `bad_derivatives`, `bad_parameters`: what is not finite or out of range, in the model's order.
    - `operation`: where the first number that is not finite arises, if it was found.
    - `cause`: a short code, "finite" where everything is. `remedy`: a sentence or two.
    - `remarks`: what was cut off.

    **Example**

    >>> @ac.model
    ... def halves():
    ...     x = ac.sample("x", dist.Normal(0, 1))
    ...     ac.factor("half", jnp.log(x))
    >>> found = density.blame(halves().log_density(), np.array([-1.0]))
    >>> found.sites, found.operation.name, found.cause
    (('half',), 'log', 'undefined')
    """

    log_density: float
    terms: dict[str, float]
    values: dict[str, np.ndarray]
    bad_terms: tuple[BadTerm, ...] = ()
    bad_derivatives: tuple[BadDerivative, ...] = ()
    bad_parameters: tuple[BadParameter, ...] = ()
    operation: Operation | None = None
    cause: str = "finite"
    remedy: str = ""
    remarks: tuple[str, ...] = field(default=())

    @property
    def is_finite(self) -> bool:
        """Return whether the log density and its gradient are finite."""
        return not self.bad_terms and not self.bad_derivatives and math.isfinite(self.log_density)

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites that are to blame, the first one first."""
        named = [each.site for each in (*self.bad_terms, *self.bad_derivatives)]
        named += [name for each in self.bad_derivatives for name in each.through if name in self.terms]
        return tuple(dict.fromkeys(named))

    def found(self) -> list[str]:
        """The faults that were found, a line for each."""
        lines = _first(self.bad_terms, "sites")
        lines += _first(self.bad_derivatives, "derivatives")
        lines += _first(self.bad_parameters, "parameters")
        if self.operation is not None:
            lines.append(f"it begins where {self.operation}")
        return lines

    def __str__(self) -> str:
        head = f"log density {self.log_density:g}"
        if self.is_finite and self.cause == "finite":
            return f"{head}; everything is finite here, derivatives included."
        lines = [f"{head}:", *(f"  {line}" for line in (*self.found(), *self.remarks))]
        return "\n".join([*lines, *([f"  What to do: {self.remedy}"] if self.remedy else [])])


def shorten(value: Any) -> str:
    """Write a number or array in few characters."""
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{array.item():.6g}" if array.dtype.kind == "f" else str(array.item())
    with np.printoptions(precision=4, threshold=6, edgeitems=2, linewidth=10**6):
        text = " ".join(str(array).split())
    return text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 3]}..."


def at(index: tuple[int, ...]) -> str:
    """Write an index in words; nothing for a single number."""
    if not index:
        return ""
    return f" at index {index[0] if len(index) == 1 else index}"


def _site(name: str) -> str:
    return f"the term of {name!r}"


def _abbreviated(line: str) -> str:
    return line if len(line) <= _MAX_LINE else line[: _MAX_LINE - 3] + "..."


def _first(things: tuple[Any, ...], word: str) -> list[str]:
    lines = [str(each) for each in things[:_MAX_SITES]]
    return lines + ([f"and {len(things) - _MAX_SITES} more {word}"] if len(things) > _MAX_SITES else [])
