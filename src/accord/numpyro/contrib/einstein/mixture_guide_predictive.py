"""Predict from a mixture of guides that `SteinVI` has fitted."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import jax

from ....core.errors import OptionError
from ...infer.predictive import Predictive, drawn_sites
from ...names.refusal import refusal as _refusal

__getattr__ = _refusal("numpyro.contrib.einstein")


class MixtureGuidePredictive:
    """Draws of a program's sites, each with unknowns from a guide of the mixture that is taken at random.

    **Arguments**
    - `model`, `guide`, programs; `params`, of both, those of the mixture with a first axis of guides.
    - `guide_sites`: names of the parameters of the mixture, `stein.guide_sites`.
    - `num_samples`: how many draws; `return_sites`, as of `Predictive`.
    - `mixture_assignment_sitename`: under which name the number of the guide is returned.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        guide: Callable[..., Any],
        params: Mapping[str, Any],
        guide_sites: Collection[str],
        num_samples: int | None = None,
        return_sites: Sequence[str] | None = None,
        mixture_assignment_sitename: str = "mixture_assignments",
    ) -> None:
        if num_samples is None:
            raise OptionError("MixtureGuidePredictive: give `num_samples=`.")
        self.guide_params = {name: value for name, value in params.items() if name in guide_sites}
        if not self.guide_params:
            raise OptionError(
                f"MixtureGuidePredictive: none of the parameters {', '.join(map(repr, params))} is in guide_sites. "
                "Give `guide_sites=stein.guide_sites`."
            )
        self.params = {name: value for name, value in params.items() if name not in guide_sites}
        self.model, self.guide = model, guide
        self.num_samples, self.return_sites = num_samples, return_sites
        self.mixture_assignment_sitename = mixture_assignment_sitename

    def __call__(self, rng_key: Any, *args: Any, **kwargs: Any) -> dict[str, jax.Array]:
        """Return draws by name, for these arguments of the programs."""
        of_guide, of_number, of_model = jax.random.split(rng_key, 3)
        count = jax.tree.leaves(self.guide_params)[0].shape[0]
        number = jax.random.randint(of_number, (self.num_samples,), 0, count)
        chosen = jax.tree.map(lambda each: each[number], self.guide_params)
        batch = (self.num_samples,)
        drawn = drawn_sites(of_guide, self.guide, chosen, batch, None, args, kwargs, True)
        ahead = Predictive(self.model, drawn, params=self.params, return_sites=self.return_sites)
        asked = {n: v for n, v in drawn.items() if self.return_sites is not None and n in self.return_sites}
        return {self.mixture_assignment_sitename: number, **asked, **ahead(of_model, *args, **kwargs)}
