"""Check a model before it is run: trace it as a run would, then hold what is evaluated against what must be true."""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from ..core import precision as precisions
from ..core.errors import AccordError
from ..core.notice import Notice
from ..core.options import checks_options
from ..core.precision import Precision, float_dtype
from ..density import LogDensity, cut_arguments, cut_otherwise, sharded
from ..density.blocks import mesh_of
from ..executors import AbstractExecutor
from ..executors.pools import one_blas_thread
from ..kernels import NUTS
from ..language import Model
from ..storage import Memory
from .checks.alike import check_alike
from .checks.base import Check, Context
from .checks.cost import check_cost
from .checks.evaluator import Evaluator
from .checks.gradient import check_gradient
from .checks.report import CheckReport
from .checks.whole import check_whole
from .requests import check_kinds, default_executor, density_of

_CHECKS: tuple[Check, ...] = (check_alike, check_gradient, check_whole, check_cost)
_NUM_POINTS = 3
_MAX_TRIES = 100


@checks_options
def check(
    target: Model | LogDensity,
    *,
    executor: AbstractExecutor | None = None,
    precision: Precision = "float64",
) -> CheckReport:
    """Say what is wrong with a model as it would be run, and what was found right; nothing is drawn.

    - What tracing refuses (a site that is defined twice, data that does not fit, rows that cannot be cut) is a finding.
    - The gradient is compared with differences of the log density.
    - With `Devices(shard=...)`, log density, gradient and a product of the Hessian, summed over blocks of rows on the
      executor's devices, are compared with the whole model's; what differs is named by site and argument. The time of
      an evaluation says whether it pays. Where a plate has a `chunk`, they are compared with other chunks, since all
      rows at once may be too many.
    - A model that spreads its own computation over devices must have the same result on each.

    **Arguments**
    - `target`, `executor`, `precision`: as for `infer.sample`.

    **Raises** `OptionError` for arguments of the wrong kind. What the model's own code raises passes through, but for
    what JAX says of a `shard_map` in it.
    """
    check_kinds(target, NUTS(), executor, Memory())
    precisions.check(precision)
    name = target.name if isinstance(target, Model) else target.program.name
    findings: list[Notice] = []
    try:
        density = density_of(target, precision)
        findings += density.notices
        with one_blas_thread():
            context = _context(density, precision, executor or default_executor())
            if isinstance(context, Notice):
                findings.append(context)
            else:
                findings += [finding for check in _CHECKS for finding in check(context)]
    except AccordError as error:
        findings.append(_refusal(error))
    except (ValueError, TypeError) as error:
        if "shard_map" not in str(error):
            raise
        findings.append(_forbidden(error))
    return CheckReport(name, tuple(findings))


def _context(density: LogDensity, precision: Precision, executor: AbstractExecutor) -> Context | Notice:
    """What the checks look at, or why there is nothing to look at."""
    shard = cut_arguments(density, executor.sharding)
    here = jax.local_devices()[:1]
    devices: Sequence[Any] = executor.device_groups()[0] or here
    reference, summed, num_rows = density, None, 0
    if shard:
        reference = cut_otherwise(density, mesh_of(here), dict(shard))
        summed = Evaluator.of(sharded(density, mesh_of(devices), dict(shard)), precision, devices)
        name, axis = shard[0]
        num_rows = np.shape(density.data[name])[axis]
    whole = Evaluator.of(reference, precision, here)
    points = list(itertools.islice(_finite_points(whole, precision), _NUM_POINTS))
    if not points:
        return _nowhere_finite(whole, _point(_MAX_TRIES - 1, density.dim, precision))
    direction = np.random.default_rng(20).normal(size=density.dim).astype(float_dtype(precision))
    return Context(whole, summed, shard, num_rows, np.stack(points), direction)


def _finite_points(whole: Evaluator, precision: Precision) -> Iterator[np.ndarray]:
    """Those among fixed points at which log density and gradient are finite."""
    for attempt in range(_MAX_TRIES):
        point = _point(attempt, whole.density.dim, precision)
        if all(np.all(np.isfinite(part)) for part in whole.value_and_grad(point)):
            yield point


def _point(attempt: int, dim: int, precision: Precision) -> np.ndarray:
    """Where chains may begin."""
    return np.random.default_rng((20, attempt)).uniform(-2, 2, dim).astype(float_dtype(precision))


def _nowhere_finite(whole: Evaluator, point: np.ndarray) -> Notice:
    """That there is no point at which the model can be looked at; names the sites to blame at the last one tried."""
    terms = {name: float(term) for name, term in whole.terms(point).items()}
    bad = {name: term for name, term in terms.items() if not np.isfinite(term)}
    named = "; ".join(f"site {name!r} has log density {term:g}" for name, term in bad.items())
    return Notice(
        "error",
        "nowhere-finite",
        f"At none of {_MAX_TRIES} starting points are the log density and its gradient finite. At the last one, "
        f"{named or 'the log density is finite and its gradient is not'}.",
        "Check the data against the supports, and look for 0/0, sqrt(0) and logarithms of what may be negative.",
        tuple(bad),
    )


def _refusal(error: AccordError) -> Notice:
    """What a run would refuse to begin with, by the kind of error."""
    words = re.findall("[A-Z][a-z]+", type(error).__name__)
    code = "-".join(word.lower() for word in words)
    message = str(error)
    sites = tuple(dict.fromkeys(re.findall(r"\bsite '([^']+)'", message)))
    return Notice("error", code, message[:1].upper() + message[1:], "", sites)


def _forbidden(error: Exception) -> Notice:
    """What JAX refuses of a `shard_map`; it may advise to switch off the very check that saw it."""
    return Notice(
        "error",
        "parts-not-added-up",
        f"JAX refuses a shard_map in the model: {' '.join(str(error).split())}",
        "Do not switch the check off by check_vma=False. Add the parts up by `jax.lax.psum`, or write the sum by "
        "`accord.density.sharded_sum`.",
    )
