"""Verify that sites can be integrated out of a model exactly: that its log density is quadratic in them.

A log density is followed along lines through the conditional mean of the sites, at several values of all other
unknowns, from 0.1 to 100 standard deviations to both sides. There each term must be the quadratic that it is far out,
and their sum must be that of the normal distribution found from derivatives. This is tried with the model's own data;
it says nothing of other data, for which it is tried again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....core.errors import SiteError
from ...program import ModelProgram
from ...quick import quickly
from ...rows.conditions import listed
from ...unknowns import pieces_of
from .groups import Groups
from .square import complete

TOLERANCE = 1e-9
"""The share of a term's size by which it may depart from a quadratic: rounding makes less."""

DISTANCES = np.array([0.1, 0.4, 1.6, 6.3, 25.0, 100.0])
"""How far lines are followed, in standard deviations."""

_PLACES = np.concatenate([[0.0], DISTANCES, -DISTANCES])

SPREADS = np.array([0.0, 0.3, 1.0, 1.0, 1.0, 2.0])
"""Standard deviations of the other unknowns, in unconstrained numbers, at the points where lines begin."""

_SLACK = 64.0  # roundings of a number that is far from zero, beside which a standard deviation is small

_EXACT = (
    "It is exact where the site has a normal prior, and where all else depends on it linearly, through the means of "
    "normal distributions and not through a scale. StudentT, Laplace, Poisson, Bernoulli and other distributions are "
    "not normal in their parameters: leave the site out of `handlers.collapse`, or ask for an approximation, "
    "`by=handlers.Quadrature()` or `by=handlers.Laplace()`. In `dist.BetaBinomial`, "
    "`dist.GammaPoisson`, `dist.DirichletMultinomial` and mixtures, probabilities, rates and discrete unknowns are "
    "integrated out."
)

Look = Callable[[Mapping[str, Any], np.ndarray, np.ndarray], dict[str, Any]]
"""From data, positions of the other unknowns, shape `(point, dim)`, and directions: what was met along the lines."""


def looking(base: ModelProgram, groups: Groups) -> Look:
    """Compile a look at lines, when it is first called."""
    entries = base.layout.marginal.entries

    def at_point(data: Any, position: Any, noise: Any) -> dict[str, Any]:
        others = pieces_of(position, entries)

        def terms(z: Any) -> dict[str, jax.Array]:
            return base.terms_at({**others, **groups.unstack(z)}, data)

        normal = complete(lambda z: sum(terms(z).values()), groups.num, groups.size, position.dtype)
        step = normal.deviation(noise)
        width = jnp.abs(step)
        steep = jnp.einsum("nij,nj->ni", jnp.abs(normal.precision), width)

        return {
            "terms": jax.lax.map(lambda distance: terms(normal.mean + distance * step), jnp.asarray(_PLACES)),
            "is_normal": jnp.isfinite(normal.factor.log_det),
            "rounded": jnp.stack([(each * steep).sum() for each in (jnp.abs(normal.mean), width)]),
        }

    def look(data: Any, positions: Any, noise: Any) -> dict[str, Any]:
        return jax.lax.map(lambda point: at_point(data, *point), (positions, noise))

    return quickly(look)


