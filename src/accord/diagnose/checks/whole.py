"""Check that a likelihood summed over shards equals the whole model's: value, gradient and Hessian product."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core import precision as precisions
from ...core.errors import ModelError
from ...core.notice import Notice
from ...core.tree import shapes
from ...density.dependence.provenance import arguments_seen
from ...density.rows.conditions import listed
from ...density.unknowns import pieces_of
from ...runs.complete import check_replicas
from ...runs.fingerprint import TOLERANCE
from .base import Context
from .evaluator import Evaluator


def check_whole(context: Context) -> Iterator[Notice]:
    """Compare both at every point, and name the sites and arguments where they differ."""
    if context.summed is None:
        return
    whole, summed = context.whole, context.summed
    found = [_differences(whole, summed, point, context.direction) for point in context.points]
    worst = {name: max(each[name] for each in found) for name in found[0]}
    tolerance = TOLERANCE[whole.density.program.precision]
    wrong = [name for name, difference in worst.items() if not difference <= tolerance]
    cut = [name for name, _ in context.shard]
    what = "that of other chunks" if context.is_chunked else "the whole model's"
    rows = f"{context.num_rows} rows of {listed(cut)}"
    if not wrong:
        count = len(summed.devices)
        yield Notice(
            "info",
            "parallel_complete",
            f"The parallel likelihood is complete: summed over the {rows}, on {count} device{'s'[: count > 1]}, it is "
            f"{what} at {len(context.points)} points: "
            + ", ".join(f"{name} to {difference:.1g}" for name, difference in worst.items())
            + ".",
            "",
        )
        return
    sites = _sites_that_differ(whole, summed, context.points, tolerance)
    arguments = _arguments_of_sites(whole, context.points[0])
    seen = {argument for site in sites for argument in arguments[site] if argument in cut}
    where = f" in site {listed(sites)}, which depends on {listed(seen)}" if sites else ""
    yield Notice(
        "error",
        "parallel_incomplete",
        f"The sum over the {rows} is not {what}{where}: the {wrong[0]} differs by {worst[wrong[0]]:.2g} of "
        "its size.",
        "Something in the model couples rows, such as `x - x.mean()`, or takes rows by a number that is not cut: each "
        "device sees some rows only. Compute it outside of the model and pass the result.",
        tuple(sites),
    )


def _differences(
    whole: Evaluator, summed: Evaluator, point: np.ndarray, direction: np.ndarray
) -> dict[str, float]:
    """Return, by name, the largest difference between the two, relative to the largest number."""
    (value, gradient), (other_value, other_gradient) = (
        whole.value_and_grad(point),
        summed.value_and_grad(point),
    )
    found = {"log density": _error(value, other_value), "gradient": _error(gradient, other_gradient)}
    try:
        pair = whole.product(point, direction), summed.product(point, direction)
    except TypeError as error:  # JAX's, of a rule of the model's own for first derivatives only
        if "custom_vjp" not in str(error):
            raise
        return found
    return {**found, "Hessian product": _error(*pair)}


def _error(whole: Any, summed: Any) -> float:
    whole, summed = np.asarray(whole), np.asarray(summed)
    if not np.array_equal(np.isfinite(whole), np.isfinite(summed)):
        return float("inf")
    scale = max(1.0, float(np.max(np.abs(np.nan_to_num(whole)), initial=0)))
    return float(np.max(np.abs(np.nan_to_num(summed) - np.nan_to_num(whole)), initial=0)) / scale


def _sites_that_differ(
    whole: Evaluator, summed: Evaluator, points: np.ndarray, tolerance: float
) -> list[str]:
    found: set[str] = set()
    for point in points:
        terms, others = whole.terms(point), summed.terms(point)
        found |= {name for name, term in terms.items() if not _error(term, others[name]) <= tolerance}
    return sorted(found)


def _arguments_of_sites(whole: Evaluator, point: np.ndarray) -> dict[str, list[str]]:
    """Return, by site, the arguments that its term depends on."""
    density = whole.density
    entries = density.layout.entries

    def terms(pieces: Any, data: Any) -> Any:
        position = jnp.concatenate([jnp.ravel(pieces[entry.name]) for entry in entries])
        return density.program.terms(position, data)

    with precisions.scope(density.program.precision):
        pieces = jax.eval_shape(lambda position: pieces_of(position, entries), point)
        return arguments_seen(terms, pieces, shapes(density.data))


def check_alike(context: Context) -> Iterator[Notice]:
    """Compare value and gradient, device by device; the model's own `shard_map` may have forgotten to add up."""
    num_devices = 1
    for point in context.points:
        for word, result in zip(
            ("log density", "gradient"), context.whole.value_and_grad(point), strict=True
        ):
            num_devices = max(num_devices, len(result.sharding.device_set))
            try:
                check_replicas(result)
            except ModelError:
                shards = ", ".join(str(shard.data) for shard in result.addressable_shards[:2])
                yield Notice(
                    "error",
                    "parts_not_added_up",
                    f"The {word} has different values on different devices ({shards}, ...): a shard_map in the model "
                    "uses a part of the data on each and does not sum the parts, or is differentiated inside under "
                    "check_vma=False.",
                    "Write the sum by `accord.density.sharded_sum`, which adds the parts, or take `jax.lax.psum` of "
                    "the value and the gradient outside of the shard_map.",
                )
                return
    if num_devices > 1:
        yield Notice(
            "info",
            "parallel_alike",
            f"The model spreads its own computation over {num_devices} devices, and log density and gradient are the "
            f"same on each of them at {len(context.points)} points.",
            "",
        )
