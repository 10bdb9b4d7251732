"""Build the program of a model without the sites that are to be collapsed, exactly or by an approximation."""

from collections.abc import Mapping
from typing import Any

from ...language.integrals import Integral
from ..program import ModelProgram
from ..rows.row_files import in_memory
from .approximate.approximated import ApproximatedProgram
from .approximate.kinks import check_kinks
from .at_once import at_once
from .collapsed import CollapsedProgram
from .integrated import AbstractIntegrated
from .normal.independence import independent_groups
from .normal.separation import check_supports
from .weight import weight_of


def without_collapsed(
    whole: ModelProgram, by: Integral | None, data: Mapping[str, Any]
) -> AbstractIntegrated:
    """Build the program of the other sites; `by`: the approximation, None for exactly.

    **Raises** `SiteError` where that is not exact, or not possible by the approximation, or is too much.
    """
    groups = at_once(independent_groups, whole, in_memory(data))
    check_supports(whole, groups, data)
    weight = weight_of(whole, groups, data)
    if by is not None:
        check_kinks(whole, groups, data)
        return ApproximatedProgram.of(whole, groups, by, weight, data)
    made = CollapsedProgram.of(whole, groups, weight)
    made.check_exact(data)
    return made
