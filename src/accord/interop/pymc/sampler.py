"""Offer accord to PyMC as a sampler: the arguments of `pm.sample` in, and its result out."""

import importlib
import importlib.util
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.defaults import DEFAULT_CHAINS, DEFAULT_DRAWS
from ...core.errors import OptionError
from ...core.options import checks_fields, checks_options, positive_count
from ...kernels import NUTS, AbstractKernel
from ...runs.stopping.base import AbstractRule
from .arguments import (
    check_compile_kwargs,
    executor_of,
    is_shown,
    names_of,
    pointwise_of,
    seed_of,
    starts_of,
)
from .groups import arranged
from .library import pymc
from .sample import sample
from .target import model_of

_BASE = "pymc.sampling.samplers.base"
_TUNE = 1000  # PyMC's default


@checks_fields
@dataclass(frozen=True)
class Sampler:
    """Accord as a sampler of PyMC: the arguments and the result of `pm.sample`.

    Call `sample_from_init` in the place of `pm.sample`. Its arguments are those that PyMC intends for every sampler.
    Where the installed PyMC has the class of samplers (`pymc.sampling.samplers.base.Sampler`), this is one of them, for
    `pm.sample(sampler=Sampler())`.

    **Arguments**
    - `sampler`: one of `infer`, with its options; None is `infer.NUTS()`.
    - `target_accept`: of `NUTS`, in (0, 1). None leaves the default.
    - `until`: a rule that ends the run, such as `infer.ESS(1000)`; `draws` is then the maximum.

    **Raises** `ImportError` without PyMC; `OptionError` for both `sampler` and `target_accept`, and for a
    `target_accept` outside of (0, 1).

    **Source**: pull request 8358 of PyMC, 2026, for the arguments.

    **Example**

    >>> import pymc
    >>> from accord.interop import pymc as accord_pymc
    >>> with pymc.Model(coords={"town": ["Bath", "York"]}) as towns:
    ...     level = pymc.Normal("level", 0.0, 1.0, dims="town")
    >>> sampler = accord_pymc.Sampler(target_accept=0.9)
    >>> tree = sampler.sample_from_init(model=towns, draws=200, tune=200, chains=2, random_seed=1, quiet=True)
    >>> tree["posterior"]["level"].dims, tree["posterior"]["town"].values.tolist()
    (('chain', 'draw', 'town'), ['Bath', 'York'])
    """

    sampler: AbstractKernel | None = None
    target_accept: float | None = field(default=None, kw_only=True)
    until: AbstractRule | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.sampler is not None and self.target_accept is not None:
            raise OptionError(
                "Sampler: target_accept is an option of infer.NUTS(), and another sampler is given. Give it there: "
                f"Sampler(infer.NUTS(target_accept={self.target_accept!r}))."
            )
        NUTS(target_accept=self.target_accept)  # raises for a wrong one
        _join_pymc()

    @checks_options
    def sample_from_init(
        self,
        *,
        model: Any = None,
        draws: int = DEFAULT_DRAWS,
        tune: int | None = _TUNE,
        chains: int | None = None,
        cores: int | None = None,
        initvals: Mapping[Any, Any] | Sequence[Mapping[Any, Any] | None] | None = None,
        random_seed: Any = None,
        progressbar: bool | str = True,
        quiet: bool = False,
        discard_tuned_samples: bool = True,
        keep_warning_stat: bool = False,
        var_names: Sequence[str] | None = None,
        idata_kwargs: Mapping[str, Any] | None = None,
        compute_convergence_checks: bool = True,
        compile_kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Draw from the posterior of a PyMC model, and return the tree that `pm.sample` returns.

        The tree is a `DataTree`, or `InferenceData` with ArviZ 0.x, in PyMC's groups, with the dims and coords of the
        model. Its attributes say how the run was made; `notices` among them are the run's diagnostics.

        **Arguments**
        - `model`: a `pymc.Model` or a `bambi.Model`; None within `with model:`.
        - `draws`: draws per chain after warm-up. `chains`: their number; None is 4.
        - `tune`: warm-up draws per chain. None leaves their number to accord: 350, and more where a chain needs them.
        - `cores`: threads that run chains; None is one per core, or the accelerators. It does not change the draws.
        - `initvals`: values to start at, by the name of a free variable or the variable, as in PyMC: numbers, or
          `"prior"` and `"support_point"`; one mapping, or one or None for each chain. Other variables start by
          accord's rules, and so do those with an `initval=` in the model.
        - `random_seed`: an integer is the seed of the run. A list of integers, or a NumPy generator, which is not moved
          on, gives one seed for all chains. With None it is a new one each time. The tree's attribute `seed` has it.
        - `progressbar`: whether to show progress; PyMC's names of its displays are taken as True.
        - `quiet`: whether to show neither progress nor notices.
        - `discard_tuned_samples`: False keeps warm-up draws, in `warmup_posterior` and `warmup_sample_stats`.
        - `keep_warning_stat`: True has no effect, with a warning: there is no such statistic.
        - `var_names`: names of free variables and deterministics to keep; None is all.
        - `idata_kwargs`: `log_likelihood` and `log_prior`, True or a list of names, which PyMC computes from the draws.
        - `compute_convergence_checks`: False is as `quiet=True`. The checks are made, since the run depends on them.
        - `compile_kwargs`: None, or the mode JAX. Others are refused, since JAX compiles the model.

        **Raises** `OptionError` for arguments that cannot be honoured; what `target` and `infer.sample` raise.
        """
        given, model = model, model_of(model)
        check_compile_kwargs(compile_kwargs)
        pointwise = pointwise_of(idata_kwargs)
        kept = names_of(var_names, model)
        is_quiet = quiet or not compute_convergence_checks
        num_chains = DEFAULT_CHAINS if chains is None else positive_count("chains", chains)
        seed = seed_of(random_seed)
        run = {
            "draws": draws,
            "warmup": tune,
            "chains": num_chains,
            "seed": seed,
            "init": starts_of(initvals, model, num_chains, seed),
            "until": self.until,
            "executor": executor_of(cores),
            "progress": is_shown(progressbar),
            "quiet": is_quiet,
        }
        if keep_warning_stat:
            warnings.warn(
                "keep_warning_stat=True has no effect: accord has no statistic `warning`. The attribute `notices` of "
                "the result has the diagnostics of the run.",
                stacklevel=3,
            )
        found = sample(given, self.sampler or NUTS(target_accept=self.target_accept), **run)
        return arranged(found, model, kept, pointwise, has_warmup=not discard_tuned_samples)


def _join_pymc() -> None:
    """Make `Sampler` one of PyMC's samplers, where the installed PyMC has their base class."""
    pymc()
    parts = _BASE.split(".")
    for end in range(2, len(parts) + 1):
        if importlib.util.find_spec(".".join(parts[:end])) is None:
            return
    importlib.import_module(_BASE).Sampler.register(Sampler)
