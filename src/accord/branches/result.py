"""Hold the programs of a model with their draws, and the draws of all, weighed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import keys
from ..core.by_site import BySite
from ..core.defaults import DEFAULT_DRAWS
from ..core.errors import DataError, SamplingError
from ..core.kept import Kept
from ..core.notice import Notice
from ..core.options import checks_options
from ..core.series import AbstractSeries, InMemory
from ..core.tracebacks import entry_points
from ..language import Model
from ..mcmc.draws import Draws
from ..report.log_evidence import LogEvidence
from ..resampling import Systematic
from ..smc.weighted import AbstractWeightedDraws

if TYPE_CHECKING:
    from ..report.summary import Summary


@dataclass(frozen=True, eq=False)
class ProgramDraws:
    """One program of a divided model.

    **Fields**
    - `values` of the sites that decide which statements run; `model`, with these as conditions.
    - `draws` of it: `Draws`, `SMCDraws` or `NestedDraws`; None where it has no unknown but discrete ones that are
      summed out.
    - `log_evidence`, of the data and of these values, with its standard error; 0 where it is exact.
    - `probability` of the program given the data, and its `standard_error`; NaN where evidences are not known well
      enough.
    """

    values: Mapping[str, Any]
    model: Model
    draws: Draws | AbstractWeightedDraws | None
    log_evidence: LogEvidence
    probability: float
    standard_error: float

    def __str__(self) -> str:
        return ", ".join(f"{name} = {np.asarray(value).tolist()}" for name, value in self.values.items())


@entry_points
@dataclass(frozen=True, eq=False, repr=False)
class Divided(BySite):
    """Result of `infer.divide`: a mapping from site name to draws of all programs, shape `(1, draw, *site)`.

    Each program has a share of the draws by its probability, as `infer.smc` resamples: they have equal weights, and
    none is there twice. The sites are those that decide which statements run, and all others that every program has
    with the same shape. What only some programs have is in `programs[k].draws`. Prints itself.

    **Fields**
    - `programs`: a `ProgramDraws` for each, in the order of the values.
    - `log_evidence` of the model, over all programs.
    - `notices`: with the code `evidence_unknown`, there are no pooled draws and no probabilities: asking for them
      raises `SamplingError`.
    - `complete`: whether all programs were run.

    **Example**

    >>> @ac.model
    ... def shifted(y):
    ...     is_shifted = ac.sample("is_shifted", dist.Bernoulli(0.5))
    ...     if is_shifted == 1:
    ...         shift = ac.sample("shift", dist.Normal(0, 1))
    ...         ac.sample("y", dist.Normal(shift, 1), obs=y)
    ...     else:
    ...         ac.sample("y", dist.Normal(0, 1), obs=y)
    >>> found = infer.divide(shifted(1.0))
    >>> [f"{program.probability:.1f}" for program in found.programs]
    ['0.5', '0.5']
    >>> found.programs[1].draws["shift"].shape
    (4, 1000)
    """

    model: str
    programs: tuple[ProgramDraws, ...]
    log_evidence: LogEvidence
    notices: tuple[Notice, ...]
    complete: bool
    seed: int
    kept: Kept = field(default_factory=Kept, init=False)

    where = "in every program"

    @property
    def is_known(self) -> bool:
        """Whether the evidences are known well enough to weigh the programs."""
        return not any(notice.code == "evidence_unknown" for notice in self.notices)

    @property
    def sites(self) -> AbstractSeries:
        """Pooled draws by site.

        **Raises** `SamplingError` where the evidences are not known well enough.
        """
        return self.kept.get("sites", self._pooled_sites)

    @checks_options
    def pooled(self, arrays: Sequence[Any]) -> np.ndarray:
        """Pool what was computed from the draws of each program: shape `(1, draw, ...)`, in the order of the draws.

        **Arguments**: `arrays`, one for each program, of shape `(chain, draw, ...)` as its draws; `(1, 1, ...)` for one
        without draws.

        **Raises** `DataError` for arrays of other shapes; `SamplingError` where the evidences are not known well
        enough.

        For predictions, give each program its values by `.do`: `infer.predict(each.draws, model.do(each.values))`.
        """
        chosen = self._chosen()
        if len(arrays) != len(chosen):
            raise DataError(f"pooled: {len(arrays)} arrays were given for {len(chosen)} programs.")
        parts = []
        for program, given, rows in zip(self.programs, arrays, chosen, strict=True):
            if not len(rows):
                continue
            array: Any = np.asarray(given)
            count = max(_count(program), 1)
            if array.ndim < 2 or array.shape[0] * array.shape[1] != count:
                raise DataError(
                    f"pooled: the array of the program {program} has shape {array.shape}, and its draws need "
                    f"(chain, draw, ...), {count} in all."
                )
            parts.append(array.reshape(count, *array.shape[2:])[rows])
        if len({part.shape[1:] for part in parts}) > 1:
            raise DataError(
                "pooled: the arrays have different shapes by program, "
                f"{', '.join(str(part.shape[1:]) for part in parts)}, and no array holds them all."
            )
        return np.concatenate(parts)[None]

    @property
    def num_draws(self) -> int:
        """Number of pooled draws."""
        return sum(map(len, self._chosen()))

    @checks_options
    def summary(
        self,
        sites: str | Sequence[str] | None = None,
        *,
        prob: float = 0.9,
        interval: str = "quantiles",
    ) -> "Summary":
        """Summarise each parameter: mean, sd and interval of the pooled draws. Arguments as of `Draws.summary`.

        **Raises** `OptionError` as `Draws.summary`; `SamplingError` where the evidences are not known well enough.
        """
        from ..report.selecting import columns_of, picked_names
        from ..report.summary import summarise

        columns_of(prob, "stats", interval)  # raises for invalid options
        names = tuple(picked_names(sites, self.sites))
        return summarise(self.sites, only=names, prob=prob, kind="stats", interval=interval)

    def __str__(self) -> str:
        head = f"{self.model}: {len(self.programs)} programs; {str(self.log_evidence).lower()}"
        width = max((len(str(each)) for each in self.programs), default=0)
        rows = [
            f"{each!s:<{width}}  log evidence {each.log_evidence.value:9.3f} +- {each.log_evidence.standard_error:.3f}"
            f"  probability {each.probability:.3f} +- {each.standard_error:.3f}"
            for each in self.programs
        ]
        return "\n".join([head, *rows, *map(str, self.notices)])

    __repr__ = __str__

    def _chosen(self) -> list[np.ndarray]:
        """Return the rows of each program's draws that are pooled; row 0 of a program that has no draws."""
        if not self.is_known:
            told = next(each for each in self.notices if each.code == "evidence_unknown")
            raise SamplingError(
                f"the draws of these programs cannot be weighed. {told.message} {told.remedy}"
            )
        counts = np.array([max(_count(each), 1) for each in self.programs])
        shares = np.array([each.probability for each in self.programs])
        # As many as there can be without taking a draw twice.
        most = [
            _count(each) / each.probability for each in self.programs if each.draws and each.probability > 0
        ]
        size = int(min(most, default=DEFAULT_DRAWS))
        generator = keys.generator(keys.chain_key(self.seed, 0), keys.USE_POOLED, 0)
        ancestors = Systematic().ancestors(np.repeat(shares / counts, counts), size, generator)
        starts = np.cumsum(counts) - counts
        return [
            ancestors[(ancestors >= start) & (ancestors < start + count)] - start
            for start, count in zip(starts, counts, strict=True)
        ]

    def _pooled_sites(self) -> AbstractSeries:
        chosen = self._chosen()
        taken = [(each, rows) for each, rows in zip(self.programs, chosen, strict=True) if len(rows)]
        arrays = {name: _values(name, taken) for name in self.programs[0].values} if taken else {}
        names = [] if any(each.draws is None for each, _ in taken) else list(taken[0][0].draws or ())
        for name in names:
            found = [(each.draws, rows) for each, rows in taken if each.draws is not None]
            if name in arrays or not all(name in draws for draws, _ in found):
                continue
            parts = [np.asarray(draws[name]) for draws, _ in found]
            if len({part.shape[2:] for part in parts}) == 1:
                flat = [
                    part.reshape(-1, *part.shape[2:])[rows]
                    for part, (_, rows) in zip(parts, found, strict=True)
                ]
                arrays[name] = np.concatenate(flat)
        return InMemory({name: array[None] for name, array in arrays.items() if array is not None})


def _count(program: ProgramDraws) -> int:
    """Return how many draws a program has, of all chains."""
    if program.draws is None:
        return 0
    chains = len(program.draws.chains) if isinstance(program.draws, Draws) else 1
    return chains * program.draws.num_draws


def _values(name: str, taken: Sequence[tuple[ProgramDraws, np.ndarray]]) -> np.ndarray | None:
    """Return the value of a branching site at each draw, or None where a program lacks it or has another shape."""
    if not all(name in each.values for each, _ in taken):
        return None
    values = [np.asarray(each.values[name]) for each, _ in taken]
    if len({value.shape for value in values}) > 1:
        return None
    return np.concatenate(
        [
            np.broadcast_to(value, (len(rows), *value.shape))
            for value, (_, rows) in zip(values, taken, strict=True)
        ]
    )
