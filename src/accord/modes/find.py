"""Find the mode of a posterior, or the maximum of a likelihood, with standard errors."""

import numpy as np

from ..core import keys
from ..core.errors import OptionError, suggest
from ..core.notice import by_severity
from ..core.options import checks_options, positive_count
from ..core.precision import Precision, float_dtype, scope
from ..core.tree import kept
from ..density import LogDensity
from ..executors.pools import one_blas_thread
from ..language import Model
from ..mcmc.start.candidates import candidates
from ..mcmc.start.choose import Init, start_of
from ..mcmc.start.explained import explain_start
from ..mcmc.start.search import StartFailedError
from ..optimise.information import Information, sharpened
from ..optimise.mode import Z_OF_95, Mode
from ..optimise.starts import climbs_from
from ..optimise.surface import OBJECTIVES, Climbs, heights
from ..optimise.view import View, viewing
from ..programs.standalone import check_traced
from ..report import tell
from ..report.labels import scalar_labels
from ..runs.requests import check_target, density_of
from .edges import at_edge
from .findings import findings
from .found import Found
from .uncertainty import Errors


@checks_options
def find_mode(
    target: Model | LogDensity,
    estimator: str = "map",
    *,
    starts: int = 8,
    seed: int = 0,
    init: Init = None,
    max_steps: int = 1000,
    precision: Precision = "float64",
    quiet: bool = False,
) -> Mode:
    """Find the mode of a posterior, or the maximum of a likelihood, with standard errors.

    Several L-BFGS climbs run in one program. In up to 1000 dimensions Newton's method refines the best one, and its
    second derivatives give standard errors. The search is in unconstrained space, so that every value stays in its
    support.

    **Arguments**
    - `target`: a model called with its data, or a `LogDensity`.
    - `estimator`: `"map"` finds the mode of the posterior density in the model's space, without Jacobians: the mode of
      textbooks. It changes if you write the model in the logarithm of an unknown. `"mle"` finds the maximum of the
      likelihood: observed sites and factors count; priors do not, but values stay in their supports.
    - `starts`: number of climbs, >= 1. Each starts where a chain of `infer.sample` would, given `seed` and `init`;
      equal starts count once.
    - `max_steps`: maximal steps of each climb, >= 1.
    - `precision`: as for `infer.sample`. In `"float32"` standard errors have three digits or so.
    - `quiet`: do not write notices to standard error; `mode.notices` has them.

    **Raises** `OptionError`, `ModelError`, `SiteError` or `DataError` before anything is computed, such as
    `ModelError` for `"mle"` without observations and `SiteError` for discrete unknowns; `InitializationError` if no
    start has a finite log density and gradient.

    **Example**

    >>> mode = infer.find_mode(coin(4, heads), "mle")
    >>> print(f"{mode.values['p']:.3f} +- {mode.standard_errors['p']:.3f}")
    0.750 +- 0.217
    """
    check_target(target)
    if not isinstance(estimator, str) or estimator not in OBJECTIVES:
        raise OptionError(
            f"estimator must be 'map' or 'mle', got {estimator!r}.{suggest(str(estimator), OBJECTIVES)}"
        )
    count, max_steps = positive_count("starts", starts), positive_count("max_steps", max_steps)
    keys.chain_key(seed, 0)  # refuses a bad seed before anything is traced
    start = start_of(init)
    density = density_of(target, precision)
    with scope(density.program.precision), one_blas_thread():
        check_traced(density)
        points = start.points(density, int(seed), range(count))
        rounds = candidates(points, int(seed), count, density.dim)
        climbs = climbs_from(density, OBJECTIVES[estimator], rounds, max_steps)
        if np.all(np.isnan(climbs.heights)):
            dtype = float_dtype(density.program.precision)
            first = points.position(int(seed), 0, 0, density.dim).astype(dtype)
            failure = StartFailedError(0, first, points.num_tries(0), points.origin, "start")
            raise explain_start(density, failure)
        mode = _described(_found(density, estimator, climbs, max_steps))
    if not quiet:
        tell(mode.notices)
    return mode


def _found(density: LogDensity, estimator: str, climbs: Climbs, max_steps: int) -> Found:
    """Refine and judge the end of the highest climb."""
    objective = OBJECTIVES[estimator]
    epsilon = float(np.finfo(float_dtype(density.program.precision)).eps)
    best = int(np.nanargmax(climbs.heights))
    view = sharpened(viewing(density, objective), climbs.positions[best], epsilon)
    information, is_edge = None, np.zeros(density.dim, bool)
    if view.is_known:
        information = Information.checked(view, epsilon, heights(density, objective))
        is_edge = at_edge(density, view, information)
    return Found(
        density,
        estimator,
        view,
        information,
        is_edge,
        climbs,
        bool(climbs.is_settled[best]),
        bool(climbs.num_steps[best] >= max_steps),
        epsilon,
    )


def _described(found: Found) -> Mode:
    """Build the `Mode` for the user."""
    view, layout = found.view, found.density.layout
    errors = Errors.unknown(view)
    if found.information is not None and found.is_converged:
        errors = Errors.of(view, found.information)
    return Mode(
        model=found.density.program.name,
        estimator=found.estimator,
        values={entry.name: kept(view.sites[entry.name]) for entry in layout.entries},
        deterministics={
            entry.name: kept(view.sites[entry.name]) for entry in layout.drawn if entry.kind != "latent"
        },
        log_density=view.value,
        labels=tuple(
            label
            for entry in layout.entries
            for label in scalar_labels(entry.name, entry.shape, entry.dims, layout.coords)
        ),
        columns=_columns(view, errors),
        notes=_notes(found, errors),
        covariance=errors.values,
        position=kept(view.position),
        position_covariance=errors.position,
        is_converged=found.is_converged,
        heights=kept(found.climbs.heights),
        num_reached=int(found.is_here.sum()),
        notices=tuple(by_severity([*found.density.notices, *findings(found)])),
        density=found.density,
    )


def _notes(found: Found, errors: Errors) -> tuple[str, ...]:
    if not found.is_converged:
        return ("not converged",) * len(errors.is_level)
    if not errors.is_level.any():
        return ("",) * len(errors.is_level)
    is_at_edge = np.any(found.view.slopes[:, found.is_edge] != 0, axis=1)
    return tuple(
        "" if not level else "edge of support" if edge else "singular information"
        for level, edge in zip(errors.is_level, is_at_edge, strict=True)
    )


def _columns(view: View, errors: Errors) -> dict[str, np.ndarray]:
    estimate = view.latents.astype(float)
    variance = np.full(estimate.size, np.nan) if errors.values is None else np.diag(errors.values)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(variance)
        z = np.where(error > 0, estimate / error, np.nan)
    return {
        "estimate": kept(estimate),
        "standard_error": kept(error),
        "z": kept(z),
        "lower": kept(estimate - Z_OF_95 * error),
        "upper": kept(estimate + Z_OF_95 * error),
    }
