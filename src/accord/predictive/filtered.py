"""Hold what a particle filter found of the states of a model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..core.errors import OptionError
from ..core.notice import Notice
from ..core.tracebacks import entry_points
from ..report.log_evidence import LogEvidence

_NATS = 1.5  # standard error of a log likelihood, above which it is rough


@entry_points
@dataclass(frozen=True, eq=False)
class Filtered:
    """States of a model given its data up to each step, by a particle filter. Prints itself.

    Arrays have axes `(chain, draw, ...)` where there is a filter for each draw, and neither for one set of values.

    **Fields**
    - `log_likelihood`: of the data given the other unknowns, an estimate whose exponential is unbiased; and its
      `standard_error`, from the families of particles, NaN where one family is left.
    - `mean`, `sd`: by state, and by deterministic site of the scan, mean and standard deviation given the data up to
      each step, shape `(..., step, *site)`; of unknowns before the scan, given the data before it, `(..., *site)`.
    - `ess`: number of particles of equal weight that those after each step are worth, shape `(..., step)`.
    - `trajectories`: by the same sites, draws of the states of all steps given all data, as particles and their
      ancestors: shape `(..., trajectory, step, *site)`. Trajectories that share ancestors have early states in common.
    - `families`: how many particles before the first step have descendants at the end.
    - `particles`: of a filter. `model`: its name. `notices`: warnings about the result.

    **Example**

    >>> found = infer.filter(level(flow), {"drift": 0.3}, trajectories=20)
    >>> found.mean["x"].shape, found.trajectories["x"].shape
    ((4,), (20, 4))
    """

    log_likelihood: np.ndarray
    standard_error: np.ndarray
    mean: Mapping[str, np.ndarray]
    sd: Mapping[str, np.ndarray]
    ess: np.ndarray
    trajectories: Mapping[str, np.ndarray]
    families: np.ndarray
    particles: int
    model: str
    notices: tuple[Notice, ...]

    @property
    def log_evidence(self) -> LogEvidence:
        """The log likelihood of one filter, with its standard error; where all is given, the evidence of the states.

        **Raises** `OptionError` where there is a filter for each draw.
        """
        if self.log_likelihood.ndim:
            raise OptionError(
                "log_evidence: there is a filter for each draw; see `log_likelihood` and `standard_error`."
            )
        return LogEvidence(float(self.log_likelihood), float(self.standard_error), notices=self.notices)

    def __str__(self) -> str:
        sites = ", ".join(
            f"{name}{list(each.shape[self.log_likelihood.ndim :]) or ''}" for name, each in self.mean.items()
        )
        head = f"Filter of {self.model}: {self.particles} particles; {sites}"
        if not self.log_likelihood.ndim:
            head += f"; log likelihood {self.log_likelihood:.3f} +- {self.standard_error:.3f}"
        return "\n".join([head, *map(str, self.notices)])

    __repr__ = __str__


def notices_of(found: Mapping[str, np.ndarray], particles: int) -> list[Notice]:
    """Return what a user should know of filters, from what each found; first axes `(chain, draw)`."""
    checks = (_none_left(found), _bad(found), _one_family(found), _rough(found, particles))
    return [each for each in checks if each is not None]


def _none_left(found: Mapping[str, np.ndarray]) -> Notice | None:
    is_over = found["log_likelihood"] == -np.inf
    if not is_over.any():
        return None
    where = np.argwhere(is_over)[0]
    steps = np.flatnonzero(found["ess"][tuple(where)] == 0)
    step = f"step {steps[0]}" if len(steps) else "the end"
    return Notice(
        "error",
        "no_particle_left",
        f"All particles became impossible in {_count(is_over)}, first at {step}: its log likelihood is -inf.",
        "Take more particles, or a proposal that looks at the data; and look for an observation that the model calls "
        "impossible, at that step.",
    )


def _bad(found: Mapping[str, np.ndarray]) -> Notice | None:
    count = int(found["bad"].sum())
    if not count:
        return None
    return Notice(
        "warning",
        "weight_not_finite",
        f"The log density of observations was NaN or +inf at {count} particles, which count as impossible.",
        "Call infer.check(model), and look at exp, log, sqrt and division in the step.",
    )


def _one_family(found: Mapping[str, np.ndarray]) -> Notice | None:
    is_one = (found["families"] < 2) & (found["log_likelihood"] > -np.inf)
    if not is_one.any():
        return None
    return Notice(
        "warning",
        "one_ancestor",
        f"All particles at the end have one ancestor before the first step in {_count(is_one)}: the standard error of "
        "the log likelihood is unknown, and trajectories share their early states.",
        "Take more particles; or several filters, with `seed=`, whose log likelihoods tell the error by how they vary. "
        "For early states given all data, draw by infer.ParticleGibbs().",
    )


def _rough(found: Mapping[str, np.ndarray], particles: int) -> Notice | None:
    is_rough = found["standard_error"] > _NATS
    if not is_rough.any():
        return None
    return Notice(
        "warning",
        "likelihood_rough",
        f"The standard error of the log likelihood is up to {np.nanmax(found['standard_error']):.2g} with {particles} "
        "particles, so that a few particles decide.",
        f"Take more: particles={particles * 10}; or a proposal that looks at the data.",
    )


def _count(is_so: np.ndarray) -> str:
    return "the filter" if is_so.size == 1 else f"{is_so.sum()} of {is_so.size} filters"


def squeezed(arrays: Mapping[str, np.ndarray], is_one: bool) -> dict[str, np.ndarray]:
    """Return arrays without the axes of chains and draws, if there is one filter."""
    return {name: each[0, 0] if is_one else each for name, each in arrays.items()}
