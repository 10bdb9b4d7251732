"""Describe a model as a small frozen tree, which Python code is written from and an oracle in NumPy reads.

A variable is named by a string, the name of the statement that gave it its value. Arrays are nested tuples, so that a
description prints, compares and hashes.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Numbers:
    """A constant: a number, or an array as nested tuples."""

    value: Any


@dataclass(frozen=True)
class Of:
    """The value of a variable."""

    name: str


@dataclass(frozen=True)
class Element:
    """One element of the vectors that a variable holds: `x[..., index]`."""

    name: str
    index: int


@dataclass(frozen=True)
class Taken:
    """Entries of a variable with one axis, by constant codes: `x[codes]`."""

    name: str
    codes: tuple[int, ...]


@dataclass(frozen=True)
class Linear:
    """`shift + slope * of`."""

    shift: float
    slope: float
    of: "Expression"


@dataclass(frozen=True)
class Bounded:
    """`shift + slope * tanh(of)`."""

    shift: float
    slope: float
    of: "Expression"


@dataclass(frozen=True)
class Positive:
    """`size * exp(rate * tanh(of))`."""

    size: float
    rate: float
    of: "Expression"


@dataclass(frozen=True)
class Product:
    """`left * right`."""

    left: "Expression"
    right: "Expression"


Expression = Numbers | Of | Element | Taken | Linear | Bounded | Positive | Product


@dataclass(frozen=True)
class Family:
    """A distribution: the name of its class, and its parameters by name."""

    name: str
    parameters: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Sample:
    """A site: observed where it has data, in part where `obs_mask` is given too; `data` may be a step's input."""

    name: str
    family: Family
    data: Numbers | Of | None = None
    obs_mask: Numbers | None = None


@dataclass(frozen=True)
class Deterministic:
    """A named value."""

    name: str
    value: Expression


@dataclass(frozen=True)
class Factor:
    """A term of the log density, of exactly the shape of the plates around it."""

    name: str
    value: Expression


@dataclass(frozen=True)
class Plate:
    """A block repeated along the dimension `dim`."""

    name: str
    size: int
    dim: int
    body: tuple["Statement", ...]


@dataclass(frozen=True)
class Mask:
    """A block of which entries are left out of the log density; `mask` may be a step's input."""

    mask: Numbers | Of
    body: tuple["Statement", ...]


@dataclass(frozen=True)
class Scale:
    """A block whose log density is multiplied."""

    scale: Expression
    body: tuple["Statement", ...]


@dataclass(frozen=True)
class Submodel:
    """A model of its own under a prefix, with variables as arguments; its value is that of `result`."""

    name: str
    arguments: tuple[str, ...]
    body: tuple["Statement", ...]
    result: str


@dataclass(frozen=True)
class Scan:
    """A loop: `carry` begins at `init` and becomes the value of `result`; `inputs` have an entry for each step.

    The variable `name` is the last carry. `centered` is that of sites of the step which are sampled non-centred.
    """

    name: str
    length: int
    is_reverse: bool
    init: Expression
    inputs: tuple[tuple[str, Numbers], ...]
    carry: str
    body: tuple["Statement", ...]
    result: str
    centered: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Cond:
    """A branch on `on > 0`; the variable `name` is the value of `result` on the side that is taken."""

    name: str
    on: str
    true: tuple["Statement", ...]
    false: tuple["Statement", ...]
    result: str


Statement = Sample | Deterministic | Factor | Plate | Mask | Scale | Submodel | Scan | Cond


@dataclass(frozen=True)
class Description:
    """A model, and what is put on it from outside.

    **Fields**
    - `seed`: the integer that it was made from.
    - `body`: its statements.
    - `centered`: by site that is sampled non-centred, its `centered`.
    - `transformed`: sites that are sampled through their bijector.
    - `collapsed`: sites that are integrated out.
    - `condition`, `do`: values given from outside, by site.
    """

    seed: int
    body: tuple[Statement, ...]
    centered: tuple[tuple[str, float], ...] = ()
    transformed: tuple[str, ...] = ()
    collapsed: tuple[str, ...] = ()
    condition: tuple[tuple[str, Numbers], ...] = ()
    do: tuple[tuple[str, Numbers], ...] = ()
