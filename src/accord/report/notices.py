"""Judge a run by rules, and return its notices, most severe first."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from ..core.notice import Notice, by_severity
from ..core.series import as_series
from .evidence import Blamed, Block, Counts, Evidence, Forms
from .labels import Coords, Dims, Sites
from .rules import agreement, apart, ends, estimates, extent, integrals, ladder, movement, sums, unbounded
from .rules.bias import biased
from .rules.blocks import discrete_stuck, unadapted_block

RULES: tuple[Callable[[Evidence], Iterator[Notice]], ...] = (
    extent.incomplete,
    movement.constant_chains,
    unbounded.runs_away,
    movement.step_sizes,
    ends.draws_not_finite,
    ends.gradients,
    apart.chains_apart,
    discrete_stuck,
    agreement.high_r_hat,
    movement.slow_chains,
    ladder.round_trips,
    ladder.rungs_apart,
    estimates.noisy_estimates,
    estimates.stuck_estimates,
    estimates.bad_weights,
    unadapted_block,
    ends.divergences,
    ends.log_densities,
    sums.bound_reached,
    sums.left_out,
    integrals.laplace_poor,
    integrals.few_nodes,
    agreement.low_ess_bulk,
    agreement.low_ess_tail,
    movement.low_e_bfmi,
    movement.saturated_trees,
    agreement.collinear,
    ends.in_warmup,
    extent.too_few_draws,
    extent.single_chain,
    extent.short_warmup,
    extent.long_warmup,
    extent.judged_in_part,
    biased,
)


def examine(
    sites: Sites,
    stats: Sites,
    *,
    chains: Sequence[int] | None = None,
    dims: Dims | None = None,
    coords: Coords | None = None,
    max_tree_depth: int | None = None,
    target_accept: float | None = None,
    complete: bool = True,
    requested: int | None = None,
    counts: Counts | None = None,
    num_made: int | None = None,
    num_warmup: int | None = None,
    step_size: np.ndarray | None = None,
    warmups: np.ndarray | None = None,
    is_settled: np.ndarray | None = None,
    latents: Iterable[str] = (),
    blamed: Mapping[str, Blamed] | None = None,
    is_unbounded: bool = False,
    superchains: Sequence[int] | None = None,
    scaled_by: Mapping[str, Forms] | None = None,
    temperatures: np.ndarray | None = None,
    limits: Mapping[str, int] | None = None,
    blocks: Sequence[Block] = (),
    discrete: Iterable[str] = (),
    flat: Iterable[str] = (),
    bias: float | None = None,
    approximated: Iterable[str] = (),
    estimate: tuple[int, float] | None = None,
    dim: int | None = None,
) -> list[Notice]:
    """Apply every rule to a run; an empty list means that no rule found a problem.

    - `sites`: site to draws, shape `(chain, draw, *event)`; `stats`: ArviZ's name to shape `(chain, draw)`. A
      rule whose statistic is absent is silent. Warm-up draws do not belong here.
    - `chains`: chain numbers, for the messages; `dims`, `coords`: label scalars as in the summary.
    - `max_tree_depth`, `target_accept`: options of the sampler, None where it has none.
    - `complete`: whether the run reached its end, `requested`: the draws per chain it was to make.
    - `counts`: how many draws failed by kind and phase, shape `(chain,)`; `num_made`, draws after warm-up of all
      chains, before thinning (None is as many as there are).
    - `num_warmup`: draws of warm-up as planned, None if nothing is learnt in them; `step_size`: at the end of warm-up;
      `warmups`: warm-up draws that each chain made, and `is_settled`, whether it had settled then; all of shape
      `(chain,)`. `latents`: names of the unknowns.
    - `blamed`: the sites to blame and a sentence, by kind of failure. `is_unbounded`: some log density was +inf.
    - `superchains`: superchain of each chain, if several chains share a starting point.
    - `scaled_by`: by latent site, the sites whose scale it sets, with their non-centred forms.
    - `temperatures`: powers of the likelihood on the rungs of a ladder, shape `(chain, rung)`; None without one.
    - `limits`: largest values of sums over discrete sites, where these are chosen.
    - `blocks`: of a sampler by blocks. `discrete`: names of discrete unknowns that were sampled.
    - `flat`: names of unknowns with a flat prior on an infinite set.
    - `approximated`: names of sites that are integrated out by an approximation.
    - `estimate`: of a log density that particles estimate, their number, and its standard deviation at a central point.
    - `dim`: number of unconstrained coordinates; None where that is not known.
    - `bias`: by what share variances come out too large by construction, of a sampler that accepts all; else None.

    Never raises for what the draws hold: none, one chain, two draws, NaN.
    """
    both = as_series(sites), as_series(stats)
    shapes = [series.shape(name) for series in both for name in series]
    num_chains = shapes[0][0] if shapes else 0
    evidence = Evidence(
        *both,
        list(range(num_chains)) if chains is None else list(chains),
        dims or {},
        coords or {},
        max_tree_depth,
        target_accept,
        complete,
        requested,
        counts or {},
        num_made if num_made is not None else (num_chains * shapes[0][1] if shapes else 0),
        num_warmup,
        step_size,
        warmups,
        is_settled,
        frozenset(latents),
        blamed or {},
        is_unbounded,
        superchains,
        scaled_by or {},
        temperatures,
        limits or {},
        blocks,
        frozenset(discrete),
        frozenset(flat),
        bias,
        tuple(approximated),
        estimate,
        dim,
    )
    return by_severity(notice for rule in RULES for notice in rule(evidence))


def tell(notices: Iterable[Notice]) -> None:
    """Write notices to standard error, one a line; standard output stays the program's."""
    for notice in notices:
        sys.stderr.write(f"{notice}\n")
