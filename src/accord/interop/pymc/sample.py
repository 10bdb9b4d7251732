"""Sample the posterior of a PyMC model."""

from typing import Any

from ...core.tracebacks import entry_point
from ...mcmc.draws import Draws
from ...mcmc.sample import sample as sample_target
from .target import target


@entry_point
def sample(model: Any = None, *args: Any, **options: Any) -> Draws:
    """Draw from the posterior of a PyMC or Bambi model, as `infer.sample(target(model), ...)` does.

    `draws.to_arviz()` has PyMC's groups: `posterior` with free variables and deterministics, `sample_stats`,
    `observed_data` and `constant_data`, with the dims and coords of the model.

    **Arguments**: `model`, as of `target`; others as of `infer.sample`. PyMC's words have other names there: `tune` is
    `warmup`, `random_seed` is `seed`, and `target_accept` belongs to the sampler, `infer.NUTS(target_accept=0.9)`.

    **Raises** what `target` and `infer.sample` raise.

    **Example**

    >>> import pymc
    >>> from accord.interop import pymc as accord_pymc
    >>> with pymc.Model(coords={"town": ["Bath", "York"]}) as towns:
    ...     level = pymc.Normal("level", 0.0, 1.0, dims="town")
    >>> accord_pymc.sample(towns, draws=200, chains=2, quiet=True)
    <Draws of pymc_model: 2 chains x 200 draws; level[2]>
    """
    return sample_target(target(model), *args, **options)
