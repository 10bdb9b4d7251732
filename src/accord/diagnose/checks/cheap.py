"""Run the checks that every run can afford: some traces of the model, without compiling."""

from ...core.notice import Notice
from ...density import LogDensity
from .dependence import Dependence
from .hidden import check_hidden
from .repeatable import check_repeatable
from .structure import prior_only, unused_data


def cheap_checks(density: LogDensity) -> tuple[Notice, ...]:
    """Return the findings on a density, besides its own `notices`.

    Data that is not used or all hidden, sites of which no data says anything, and traces that differ.
    """
    found = [*check_hidden(density), *check_repeatable(density)]
    dependence = Dependence.of(density)
    if dependence is not None:
        found += [*unused_data(density, dependence), *prior_only(density, dependence)]
    return tuple(found)