def check_exact(base: ModelProgram, groups: Groups, look: Look, data: Mapping[str, Any]) -> None:
    """Raise `SiteError` where the log density is not quadratic in the sites, in the scope of float64.

    **Arguments**: `look`, as `looking` made it; `data`, of the whole model, in memory.
    """
    generator = np.random.default_rng(20)
    layout = base.layout.marginal
    positions = SPREADS[:, None] * generator.standard_normal((len(SPREADS), layout.dim))
    noise = generator.standard_normal((len(SPREADS), groups.num, groups.size))
    found = jax.tree.map(np.asarray, look(data, positions, noise))
    names, which = list(found["terms"]), listed(groups.names)
    terms = np.stack(list(found["terms"].values()), axis=-1)  # by point, place on the line, and site
    is_finite, is_normal = np.isfinite(terms[:, 0]).all(axis=1), found["is_normal"]
    if not is_normal.any():
        raise SiteError(
            f"handlers.collapse: {which} cannot be integrated out: by its second derivatives, the log density "
            f"falls like a normal one at none of {len(SPREADS)} points of the other unknowns. Its prior may be "
            f"flat, or of another kind. {_EXACT}"
        )
    if not (is_normal & is_finite).any():
        bad = [name for i, name in enumerate(names) if not np.isfinite(terms[:, 0, i]).all()]
        raise SiteError(
            f"handlers.collapse: whether {which} can be integrated out is not known: the log density is "
            f"finite at none of {len(SPREADS)} points of the other unknowns, because of site {listed(bad)}. "
            "`infer.check` of the model without `handlers.collapse` says why."
        )
    lines = [
        Line(terms[i], float(np.sum(noise[i] ** 2)), found["rounded"][i])
        for i in np.flatnonzero(is_normal & is_finite)
    ]
    departure = max((line.departure() for line in lines), key=lambda each: each.excess)
    if departure.excess <= 1:
        return
    where = f"at {abs(departure.distance):g} standard deviations from the mean of {which} given all else"
    if departure.term is None:
        raise SiteError(
            f"handlers.collapse: {where}, the log density departs by {departure.share:.2g} of its size from the normal "
            f"one that its derivatives at zero give. Either a derivative rule in the model does not belong to its "
            "function; or entries depend on each other with these data that did not with the data of which the density "
            "was made: then make it anew, by `ac.LogDensity.from_model`."
        )
    name = names[departure.term]
    family = base.layout[name].distribution if name in {entry.name for entry in base.layout.sites} else ""
    what = (
        "is not finite"
        if np.isinf(departure.share)
        else f"departs by {departure.share:.2g} of its size from a quadratic"
    )
    raise SiteError(
        f"handlers.collapse: {which} cannot be integrated out exactly: {where}, the term of site {name!r}"
        f"{f' ({family})' if family else ''} {what}. {_EXACT}"
    )


@dataclass(frozen=True)
class Departure:
    """The distance of a term from a quadratic: `share` of its size, `excess` times what is allowed."""

    excess: float
    share: float
    term: int | None
    distance: float


@dataclass(frozen=True)
class Line:
    """The terms of a log density along a line.

    **Fields**
    - `terms`: shape `(1 + 2 * distance, term)`: at the mean, ahead, and behind.
    - `squared`: length of the direction, in standard deviations, squared.
    - `rounded`: slopes that a standard deviation makes, by size, times the mean, and times the step itself: of so much
      a rounding of the place is a part.
    """

    terms: np.ndarray
    squared: float
    rounded: np.ndarray

    def departure(self) -> Departure:
        """Return the largest departure: of each term from its quadratic far out, and of their sum from the normal."""
        with np.errstate(invalid="ignore", over="ignore"):
            of_terms = self._largest(self.terms, self._far_out())
            if of_terms.excess > 1:
                return of_terms
            total = self.terms.sum(axis=1, keepdims=True)
            drop = _PLACES[:, None] ** 2 * self.squared / 2
            of_sum = self._largest(total, total[0] - drop, np.abs(self.terms).sum(axis=1, keepdims=True))
        return Departure(of_sum.excess, of_sum.share, None, of_sum.distance)

    def _far_out(self) -> np.ndarray:
        """Find the quadratic through the mean and the two ends of the line."""
        middle, ahead, behind = self.terms[0], self.terms[len(DISTANCES)], self.terms[-1]
        part = _PLACES[:, None] / DISTANCES[-1]
        return middle + (ahead - behind) / 2 * part + ((ahead + behind) / 2 - middle) * part**2

    def _largest(
        self, values: np.ndarray, expected: np.ndarray, sizes: np.ndarray | None = None
    ) -> Departure:
        slack = np.abs(_PLACES) * self.rounded[0] + _PLACES**2 * self.rounded[1]
        slack *= np.finfo(float).eps * _SLACK
        size = np.maximum(np.maximum(np.abs(values), np.abs(values[0])) if sizes is None else sizes, 1.0)
        apart = np.abs(values - expected)
        excess = apart / (TOLERANCE * size + slack[:, None])
        if not np.isfinite(values).all():
            rows, terms = np.nonzero(~np.isfinite(values))
            nearest = int(np.argmin(np.abs(_PLACES[rows])))
            return Departure(np.inf, np.inf, int(terms[nearest]), float(_PLACES[rows[nearest]]))
        row, term = np.unravel_index(int(np.argmax(excess)), excess.shape)
        share = float(apart[row, term] / size[row, term])
        return Departure(float(excess[row, term]), share, int(term), float(_PLACES[row]))
