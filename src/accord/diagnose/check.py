"""Check a model before it is run: trace it as a run would, evaluate it, and test what every model must satisfy."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from ..core import precision as precisions
from ..core.errors import AccordError
from ..core.forks import check_threads
from ..core.notice import Notice, by_severity
from ..core.options import checks_options
from ..core.precision import Precision, float_dtype
from ..density import LogDensity, cut_arguments, cut_otherwise, sharded
from ..density.rows.blocks import mesh_of
from ..executors import AbstractExecutor
from ..executors.pools import one_blas_thread
from ..language import Model
from ..runs.requests import check_kinds, default_executor, density_of
from .checks.base import Check, Context
from .checks.duration import check_cost, check_duration
from .checks.evaluator import Evaluator
from .checks.flat import check_flat
from .checks.gradient import check_gradient
from .checks.hidden import check_hidden
from .checks.non_finite import check_non_finite, nowhere_finite
from .checks.refusal import forbidden, refusals
from .checks.repeatable import check_repeatable, check_same_again
from .checks.report import CheckReport
from .checks.rounding import check_rounding
from .checks.structure import check_structure
from .checks.survey import Survey, survey_near, survey_prior, survey_wide
from .checks.typical import Typical
from .checks.whole import check_alike, check_whole

# The checks that need only a trace, and those that evaluate.
_OF_TRACES: tuple[Callable[[LogDensity], Iterable[Notice]], ...] = (
    check_structure,
    check_hidden,
    check_repeatable,
)
_OF_VALUES: tuple[Check, ...] = (
    check_same_again,
    check_alike,
    check_gradient,
    check_non_finite,
    check_flat,
    check_rounding,
    check_whole,
    check_cost,
    check_duration,
)
_NUM_POINTS = 3


@checks_options
def check(
    target: Model | LogDensity,
    *,
    executor: AbstractExecutor | None = None,
    precision: Precision = "float64",
) -> CheckReport:
    """Check a model without sampling: report what is wrong with it and what was found right.

    - Structure: it traces the model. An error of tracing (a site defined twice, data that does not fit, rows that
      cannot be split) becomes a finding.
    - Data: it names data that nothing depends on, and sites that depend on no data.
    - Repeatability: it names a model that differs from one trace to the next, or that changes Python state around it.
    - Finite values: it evaluates log density and gradient at some hundred points (where chains start, farther out, and
      drawn from the prior). It reports how often they are not finite, with the site and line to blame.
    - Gradient: it compares the gradient with differences of the log density.
    - Properness: it follows the log density far out along each site. Where it does not fall, the posterior is improper.
    - Precision: it compares the log density in float32 and float64 where the posterior has its mass.
    - Duration: it times a gradient, and estimates how long a run takes.
    - Parallel likelihood: with `Devices(shard=...)` it sums log density, gradient and a product of the Hessian over
      shards on the executor's devices, compares them with the whole model, and names the site and argument that
      differ. It also reports whether the devices save time. A plate with a `chunk` is compared with other chunk sizes.
    - Your own parallel code: a model that spreads its computation over devices must have the same result on each.

    **Arguments**
    - `target`, `executor`, `precision`: as for `infer.sample`.

    **Raises** `OptionError` for arguments of the wrong kind. An exception of the model's own code passes through; JAX's
    errors about a `shard_map` become a finding.

    **Example**

    >>> report = infer.check(coin(4, heads))
    >>> report.ok, [finding.code for finding in report.errors]
    (True, [])
    """
    check_threads()  # here, since errors of the model become findings
    check_kinds(target, executor, None)
    precisions.check(precision)
    name = target.name if isinstance(target, Model) else target.program.name
    findings: list[Notice] = []
    try:
        density = density_of(target, precision)
        findings += density.notices
        for look in _OF_TRACES:
            findings += look(density)
        # A model that differs at each trace has no values to compare.
        if not any(finding.severity == "error" for finding in findings):
            with one_blas_thread():
                findings += _evaluated(target, density, precision, executor or default_executor())
    except AccordError as error:
        findings += refusals(error, target, precision)
    except (ValueError, TypeError) as error:
        if "shard_map" not in str(error):
            raise
        findings.append(forbidden(error))
    return CheckReport(name, tuple(by_severity(findings)))


def _evaluated(
    target: Model | LogDensity, density: LogDensity, precision: Precision, executor: AbstractExecutor
) -> Iterator[Notice]:
    """Return the findings that need evaluations; if no point is finite, explain why."""
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
    near, wide, prior = survey_near(whole), survey_wide(whole), survey_prior(whole, density)
    surveys = (near, wide, *([prior] if isinstance(prior, Survey) else []))
    if not near.is_good.any():
        yield nowhere_finite(density, surveys)
        return
    context = Context(
        density,
        target if isinstance(target, Model) else None,
        whole,
        summed,
        shard,
        num_rows,
        surveys,
        near.positions[near.is_good][:_NUM_POINTS],
        Typical.of(whole, _highest(surveys)),
        np.random.default_rng(20).normal(size=density.dim).astype(float_dtype(precision)),
    )
    for look in _OF_VALUES:
        yield from look(context)
    if isinstance(prior, Notice):
        yield prior


def _highest(surveys: Sequence[Survey]) -> np.ndarray:
    """Return the finite point with the highest log density."""
    values = np.concatenate([np.where(survey.is_good, survey.values, -np.inf) for survey in surveys])
    return np.concatenate([survey.positions for survey in surveys])[int(np.argmax(values))]
