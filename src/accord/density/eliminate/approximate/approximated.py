"""Evaluate a model without some of its sites, which are integrated out by Laplace's approximation or by quadrature.

The mode of the sites given all others is found by Newton's method, from data and others that stay (`modes`). Two more
steps by the matrix at the mode then give it its derivatives: each step makes one more order of them exact, as by the
implicit function theorem. So gradient and second derivatives of the log density are those of the approximation itself,
with the change of the mode and of the determinant there.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ....core import keys
from ....core.errors import DistributionError, SiteError
from ....core.notice import Notice
from ....core.once import TracedOnce
from ....language.integrals import Integral, Quadrature
from ...latent import concrete
from ...program import AbstractProgram, ModelProgram, View, every_site
from ...rows.conditions import listed
from ...rows.row_files import in_memory
from ...unknowns import Unknowns, free_of
from ..at_once import at_once
from ..integrated import AbstractIntegrated, Around, Draw, term_of
from ..normal.draw import drawn_from
from ..normal.groups import Groups
from ..normal.independence import independent_groups
from ..normal.square import Conditional, curvature, factored
from .belonging import Belonging, Index, Look, index_of, looking, parts_of
from .modes import MAX_STEPS, Heights, find_modes
from .node_counts import check_nodes, told_of_nodes
from .node_draws import drawn
from .nodes import ByGroup, log_integrals

Once = Callable[[Mapping[str, Any], Mapping[str, Any]], jax.Array]
"""From all pieces of the whole model, and data, to numbers; traced once."""


class _Peak(NamedTuple):
    """The sites at their mode, and whether that was found, shape `()`."""

    normal: Conditional
    is_found: jax.Array


@dataclass(frozen=True, eq=False)
class ApproximatedProgram(AbstractIntegrated):
    """A model without the sites that are collapsed, by an approximation.

    **Fields**: as of `AbstractIntegrated`; `by`, which one; `index`, the group of each log probability, or None where
    there is one group, or where they are not known apart; `look`, compiled, finds it; `total`, the whole log density,
    and `each`, what each group adds to it, where that is known.
    """

    by: Integral
    index: Index | None
    look: Look
    total: Once
    each: Once

    @staticmethod
    def of(
        base: ModelProgram, groups: Groups, by: Integral, weight: float, data: Mapping[str, Any]
    ) -> "ApproximatedProgram":
        """Integrate the sites of these groups out of the whole model, whose data this is.

        **Raises** `SiteError` where a quadrature is asked for and entries depend on each other.
        """
        index = None
        if isinstance(by, Quadrature):
            check_nodes(groups, by)
        look = looking(base, groups)
        if groups.num > 1:
            try:
                index = at_once(index_of, base, groups, look, in_memory(data))
            except SiteError:
                # Laplace's approximation does without: the log density of all groups together tells their mode.
                if isinstance(by, Quadrature):
                    raise
        return replace(ApproximatedProgram.known(base, groups, by, index, weight), look=look)

    @staticmethod
    def known(
        base: ModelProgram, groups: Groups, by: Integral, index: Index | None, weight: float
    ) -> "ApproximatedProgram":
        """Make the program where it is known which groups log probabilities depend on."""
        belonging = None if index is None else Belonging.of(index, groups.num)

        def once(log_density: jax.Array) -> jax.Array:
            return log_density if weight == 1 else log_density / weight

        def total(pieces: Any, data: Any) -> jax.Array:
            first, *rest = base.terms_at(pieces, data).values()
            return once(sum(rest, start=first))

        def each(pieces: Any, data: Any) -> jax.Array:
            assert belonging is not None
            with concrete(base.constants):
                return once(belonging.sums(parts_of(base.sites(pieces, data)), groups.num))

        return ApproximatedProgram(
            base,
            groups,
            term_of(base),
            weight,
            by,
            index,
            looking(base, groups),
            TracedOnce(total),
            TracedOnce(each),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # What is traced or compiled does not travel.
        return ApproximatedProgram.known, (self.base, self.groups, self.by, self.index, self.weight)

    def around(self, others: Mapping[str, jax.Array], data: Mapping[str, Any], view: View) -> Around:
        """Integrate over the sites around their mode; -inf where none is found."""
        assert view is every_site  # rows are not cut: see `of_part`
        peak = self._peak(others, data)
        log_integral = peak.normal.log_volume
        if isinstance(self.by, Quadrature):
            (log_integral,) = self._log_integrals(peak.normal, [self.by.nodes], others, data)
        return Around(peak.normal.mean, jnp.where(peak.is_found, self.weight * log_integral, -jnp.inf))

    @property
    def told(self) -> tuple[Notice, ...]:
        """Say what a quadrature costs."""
        own = (told_of_nodes(self.groups, self.by),) if isinstance(self.by, Quadrature) else ()
        return (*self.base.told, *own)

    @property
    def if_degenerate(self) -> str:
        """Remedy where no mode is found."""
        return (
            f"no mode of {listed(self.groups.names)} given the other unknowns was found in {MAX_STEPS} steps of "
            "Newton's method, from the mean of the prior, at which the second derivatives are those of a peak. That is "
            "so of scales next to 0 or infinity, or a density with a kink. Keep scales away from these by their "
            "priors, take distributions with two derivatives, or leave the site out of `handlers.collapse`."
        )

    def of_part(
        self, hidden: Mapping[str, tuple[int, ...]], rows: Mapping[str, int], words: str
    ) -> AbstractProgram:
        """Return the model itself where no site in a part is integrated out.

        **Raises** `SiteError` where one is.
        """
        del rows
        if hidden:
            raise SiteError(
                f"handlers.collapse: {listed(hidden)} cannot be integrated out by {self.by} where {words}: the "
                "modes of all rows are found at once. Keep the rows together, or leave the sites out of "
                "`handlers.collapse`."
            )
        return self.base

    def check_exact(self, data: Mapping[str, Any]) -> None:
        """Raise `SiteError` where entries depend on each other otherwise than with the data of which it was made."""
        if self.groups.num == 1:
            return
        memory, which = in_memory(data), listed(self.groups.names)
        if self.index is None:
            groups = at_once(independent_groups, self.base, memory)
            changed = None if groups.axes is None or groups == self.groups else which
        else:
            found = at_once(index_of, self.base, self.groups, self.look, memory)
            others = [name for name, index in found.items() if not np.array_equal(index, self.index[name])]
            changed = f"site {others[0].removesuffix('/jacobian')!r}" if others else None
        if changed is not None:
            raise SiteError(
                f"handlers.collapse: with these data, log probabilities of {changed} depend on other entries of "
                f"{which} than with those of which the density was made. Make it anew, by `ac.LogDensity.from_model`."
            )

    def drawn(self, position: Unknowns, data: Mapping[str, Any]) -> Draw:
        """Draw the sites: from the normal distribution at their mode, or from the density that nodes integrate.

        The log density is that of the model by its approximate integral, so that the likelihood is that of the draw.
        Its quality is the log weight of a draw by Laplace, or what a quadrature changes by with half of its nodes.
        """
        others = self.others(position)
        peak, heights = self._peak(others, data), self._heights(others, data)
        if not isinstance(self.by, Quadrature):
            z, log_density = drawn_from(peak.normal, self.groups, position)
            known = heights(z)[0] - heights(peak.normal.mean)[0] - peak.normal.log_volume
            return Draw(z, known, {"log_weight": known - log_density})
        by_group = self._by_group(others, data)
        z = drawn(by_group, peak.normal, self.by.nodes, self._levels(position))
        counts = [self.by.nodes, self.by.nodes // 2]
        log_integral, by_half = self._log_integrals(peak.normal, counts, others, data)
        known = jnp.sum(by_group(z) - by_group(peak.normal.mean)) - log_integral
        return Draw(z, known, {"error": log_integral - by_half})

    def _log_integrals(
        self, normal: Conditional, counts: Sequence[int], others: Mapping[str, Any], data: Mapping[str, Any]
    ) -> list[jax.Array]:
        """Integrate over nodes around the modes, by each of these counts."""
        rows = max([self.groups.num, *(np.shape(each)[0] for each in data.values() if np.ndim(each))])
        fixed = self._by_group(*_fixed(others, data))
        return log_integrals(self._by_group(others, data), fixed, normal, counts, rows)

    def _levels(self, position: Unknowns) -> tuple[jax.Array, jax.Array]:
        """Draw two uniform numbers for each entry of the sites, by the numbers of a position."""
        free = free_of(position)
        key = keys.of_numbers(free)

        def stacked(use: int) -> jax.Array:
            found = {}
            for place, (name, shape) in enumerate(self.groups.sites):
                counters = jnp.arange(math.prod(shape), dtype=jnp.uint32)
                stream = jnp.full_like(counters, 2 * place + use)
                found[name] = keys.uniform(key, counters, stream, free.dtype).reshape(shape)
            return self.groups.stack(found)

        return stacked(0), stacked(1)

    def _peak(self, others: Mapping[str, jax.Array], data: Mapping[str, Any]) -> _Peak:
        """Find the mode, with its derivatives, and the second derivatives there."""
        fixed = _fixed(others, data)
        start = self._start(*fixed)
        modes = find_modes(self._heights(*fixed), start, are_apart=self.index is not None)
        # What is made of a search that failed is not used.
        z = jnp.where(modes.is_found[:, None], modes.z, start)
        is_found = jnp.all(modes.is_found)
        factor = factored(modes.precision)
        heights = self._heights(others, data)

        def log_density(z: jax.Array) -> jax.Array:
            return heights(z)[0]

        for _ in range(2):
            z = z + factor.solve_transposed(factor.solve(jax.grad(log_density)(z)))
        precision = curvature(log_density, z)[1]
        normal = Conditional(z, precision, factored(precision))
        return _Peak(normal, is_found & jnp.isfinite(normal.factor.log_det))

    def _start(self, others: Mapping[str, jax.Array], data: Mapping[str, Any]) -> jax.Array:
        """Take the means of the priors, each at the means of those before it; zero where there is none."""
        dtype = next(iter(others.values())).dtype
        pieces = {name: jnp.zeros(shape, dtype) for name, shape in self.groups.sites}
        for _ in self.groups.sites:
            with concrete(self.base.constants):
                sites = self.base.sites({**others, **pieces}, data)
            for name, shape in self.groups.sites:
                distribution = sites[name].distribution
                try:
                    mean = jnp.zeros(()) if distribution is None else distribution.mean
                except DistributionError:
                    continue
                if _fits(mean.shape, shape):
                    mean = jnp.broadcast_to(mean, shape)
                    pieces[name] = jnp.where(jnp.isfinite(mean), mean, 0).astype(dtype)
        return self.groups.stack(pieces)

    def _heights(self, others: Mapping[str, Any], data: Mapping[str, Any]) -> Heights:
        """Return the log density, up to what no collapsed site changes, and what each group adds to it."""

        def heights(z: jax.Array) -> tuple[jax.Array, jax.Array]:
            pieces = {**others, **self.groups.unstack(z)}
            if self.index is None:
                total = self.total(pieces, data)
                return total, jnp.broadcast_to(total, (self.groups.num,))
            each = self.each(pieces, data)
            return each.sum(), each

        return heights

    def _by_group(self, others: Mapping[str, Any], data: Mapping[str, Any]) -> ByGroup:
        """Return what each group adds, at one place for each, shape `(num,)`."""
        heights = self._heights(others, data)
        return lambda z: heights(z)[1]


def _fixed(others: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return numbers of which no derivatives are taken."""
    found: Any = jax.lax.stop_gradient((dict(others), dict(data)))
    return found


def _fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Return whether an array can be broadcast to a shape; that of a site in a scan may lack the steps."""
    pairs = zip(reversed(shape), reversed(whole), strict=False)
    return len(shape) <= len(whole) and all(size in (1, each) for size, each in pairs)
