"""Propose which sites to sample in a non-centred form, from a short run."""

import numpy as np

from ..core.errors import OptionError
from ..core.options import checks_options
from ..core.precision import scope
from ..density import LogDensity
from ..diagnose.checks.dependence import model_program
from ..diagnose.hierarchy import Hierarchical, hierarchical_sites
from ..kernels import NUTS
from ..language import Model
from ..language.handlers.reparam import reparam
from ..language.reparam.base import AbstractReparam
from ..language.reparam.loc_scale import LocScale
from ..mcmc.sample import sample
from .proposal import Judged, Proposal
from .shares import shares

_CHAINS, _DRAWS, _WARMUP = 2, 100, 200
_MAX_TREE_DEPTH = 7  # where the data say much, the non-centred form is slow
_MOST_BY_ENTRY = 1000  # numbers that are written into the model one by one


@checks_options
def propose(model: Model, *, seed: int = 0) -> Proposal:
    """Propose how to reparameterise a hierarchy, from the information of the data on each entry.

    Looked at are the latent sites of a location and a scale (or of such a law's image, or of a covariance) whose scale
    depends on other latent sites: their posterior may narrow like a funnel. A short run, of 300 draws in each of two
    chains, has all of them non-centred. Over its draws each entry has a curvature from its prior and one from all else.
    Where the prior's is the larger one, the entry is to be non-centred; where the data's is, it stays as it is.

    A site in the steps of a scan can be reparameterised around the step alone: it is named, and not judged.

    What sites further down say of one is reckoned as if these were known. Where the scale may be both small and large
    given the data, no choice is right throughout: the diagnostics of the run that follows have the last word.

    **Arguments**: `seed`, of the short run.

    **Returns** a mapping for `handlers.reparam`, which prints as a table of the reasons.

    **Raises** `OptionError` for what is not a model with its data; as `infer.sample` for a model that cannot be
    sampled.

    **Example**

    >>> proposal = reparam.propose(centred_schools(sigma, y))
    >>> proposal.config
    {'theta': LocScale(centered=0.0)}
    >>> print(handlers.reparam(centred_schools(sigma, y), proposal).sites())
    site        kind           shape  dims    distribution
    mu          latent         ()             Normal
    tau         latent         ()             HalfCauchy
    theta       deterministic  (8,)   school  Normal
    theta_base  latent         (8,)   school  Normal
    y           observed       (8,)   school  Normal
    """
    if not isinstance(model, Model):
        hint = " Call it with its data." if callable(model) and not isinstance(model, LogDensity) else ""
        raise OptionError(f"reparam.propose takes a model with its data, got {model!r}.{hint}")
    density = LogDensity.from_model(model)
    program = model_program(density)
    every = () if program is None else hierarchical_sites(program, density.data)
    found = tuple(site for site in every if not site.is_in_steps)
    in_steps = tuple(site.site for site in every if site.is_in_steps)
    if not found:
        return Proposal((), in_steps)
    config = {name: each for site in found for name, each in site.config.items()}
    changed = LogDensity.from_model(reparam(model, config))
    draws = sample(
        changed,
        NUTS(max_tree_depth=_MAX_TREE_DEPTH),
        draws=_DRAWS,
        warmup=_WARMUP,
        chains=_CHAINS,
        seed=seed,
        progress=False,
        quiet=True,
    )
    names = [entry.name for entry in changed.layout.entries]
    values = {name: np.concatenate(np.asarray(draws[name])) for name in names}
    with scope(changed.program.precision):
        share = shares(changed, values, found)
    rows = (
        Judged(each.site, each.scale_from, share[each.site], _decided(each, share[each.site]))
        for each in found
    )
    return Proposal(tuple(rows), in_steps)


def _decided(site: Hierarchical, share: np.ndarray) -> dict[str, AbstractReparam]:
    """Return the decision for a site from the data's shares of information."""
    is_known = share > 0.5
    can_be_mixed = isinstance(site.chain[-1], LocScale) and share.size <= _MOST_BY_ENTRY
    if is_known.all() or (not can_be_mixed and is_known.mean() > 0.5):
        return {}
    if not is_known.any() or not can_be_mixed:
        return site.config
    last = list(site.config)[-1]
    return {**site.config, last: LocScale(is_known.astype(float).tolist())}
