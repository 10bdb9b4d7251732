"""Say of each place where a trajectory ended badly which site, which derivative and which line are to blame."""

import time
from dataclasses import dataclass

import numpy as np

from ..core import precision as precisions
from ..core.errors import OptionError
from ..core.options import checks_options
from ..core.pace import USUAL
from ..core.tracebacks import entry_points
from ..density import LogDensity, blame
from ..density.blame import Blame
from ..executors import ThreadPool
from ..language import Model
from ..report.evidence import Blamed
from ..report.labels import as_labels
from .describe import labelled_in
from .draws import Draws
from .requests import density_of
from .tally import KINDS, BadEnd

_NUM_SHOWN = 3  # values in a sentence


@entry_points
@dataclass(frozen=True)
class Explanation:
    """What `infer.explain` found; printed, a paragraph for each place.

    **Fields**
    - `failures`: the places, those of `draws.failures`; `reports`: what is to blame for each, as `density.blame` says.

    **Example**

    >>> print(infer.explain(draws))
    No draw ended in a divergence or in a number that is not finite.
    """

    failures: tuple[BadEnd, ...]
    reports: tuple[Blame, ...]

    def __str__(self) -> str:
        if not self.failures:
            return "No draw ended in a divergence or in a number that is not finite."
        pairs = zip(self.failures, self.reports, strict=True)
        return "\n\n".join(f"{failure}\n{report}" for failure, report in pairs)

    __repr__ = __str__


@checks_options
def explain(draws: Draws, target: Model | LogDensity | None = None) -> Explanation:
    """Go back to the places where trajectories of a run ended badly, and say what is to blame at each.

    **Arguments**
    - `draws`: of `infer.sample`, `infer.resume` or `infer.load`.
    - `target`: the model with its data, for draws that were loaded; None is the one that they were drawn from.

    **Raises** `OptionError` where the model is not attached and not given, or has another dimension or other labels.

    **Example**

    >>> @ac.model
    ... def halves():
    ...     x = ac.sample("x", dist.Normal(0, 1))
    ...     ac.factor("half", jnp.log(x))
    >>> broken = infer.sample(halves(), draws=50, warmup=50, chains=1, quiet=True)
    >>> str(infer.explain(broken)).splitlines()[2]
    "  factor site 'half' has log density nan: nan"
    """
    density = draws.density if target is None else density_of(target, draws.manifest["precision"])
    if density is None:
        raise OptionError(
            "explain: these draws were loaded without their model. Give it: infer.explain(draws, model(...))."
        )
    if density.dim != draws.manifest["layout"]["dim"]:
        raise OptionError(
            f"explain: the model has {density.dim} unknowns, and these draws {draws.manifest['layout']['dim']}: it is "
            "not the one that they were drawn from."
        )
    recorded, given = draws.manifest["layout"], dict(density.layout.labels)
    for dim in labelled_in(recorded):
        if dim in given and given[dim] != as_labels(recorded["coords"][dim]):
            raise OptionError(
                f"explain: the labels of {dim!r} are others here, or in another order, than when the draws were made. "
                "Give the model with the data that it was sampled with."
            )
    return Explanation(draws.failures, tuple(_blame(density, failure) for failure in draws.failures))


def blamed(density: LogDensity, draws: Draws, seconds: float) -> dict[str, Blamed]:
    """By kind of bad end that came after warm-up, the sites to blame for the first place of it, and a sentence.

    What takes longer than `seconds` is left out.
    """
    found: dict[str, Blamed] = {}
    until = time.monotonic() + seconds
    for kind in KINDS:
        # Where a trajectory diverged at a finite log density, nothing is wrong with the place.
        places = [each for each in draws.failures if each.kind == kind and not _is_mere_divergence(each)]
        if places and draws.counts[kind]["sample"].any():
            found[kind] = _looked_at(density, min(places, key=lambda each: each.phase != "sample"), until)
    return found


def sentence(density: LogDensity, failure: BadEnd) -> str:
    """What is to blame, in a sentence with a space before it; empty where all numbers are finite."""
    return _looked_at(density, failure, time.monotonic() + USUAL.explain_seconds)[1]


def _looked_at(density: LogDensity, failure: BadEnd, until: float) -> Blamed:
    """The sites to blame and a sentence, for a run that is at its end: it neither waits long nor fails for it."""
    pool = ThreadPool(1)
    look = pool.submit(_blame, density, failure)
    pool.close()
    try:
        report = look.result(max(until - time.monotonic(), 0.0))
    except TimeoutError:
        return (), " To find the place takes more than some seconds."
    except Exception as error:  # an explanation of what went wrong must not cost the draws
        return (), f" The place could not be looked at: {type(error).__name__}: {error}"
    return report.sites, _sentence(report)


def _is_mere_divergence(failure: BadEnd) -> bool:
    return failure.kind == "divergence" and np.isfinite(failure.log_density)


def _sentence(report: Blame) -> str:
    if report.is_finite:
        return ""
    named = [name for name in report.sites if name in report.values] or list(report.values)
    with np.printoptions(precision=4, threshold=6, edgeitems=2):
        at = ", ".join(f"{name!r} = {report.values[name]}" for name in named[:_NUM_SHOWN])
    return f" Such as at {at}: {'; '.join(report.found())}. To mend it: {report.remedy}"


def _blame(density: LogDensity, failure: BadEnd) -> Blame:
    with precisions.scope(density.program.precision):
        return blame(density, failure.position)
