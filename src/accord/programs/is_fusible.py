"""Recognise plain arithmetic on small arrays, which XLA can compile to one piece of code.

Not part of such a piece: library calls (LAPACK, sorting, Fourier transforms, matrix products, sums of large arrays),
calls of Python, and scatters to several places. Large arrays are left to XLA, which uses all cores for them.
"""

import math
from typing import Any

MAX_SIZE = 2**12 - 1
"""Elements of an array: sums of more are left to a library (YNNPACK, in JAX 0.10)."""

_NAMES = """
    abs acos acosh add add_any and argmax argmin asin asinh atan atan2 atanh bessel_i0e bessel_i1e
    broadcast_in_dim cbrt ceil clamp concatenate cond convert_element_type copy cos cosh
    cumlogsumexp cummax cummin cumprod cumsum custom_jvp_call custom_vjp_call digamma div dot_general
    dynamic_slice dynamic_update_slice eq erf erf_inv erfc exp exp2 expand_dims expm1 floor gather ge gt
    igamma igammac integer_pow iota is_finite jit le lgamma log log1p logistic lt max min mul ne neg
    nextafter not or pad pjit polygamma population_count pow random_bits random_fold_in random_split
    random_unwrap random_wrap reduce_and reduce_max reduce_min reduce_or
    reduce_prod reduce_sum regularized_incomplete_beta rem reshape rev round rsqrt scan select_n
    shift_left shift_right_arithmetic shift_right_logical sign sin sinh slice split sqrt square squeeze
    stop_gradient sub tan tanh threefry2x32 tile transpose while xor zeta
"""
_OF_LOOPS = (
    "nonbatchable select_if_vmap stack unvmap_all unvmap_any unvmap_max"  # of Equinox, and so of diffrax
)
_UPDATES = {"maybe_set": 3, "scatter": 1}  # operand from which on they are given places
_PLAIN = frozenset([*_NAMES.split(), *_OF_LOOPS.split(), *_UPDATES])


def is_plain(jaxpr: Any) -> bool:
    """Return whether a traced function, with all functions it calls, is plain arithmetic."""
    return all(
        equation.primitive.name in _PLAIN
        and all(math.prod(v.aval.shape) <= MAX_SIZE for v in (*equation.invars, *equation.outvars))
        and not _is_product_of_matrices(equation)
        and not _is_update_of_several(equation)
        and all(is_plain(inner) for inner in _inside(list(equation.params.values())))
        for equation in jaxpr.eqns
    )


def _is_product_of_matrices(equation: Any) -> bool:
    if equation.primitive.name != "dot_general":
        return False
    (left, right), (batch, _) = equation.params["dimension_numbers"]
    free = (
        equation.invars[side].aval.ndim - len(along) - len(batch) for side, along in enumerate((left, right))
    )
    return all(free)


def _is_update_of_several(equation: Any) -> bool:
    name = equation.primitive.name
    if name == "maybe_set":
        return any(place.aval.shape for place in equation.invars[_UPDATES[name] :])
    return name == "scatter" and math.prod(equation.invars[_UPDATES[name]].aval.shape[:-1]) > 1


def _inside(parameters: Any) -> list[Any]:
    found: list[Any] = []
    for each in parameters if isinstance(parameters, (list, tuple)) else [parameters]:
        if isinstance(each, (list, tuple)):
            found += _inside(each)
        elif hasattr(each, "eqns"):
            found.append(each)
        elif hasattr(each, "jaxpr"):
            found.append(each.jaxpr)
    return found
