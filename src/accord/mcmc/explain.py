"""Explain each failed trajectory: name the site, the derivative and the line to blame."""

from dataclasses import dataclass

from ..core.errors import OptionError
from ..core.options import checks_options
from ..core.tracebacks import entry_points
from ..density import Blame, LogDensity
from ..language import Model
from ..report.labels import as_labels
from ..runs.requests import density_of
from ..runs.stored.describe import labelled_in
from .cause import blame_at
from .draws import Draws
from .endings import BadEnd


@entry_points
@dataclass(frozen=True)
class Explanation:
    """Explanations of failed trajectories, made by `infer.explain`; prints one paragraph each.

    **Fields**
    - `failures`: the positions, as in `draws.failures`. `reports`: the cause of each, as from `density.blame`.

    **Example**

    >>> tossed = infer.sample(coin(4, heads), draws=100, chains=1, seed=0, quiet=True)
    >>> print(infer.explain(tossed))
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
    whole = [site["name"] for site in draws.manifest["layout"]["sites"] if site["kind"] == "whole"]
    density = draws.density if target is None else density_of(target, draws.manifest["precision"], whole)
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
    return Explanation(draws.failures, tuple(blame_at(density, failure) for failure in draws.failures))
