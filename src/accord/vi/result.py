"""Hold a fit: a guide with its parameters, and how good it is."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bijectors import AbstractBijector
from ..core import keys
from ..core.errors import OptionError
from ..core.kept import Kept
from ..core.notice import Notice
from ..core.options import checks_options, positive_count
from ..core.precision import scope
from ..core.series import InMemory
from ..core.tracebacks import entry_points
from ..density import LogDensity
from ..executors.pools import one_blas_thread
from ..guides.base import AbstractGuide, Params
from ..language import Model
from ..language.modules.module import with_values
from ..optimise.approximation import AbstractApproximation
from ..optimise.surface import values_of_sites
from ..report.labels import read_written
from ..runs.stored.describe import described_layout
from ..storage import AbstractRun, Manifest
from .applied import applied
from .draws import GuideDraws
from .evaluate import Fitted, Judgement
from .objectives.base import AbstractObjective
from .stored import Ended

if TYPE_CHECKING:
    from .summary import FitSummary


@entry_points
@dataclass(frozen=True, eq=False, repr=False)
class Fit(AbstractApproximation):
    """Result of `infer.fit`: a distribution that approximates the posterior. Prints what is known of it.

    **Fields**
    - `guide`, `objective`: what was fitted, and by what.
    - `fitted`: the guide with its parameters, of the restart with the highest bound, or of particles with the lowest
      discrepancy; None if no step was made.
    - `losses`: by number of the restart, what was minimised at each step, shape `(step,)`: estimates of minus the
      bound; of particles, their squared discrepancy.
    - `bounds`: by number of the restart, the evidence lower bound `E[log p - log q]`, by 1000 new draws; `errors`,
      their standard errors. NaN for particles, which have none.
    - `best`: number of the restart that was taken.
    - `log_evidence_bound`: its bound: the log evidence of the model is higher, on average over such draws.
      `log_evidence_bound_error`: standard error.
    - `pareto_k`: tail of the weights `p / q`: below 0.5 good; above 0.7 do not trust the fit. NaN for a `Delta` and for
      `Particles`.
    - `effective_draws`: how many draws of the posterior 1000 draws of the guide are worth, weighted.
    - `discrepancy`: Stein's, of `Particles`, in units of that of as many independent draws from the posterior: below 1
      they are worth more than these. `spread`: the ratio of their variance to that of the posterior by the gradients
      there, where it is lowest; right for a normal posterior. NaN for other guides.
    - `converged`: whether the fit ended because nothing was to be gained. `complete`: whether all restarts ended,
      but for failed ones.
    - `notices`: what to know before using it. `timings`: seconds of `compile`, the phases, and `total`.
    - `dims`, `coords`: names of the dimensions of each site, and labels along them.
    - `manifest`: the record of how the fit was made. `location`: its folder, or None. `problems`: damaged or missing
      files there.
    - `density`: the log density of the posterior; None in a fit that was loaded or pickled.

    **Example**

    >>> fit = infer.fit(eight_schools(sigma, y), quiet=True)
    >>> fit
    <Fit of eight_schools: MeanField by FixedDraws; log evidence above -31.59, Pareto k 0.46>
    >>> fit.draw(100)["theta"].shape
    (1, 100, 8)
    """

    guide: AbstractGuide
    objective: AbstractObjective
    fitted: Fitted | None
    losses: Mapping[int, np.ndarray]
    bounds: Mapping[int, float]
    errors: Mapping[int, float]
    best: int
    pareto_k: float
    effective_draws: float
    discrepancy: float
    spread: float
    converged: bool
    complete: bool
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, np.ndarray]
    manifest: Manifest
    location: str | None
    problems: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    density: LogDensity | None = None
    kept: Kept = field(default_factory=Kept, init=False)

    @staticmethod
    def of(
        run: AbstractRun,
        ended: Sequence[Ended],
        judged: Mapping[int, Judgement],
        *,
        objective: AbstractObjective,
        guide: AbstractGuide,
    ) -> "Fit":
        """Put together the restarts of a run, and what draws say of each."""
        manifest = run.manifest
        usable = [each for each in ended if each.fitted is not None]
        bounds = {each.number: judged[each.number].bound for each in usable if each.number in judged}
        unknown = Judgement(np.nan, np.nan, np.nan, np.nan)
        best = max(usable, key=lambda each: judged.get(each.number, unknown).height, default=None)
        own = unknown if best is None else judged.get(best.number, unknown)
        layout: Any = manifest["layout"]
        return Fit(
            guide,
            objective,
            None if best is None else best.fitted,
            {each.number: each.losses for each in ended},
            bounds,
            {number: judged[number].error for number in bounds},
            -1 if best is None else best.number,
            own.pareto_k,
            own.effective,
            own.discrepancy,
            own.spread,
            best is not None and best.converged,
            bool(ended) and all(each.is_over for each in ended),
            *_dims_of(layout),
            manifest,
            run.location,
            tuple(run.problems),
        )

    @property
    def log_evidence_bound(self) -> float:
        """The evidence lower bound; NaN if it is not known."""
        return self.bounds.get(self.best, np.nan)

    @property
    def log_evidence_bound_error(self) -> float:
        """Standard error of the bound."""
        return self.errors.get(self.best, np.nan)

    @property
    def params(self) -> Params:
        """Parameters of the guide, in its coordinates: see `fitted.frame`. **Raises** `OptionError` without any.

        Of a guide that is a model, they are the values of its `ac.param` and `ac.module`, and of those of the target,
        by name, as the models have them.
        """
        return self._known().params

    @property
    def bijector(self) -> AbstractBijector:
        """Map from standard normal vectors to draws from the guide, shape `(dim,)` each, unconstrained; one-to-one.

        `handlers.reparam(model, reparam.Neutra(fit.bijector))` is the same model in the coordinates of the fit. Chains
        draw from its posterior exactly, whatever the fit; a good fit makes it round, and so quick to draw from.

        **Raises** `OptionError` for a guide that is no such map (`Delta`, `Particles`), or without a step.

        **Source**: Hoffman et al. (2019), "NeuTra-lizing bad geometry in Hamiltonian Monte Carlo using neural
        transport", arXiv:1903.03704.

        **Example**

        >>> fit = infer.fit(eight_schools(sigma, y), infer.guides.FullRank(), quiet=True)
        >>> straight = handlers.reparam(eight_schools(sigma, y), reparam.Neutra(fit.bijector))
        >>> infer.sample(straight, draws=200, chains=2, quiet=True)["theta"].shape
        (2, 200, 8)
        """
        from .transport import transport

        return transport(self._known())

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.manifest["model"]

    def __getstate__(self) -> dict[str, Any]:
        fitted = self.fitted and replace(self.fitted, guide=self.fitted.guide.detached())
        # The density and the guide may be of a function of no module.
        return {**vars(self), "density": None, "guide": self.guide.detached(), "fitted": fitted}

    def __copy__(self) -> "Fit":
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Fit":
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        kept = ("density", "guide", "fitted")
        copied = {name: copy.deepcopy(value, memo) for name, value in own.items() if name not in kept}
        fitted = self.fitted and replace(self.fitted, params=copy.deepcopy(self.fitted.params, memo))
        return replace(self, fitted=fitted, **copied)

    def __repr__(self) -> str:
        made = f"{self.guide.label} by {type(self.objective).__name__}"
        if self.fitted is None:
            return f"<Fit of {self.model}: {made}; no step was made>"
        state = "" if self.complete else ", interrupted"
        if self.guide.is_point:
            return f"<Fit of {self.model}: {made}; log density {self.log_evidence_bound:.6g}{state}>"
        if number := self.guide.num_points:
            what = f"discrepancy {self.discrepancy:.2g} of that of {number} draws, spread {self.spread:.2g}"
            return f"<Fit of {self.model}: {made}; {what}{state}>"
        bound, k = f"{self.log_evidence_bound:.4g}", f"Pareto k {self.pareto_k:.2g}"
        what = f"bound {bound} at its point" if self.guide.has_point else f"log evidence above {bound}"
        return f"<Fit of {self.model}: {made}; {what}, {k}{state}>"

    def __str__(self) -> str:
        return "\n".join([repr(self)[1:-1], *map(str, self.notices)])

    def _known(self) -> Fitted:
        if self.fitted is None:
            raise OptionError("this fit was stopped before its first step. See `fit.notices`.")
        return self.fitted

    def attached(self, what: str) -> LogDensity:
        """Return the log density. **Raises** `OptionError` for a fit without its model, which needs it for `what`."""
        if self.density is None:
            raise OptionError(
                f"{what}: this fit was loaded or pickled, without its model. Attach it: "
                "infer.resume(path, model(...)) returns the fit of a folder with its model."
            )
        return self.density

    def with_model(self, density: LogDensity, guide: AbstractGuide) -> "Fit":
        """Return it with the log density and the guide that it was made of."""
        return replace(
            self, density=density, guide=guide, fitted=self.fitted and replace(self.fitted, guide=guide)
        )

    @checks_options
    def draw(self, draws: int = 1000, *, seed: int = 0) -> GuideDraws:
        """Draw independently from the guide, in the model's space.

        **Arguments**: `draws`, >= 1; `seed`, in [0, 2**64).

        **Raises** `OptionError` for a fit without its model, or without a step.
        """
        count = positive_count("draws", draws)
        keys.chain_key(seed, 0)  # refuses a bad seed
        density, fitted = self.attached("draw"), self._known()
        sites, positions = _drawn(density, fitted, count, seed)
        return GuideDraws(
            sites,
            positions,
            self.dims,
            self.coords,
            self.manifest,
            density,
            notices=self.notices,
            pareto_k=self.pareto_k,
            seed=seed,
        )

    @checks_options
    def draw_for(self, target: Model, guide: Model, draws: int = 1000, *, seed: int = 0) -> GuideDraws:
        """Draw for new data from a guide that was written as a model, with the parameters as they were fitted.

        It costs no step. A loaded fit can be asked, too.

        **Arguments**: `target` and `guide`, the models of the fit, called with new data; `draws`, >= 1; `seed`.

        **Raises** `OptionError` for a fit with another kind of guide, or models with other parameters: those with an
        entry for each row of the data say nothing of new rows.

        **Example**

        >>> @ac.model
        ... def noisy(y):
        ...     with ac.plate("row", len(y)):
        ...         z = ac.sample("z", dist.Normal(0, 1))
        ...         ac.sample("y", dist.Normal(z, 1), obs=y)
        >>> @ac.model
        ... def by_row(y):
        ...     slope, scale = ac.param("slope", 0.0), ac.param("scale", 1.0, constraint=constraints.positive)
        ...     with ac.plate("row", len(y)):
        ...         ac.sample("z", dist.Normal(slope * y, scale))
        >>> y = np.array([1.0, -2.0, 0.5])
        >>> fit = infer.fit(noisy(y), by_row(y), quiet=True)
        >>> new = np.array([4.0])
        >>> print(f"{fit.draw_for(noisy(new), by_row(new), 10_000)['z'].mean():.1f}")
        2.0
        """
        count = positive_count("draws", draws)
        keys.chain_key(seed, 0)
        density, fitted = applied(self._known(), target, guide, self.manifest["precision"])
        sites, positions = _drawn(density, fitted, count, seed)
        layout = described_layout(density.layout)
        manifest = Manifest(
            {**self.manifest, "layout": layout, "target": {"kind": "log density", "dim": density.dim}}
        )
        known = _dims_of(manifest["layout"])
        return GuideDraws(
            sites,
            positions,
            *known,
            manifest,
            density,
            notices=self.notices,
            pareto_k=self.pareto_k,
            seed=seed,
            is_of_fit=False,
        )

    @checks_options
    def module(self, name: str, module: Any, *, variables: Mapping[str, Any] | None = None) -> Any:
        """Return a module of `ac.module` with the parameters that were fitted, to be called on new inputs.

        **Arguments**: `name`, `module` and `variables`, as they were given to `ac.module`.

        **Raises** `OptionError` where no parameter of that name was fitted, or one has another shape.
        """
        return with_values(name, module, self.params, variables=variables)

    def starts(self, chains: Sequence[int], seed: int) -> list[dict[str, np.ndarray]]:
        """See `AbstractApproximation.starts`: one draw for each chain."""
        density, fitted = self.attached("init"), self._known()
        names = [entry.name for entry in density.layout.unknowns]
        with scope(density.program.precision), one_blas_thread():
            look = values_of_sites(density)
            each = [look(fitted.draw(density, 1, seed, chain, keys.USE_START)[0]) for chain in chains]
        return [{name: values[name][0] for name in names} for values in each]

    @checks_options
    def report(self, path: str | Path) -> None:
        """Write a report of the fit: one HTML page that fetches nothing, or Markdown.

        The page shows how the fit was made, its notices, how good it is, losses by step, and, where its model is
        attached, a table of the unknowns, intervals and pairs. The same fit gives the same bytes.

        **Arguments**: `path`, a name in `.html` or `.md`; a file of that name is replaced.

        **Raises** `OptionError` for another name, and a folder that does not exist.

        **Example**

        >>> infer.fit(coin(4, heads), quiet=True).report("fit.html")
        """
        from ..report.document.write import write
        from .reported import document

        write(document(self), path)

    def summary(self) -> "FitSummary":
        """Tabulate the latent scalars: mean and sd under the guide, and two corrections of them.

        `sd_lr` is the linear-response standard deviation, of a `MeanField` by `FixedDraws`: right for a normal
        posterior where the sd of the guide is too small. `mean_psis` and `sd_psis` weight draws of the guide by the
        posterior (Pareto-smoothed), where `pareto_k` is below 0.7. What cannot be computed is NaN.

        **Raises** `OptionError` for a fit without its model, or without a step.

        **Example**

        >>> infer.fit(coin(4, heads), quiet=True).summary().labels
        ('p',)
        """
        from .summary import summarise

        density, fitted = self.attached("summary"), self._known()
        return self.kept.get("summary", lambda: summarise(self, density, fitted))


def _drawn(density: LogDensity, fitted: Fitted, count: int, seed: int) -> tuple[InMemory, Any]:
    """Return draws by site, and their positions."""
    with scope(density.program.precision), one_blas_thread():
        # The draws that judge the fit have the seed of the fit, and others are not to repeat them.
        positions, _ = fitted.draw(density, count, seed, 2**31)
        values = values_of_sites(density)(positions)
    order = [entry.name for entry in density.layout.drawn if entry.name in values]
    return InMemory({name: values[name][None] for name in order}), positions


def _dims_of(layout: Any) -> tuple[dict[str, tuple[str, ...]], dict[str, np.ndarray]]:
    """Return names of the dimensions of each site, and labels along them, from the layout of a manifest."""
    dims = {site["name"]: tuple(site["dims"]) for site in layout["sites"]}
    return dims, {dim: read_written(labels) for dim, labels in layout["coords"].items()}
