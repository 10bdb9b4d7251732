"""Make a log density of a Stan program."""

import itertools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.errors import ModelError, OptionError
from ...core.notice import Notice
from ...core.options import checks_options
from ...density import LogDensity
from ...density.function import FunctionProgram
from ...density.shown import Shown
from .data import read
from .function import Program
from .library import Described
from .toolchain import WORD, Toolchain
from .translate import Translation


@checks_options
def target(
    program: str | os.PathLike[str],
    data: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    dims: Mapping[str, str | Sequence[str | None]] | None = None,
    coords: Mapping[str, Any] | None = None,
) -> LogDensity:
    """Make a log density of a Stan program, which Stan's own compiled code evaluates.

    Draws show parameters, transformed parameters and generated quantities under their names and in their shapes, and
    the data beside them. The log density has all constants, also of `~` statements. It is float64, and on the CPU.

    A program is compiled once, which takes half a minute and 2 GB of memory, and kept in the user's cache; other data
    compile nothing of Stan's. Threads evaluate it at the same time. Random numbers of generated quantities are a
    function of the position, those of transformed data of the program and its data.

    Positions that Stan refuses (`reject`, arguments out of range) have a log density of -inf, and explanations of
    failures have its message. Other errors, such as an index out of range, end the run, as in Stan.

    **Arguments**
    - `program`: the path of a file, or the text of a program. Files that it includes are looked for beside it.
    - `data`: a mapping from names to numbers and arrays, or the path of a JSON file; None where none are declared. For
      other data make another density. They stay in memory for the life of the process.
    - `dims`, `coords`: names of axes by variable, and labels by dim, as of `LogDensity.from_function`.

    **Raises** `ImportError` where httpstan or g++ is not installed; `ModelError` with stanc's message and its line, for
    a program without parameters, and for tuples and complex numbers among what it computes; `DataError` for data that
    do not fit; `OptionError` for files that cannot be read.

    **Example**

    >>> from accord.interop import stan
    >>> program = "data { real y; } parameters { real mu; } model { mu ~ normal(0, 1); y ~ normal(mu, 1); }"
    >>> density = stan.target(program, {"y": 3.0})
    >>> infer.find_mode(density).values["mu"].round(2)
    np.float64(1.5)
    """
    translation = Translation.of(program, Toolchain.find())
    _check_kinds(translation)
    held = Program.of(translation, read(data, translation.inputs))
    _check_model(translation, held.described)
    example = held.split(np.zeros(sum(held.described.unconstrained.values())))
    shown = Shown(
        WORD,
        held.constrain,
        held.unconstrain,
        dims or {},
        coords or {},
        constant=held.data,
        log_jacobian=held.log_jacobian,
        said=held.said,
    )
    density = LogDensity.of_function(held, example, "float64", shown)
    return LogDensity(density.data, density.program, _told(translation))


@checks_options
def messages(density: LogDensity) -> dict[str, int]:
    """Return what a Stan program has said in this process: what it printed, and why it refused positions.

    **Arguments**: `density`, from `target`.

    **Returns** how often each message came, by its text; up to 200 different ones are kept. What a program says in
    other processes is not known here.

    **Raises** `OptionError` for a density that is no Stan program.

    **Example**

    >>> from accord.interop import stan
    >>> program = 'parameters { real x; } model { if (x > 1) reject("x is above 1"); x ~ normal(0, 1); }'
    >>> density = stan.target(program)
    >>> with jax.enable_x64(True):
    ...     float(density(np.array([2.0])))
    -inf
    >>> stan.messages(density)
    {"x is above 1 (in 'program.stan', line 1, column 42 to column 65)": 1}
    """
    program = getattr(density, "program", None)
    held = program.function if isinstance(program, FunctionProgram) else None
    if not isinstance(held, Program):
        raise OptionError("interop.stan.messages takes a density from interop.stan.target.")
    return held.messages()


def _told(translation: Translation) -> tuple[Notice, ...]:
    """Pass on the warnings of stanc."""
    if not translation.warnings:
        return ()
    message = f"Of the Stan program {translation.name!r} stanc says: {translation.warnings}"
    return (Notice("warning", "stanc", message, "Change the program where that is not meant."),)


def _check_kinds(translation: Translation) -> None:
    """Raise `ModelError` for a program without parameters, or with values of other forms than arrays of numbers."""
    for name, kind in {**translation.parameters, **translation.others}.items():
        if kind.type not in ("int", "real"):
            raise ModelError(
                f"{WORD}: {name!r} of the program {translation.name!r} is {kind.type}. Only real and whole numbers and "
                "arrays of them can be shown: put it into a local block, and its parts into variables of their own."
            )
    if not translation.parameters:
        raise ModelError(
            f"{WORD}: the program {translation.name!r} has no parameters, so that there is nothing to sample."
        )


def _check_model(translation: Translation, described: Described) -> None:
    """Raise `ModelError` for parameters that are all empty, and for numbers in another order than columns first."""
    if not sum(described.unconstrained.values()):
        raise ModelError(
            f"{WORD}: all parameters of the program {translation.name!r} are empty with these data, so that there is "
            "nothing to sample."
        )
    named: list[str] = []
    for name, shape in {**described.parameters, **described.others}.items():
        places = itertools.product(*(range(1, size + 1) for size in reversed(shape)))
        named += [".".join([name, *map(str, reversed(place))]) for place in places]
    if tuple(named) != described.names:
        raise ModelError(
            f"{WORD}: this release of Stan writes the numbers of {translation.name!r} in an order that accord does "
            "not know. Please report this program, and the version of httpstan."
        )
