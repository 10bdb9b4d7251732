"""Explain each failed trajectory: name the site, the derivative and the line to blame."""

import time
from dataclasses import dataclass

import numpy as np

from ..core import precision as precisions
from ..core.errors import OptionError
from ..core.options import checks_options
from ..core.tracebacks import entry_points
from ..density import LogDensity, blame
from ..density.blame import Blame
from ..executors import ThreadPool
from ..language import Model
from ..mcmc.draws import Draws
from ..mcmc.endings import KINDS, BadEnd
from ..report.evidence import Blamed
from ..report.labels import as_labels
from ..report.rules.ends import is_often_in_warmup
from ..runs.requests import density_of
from ..runs.stored.describe import labelled_in

_NUM_SHOWN = 3  # values in a sentence


@entry_points
@dataclass(frozen=True)
class Explanation:
    """Explanations of failed trajectories, made by `infer.explain`; prints one paragraph each.

    **Fields**
    - `failures`: the positions, as in `draws.failures`. `reports`: the cause of each, as from `density.blame`.

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
    """Explain why trajectories failed: find the site, the derivative and the line to blame at each position.

    **Arguments**
    - `draws`: from `infer.sample`, `infer.resume` or `infer.load`.
    - `target`: the model with its data, needed for loaded draws; None is the model that is attached to the draws.

    **Raises** `OptionError` if the model is neither attached nor given, or has another dimension or other labels.

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
            "explain: these draws were loaded without their model. Give the model: infer.explain(draws, model(...))."
        )
    if density.dim != draws.manifest["layout"]["dim"]:
        raise OptionError(
            f"explain: the model has {density.dim} unknowns, and these draws {draws.manifest['layout']['dim']}: it is "
            "not the model of these draws."
        )
    recorded, given = draws.manifest["layout"], dict(density.layout.labels)
    for dim in labelled_in(recorded):
        if dim in given and given[dim] != as_labels(recorded["coords"][dim]):
            raise OptionError(
                f"explain: the labels of {dim!r} differ from those of the draws, or are in another order. "
                "Give the model with the data of the run."
            )
    return Explanation(draws.failures, tuple(_blame(density, failure) for failure in draws.failures))


def blamed(density: LogDensity, draws: Draws, seconds: float) -> dict[str, Blamed]:
    """Return, by kind of failure, the sites to blame for the first one after warm-up, and a sentence.

    Of warm-up, only what was not finite too often for a sound model is explained. A search that takes longer than
    `seconds` is left out.
    """
    found: dict[str, Blamed] = {}
    until = time.monotonic() + seconds
    for kind in KINDS:
        # A trajectory that diverged at a finite log density ended at a valid position.
        places = [each for each in draws.failures if each.kind == kind and not _is_mere_divergence(each)]
        counts = draws.counts[kind]
        is_often = kind != "divergence" and is_often_in_warmup(counts["warmup"], draws.tuning["num_warmup"])
        if places and (counts["sample"].any() or is_often):
            found[kind] = _looked_at(density, min(places, key=lambda each: each.phase != "sample"), until)
    return found


def sentence(density: LogDensity, failure: BadEnd, seconds: float) -> str:
    """Return the cause as a sentence with a leading space; empty if all values are finite.

    A search that takes longer than `seconds` is given up.
    """
    return _looked_at(density, failure, time.monotonic() + seconds)[1]


def _looked_at(density: LogDensity, failure: BadEnd, until: float) -> Blamed:
    """Return the sites to blame and a sentence at the end of a run, without a long wait and without raising."""
    pool = ThreadPool(1)
    look = pool.submit(_blame, density, failure)
    pool.close()
    try:
        report = look.result(max(until - time.monotonic(), 0.0))
    except TimeoutError:
        return (), " Finding the cause takes more than a few seconds: run `infer.explain(draws)`."
    except Exception as error:  # an explanation of what went wrong must not cost the draws
        return (), f" The cause could not be found: {type(error).__name__}: {error}"
    return report.sites, _sentence(report)


def _is_mere_divergence(failure: BadEnd) -> bool:
    return failure.kind == "divergence" and np.isfinite(failure.log_density)


def _sentence(report: Blame) -> str:
    if report.is_finite:
        return ""
    named = [name for name in report.sites if name in report.values] or list(report.values)
    with np.printoptions(precision=4, threshold=6, edgeitems=2):
        at = ", ".join(f"{name!r} = {report.values[name]}" for name in named[:_NUM_SHOWN])
    return f" For instance at {at}: {'; '.join(report.found())}. To fix it: {report.remedy}"


def _blame(density: LogDensity, failure: BadEnd) -> Blame:
    with precisions.scope(density.program.precision):
        return blame(density, failure.position)
