"""Say what to write instead where Python needs the number behind a value that JAX only traces."""

import jax
import numpy as np

# What JAX raises there. Of shapes it says so by a `TypeError` like any other.
_ERRORS = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)


def needs_value(error: BaseException) -> bool:
    """Return whether JAX says that a number is missing, by this error or by what NumPy made of it."""
    return isinstance(error, _ERRORS) or _is_of_a_shape(error) or _is_of_numpy(error)


def way_out(error: BaseException) -> str:
    """Say what to write instead of a line at which JAX raised this; empty for other errors."""
    match error:
        case jax.errors.TracerBoolConversionError():
            return (
                "A value that is traced cannot decide what Python does: use `jnp.where`, `jax.lax.cond` or, for "
                "branches with sites, `ac.cond` in place of `if`, as in `jnp.where(x > 0, a, b)`, `&` and `|` in place "
                "of `and` and `or`, and leave `while` and `assert` to what is known."
            )
        case jax.errors.NonConcreteBooleanIndexError():
            return (
                "What a condition selects has no shape that is known beforehand: keep every entry, and write "
                "`jnp.where(condition, x, 0)`, or `with handlers.mask(mask=condition):` around a site."
            )
        case _ if isinstance(error, jax.errors.TracerArrayConversionError) or _is_of_numpy(error):
            return (
                "NumPy and SciPy compute with numbers alone: write `jnp` for `np` and `jax.scipy` for `scipy`, and "
                "`x = x.at[i].set(value)` for `x[i] = value`."
            )
        case jax.errors.TracerIntegerConversionError():
            return (
                "A value that is traced cannot count or index in Python: write `jnp.asarray(values)[i]` where a list "
                "is indexed, and loop as often as a shape says."
            )
        case jax.errors.UnexpectedTracerError():
            return (
                "A value from an earlier run of the model, or from inside of a function that JAX transforms, was kept "
                "in a global, a closure, an attribute or a cache. Compute it where it is used, or pass it as an "
                "argument and a result."
            )
        case jax.errors.ConcretizationTypeError():
            return (
                "`float`, `int`, `range`, `jnp.arange` and the functions of `math` need a number: leave the conversion "
                "out, write `jnp` for `math`, and take counts from shapes."
            )
        case _ if _is_of_a_shape(error):
            return (
                "A shape is fixed before any value is known: make arrays as large as they may become, and leave "
                "entries out by `jnp.where` or `handlers.mask`."
            )
        case TypeError() if "Tracer" in str(error) or "scalar index" in str(error):
            return (
                "A tracer stands for all values that there may be: `jnp` computes with it, but Python cannot format "
                "it, hash it or count by it. `jax.debug.print` prints what it is in the end."
            )
        case TypeError() if str(error).startswith("Indexer must have integer"):
            return (
                "An index is an integer, and floats are none; codes become floats where some are missing. Leave those "
                "rows out and write `g.astype(int)`, or make codes of the column: `ac.levels(column)`."
            )
        case AttributeError(name="codes" | "levels" | "num_levels") if isinstance(
            error.obj, (list, tuple, np.ndarray, jax.Array)
        ):
            return (
                "The model takes levels here, and was given numbers or a list. Make levels of the column, "
                "`ac.levels(column)`; beside a data frame, `model.bind(df, {'g': ac.levels(df['g'])})`."
            )
        case jax.dtypes.TypePromotionError():
            return "Give both sides one dtype, by `.astype`; `infer.sample` itself promotes dtypes as NumPy does."
        case ValueError() if "shard_map" in str(error):
            return (
                "Add the parts up by `jax.lax.psum`, or write the sum by `accord.density.sharded_sum`, which cannot "
                "forget it; do not switch the check off by check_vma=False, which would let a wrong sum pass."
            )
        case _:
            return ""


def _is_of_a_shape(error: BaseException) -> bool:
    return isinstance(error, TypeError) and "concrete values of integer" in str(error)


def _is_of_numpy(error: BaseException) -> bool:
    """Return whether NumPy was to store a tracer, which it reports by a `ValueError` of its own."""
    return isinstance(error, ValueError) and isinstance(error.__cause__, _ERRORS)
