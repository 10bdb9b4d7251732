"""Choose a cause, and what to do about it, for what is not finite: a table of rules, of which the first counts."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from . import remedies
from .operation import CONSTANT, RULE
from .remedies import Case
from .result import OWN, Blame, Operation

FAR = -1e6
"""A log density of one site below this is as good as zero: no chain finds its way from there."""

_FAR_EACH = -1e3  # and for each of its numbers: many data add up

_OVERFLOWING = ("exp", "exp2", "expm1", "cosh", "sinh", "pow", "integer_pow", "square", "mul", "reduce_prod")
_SINGULAR = (
    "log",
    "sqrt",
    "rsqrt",
    "div",
    "pow",
    "integer_pow",
    "log1p",
    "cbrt",
    "atanh",
    "lgamma",
    "digamma",
)
_SOLVING = ("custom_linear_solve", "linear_solve", "triangular_solve", "lu")
_CALLING = ("pure_callback", "io_callback")


Rule = tuple[str, Callable[[Case], bool], Callable[[Case], str]]


def choose(found: Blame, sizes: Mapping[str, int]) -> Blame:
    """Add cause and remedy to a blame; `sizes` is how many numbers a site has."""
    if found.is_finite:
        far = [
            name for name, term in found.terms.items() if term < FAR and term < _FAR_EACH * sizes.get(name, 1)
        ]
        if not far:
            return found
        remarks = tuple(f"site {name!r} has log density {found.terms[name]:g}" for name in far[:3])
        return replace(found, cause="far_from_data", remedy=remedies.come_nearer(far[0]), remarks=remarks)
    blank = Operation("", "")
    term = found.bad_terms[0] if found.bad_terms else None
    case = Case(found, term, found.operation or blank)
    for cause, applies, remedy in _RULES:
        if applies(case):
            return replace(found, cause=cause, remedy=remedy(case))
    return replace(found, cause="not_finite", remedy=remedies.look_for_it(case))


def _is_bad_observation(case: Case) -> bool:
    return case.term is not None and case.is_observed and "not finite" in case.term.reason


def _is_outside(case: Case, kind: str) -> bool:
    return case.term is not None and case.term.kind == kind and case.term.is_outside


def _has_bad_parameter(case: Case) -> bool:
    """Return whether a number is out of range; were it NaN, the operation that made it so would say more."""
    return any(np.all(np.isfinite(each.value)) for each in case.found.bad_parameters)


def _is_without_probability(case: Case) -> bool:
    """Return whether the term is infinite, with values and parameters in range and no operation to blame."""
    return case.term is not None and math.isinf(case.term.log_density) and (case.is_own or not case.by)


def _is_left_out(case: Case) -> bool:
    """Return whether a `where` of the user's discards it: it meets a zero, or the log density is finite."""
    operation = case.operation
    is_written = bool(operation.line) or not case.is_own
    return is_written and (operation.is_discarded or (bool(operation.name) and not operation.is_derivative))


_RULES: tuple[Rule, ...] = (
    (
        "refused",
        lambda case: case.term is not None and case.term.kind == "function" and case.term.reason != "",
        remedies.look_at_the_statement,
    ),
    ("observation_not_finite", _is_bad_observation, remedies.mask),
    (
        "infinite_bound",
        lambda case: case.is_given and case.is_infinite and case.operation.name != "",
        remedies.leave_out_the_bound,
    ),
    ("constant", lambda case: case.by == CONSTANT, remedies.exclude_by_support),
    ("masked_nan", lambda case: case.by == "argument" and case.is_derivative, remedies.fill_in),
    ("argument_not_finite", lambda case: case.by == "argument", remedies.fill_in),
    ("observation_outside_support", lambda case: _is_outside(case, "observed"), remedies.check_the_data),
    ("not_positive_definite", lambda case: case.by == "cholesky", remedies.make_positive_definite),
    ("parameter_out_of_range", _has_bad_parameter, remedies.keep_in_range),
    (
        "value_outside_support",
        lambda case: _is_outside(case, "latent") and case.is_own,
        remedies.keep_off_the_edge,
    ),
    ("derivative_rule", lambda case: case.by == RULE, remedies.correct_the_rule),
    ("where", lambda case: case.is_derivative and _is_left_out(case), remedies.choose_first),
    ("extreme", lambda case: case.is_derivative and case.is_own, remedies.rescale),
    ("singular_matrix", lambda case: case.by in _SOLVING, remedies.add_to_the_diagonal),
    ("callback", lambda case: case.by in _CALLING, remedies.correct_the_callback),
    (
        "edge_of_support",
        lambda case: _is_without_probability(case) and case.term is not None and case.term.is_edge,
        remedies.move_off_the_edge,
    ),
    (
        "far_from_data",
        lambda case: _is_without_probability(case) and (case.operation.owner.startswith(OWN) or not case.by),
        lambda case: remedies.come_nearer(case.site),
    ),
    ("zero", lambda case: case.by in _SINGULAR and case.has_zero, remedies.keep_from_zero),
    (
        "undefined",
        lambda case: case.by in _SINGULAR and math.isnan(case.operation.output),
        remedies.keep_in_domain,
    ),
    ("overflow", lambda case: case.by in _OVERFLOWING and case.is_infinite, remedies.use_logarithms),
    ("value_outside_support", lambda case: _is_outside(case, "latent"), remedies.keep_off_the_edge),
)
