"""Evaluate a model without some of its sites, which are integrated out: they are normal given all others.

The log density of the others is the whole log density at the mean of these sites, plus the logarithm of the volume of
their normal distribution. Mean and precision come from derivatives of the model's own log density (`square`), once it
was found to be quadratic (`exactness`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax

from ...core.errors import SiteError
from ..program import AbstractProgram, ModelProgram, View, every_site
from ..rows.conditions import listed
from ..rows.row_files import in_memory
from ..unknowns import Unknowns
from .at_once import at_once
from .integrated import AbstractIntegrated, Around, Draw, term_of
from .normal.draw import drawn_from
from .normal.exactness import Look, check_exact, looking
from .normal.groups import Groups
from .normal.square import Conditional, complete


@dataclass(frozen=True, eq=False)
class CollapsedProgram(AbstractIntegrated):
    """A model without the sites that are collapsed, exactly.

    **Fields**: as of `AbstractIntegrated`; `look`, compiled, tells whether it is exact.
    """

    look: Look

    @staticmethod
    def of(base: ModelProgram, groups: Groups, weight: float) -> "CollapsedProgram":
        """Integrate the sites of these groups out of the whole model."""
        return CollapsedProgram(base, groups, term_of(base), weight, looking(base, groups))

    def __reduce__(self) -> tuple[Any, ...]:
        # What is compiled does not travel.
        return CollapsedProgram.of, (self.base, self.groups, self.weight)

    def around(self, others: Mapping[str, jax.Array], data: Mapping[str, Any], view: View) -> Around:
        """Integrate over the sites by the volume of their normal distribution, around its mean."""
        normal = self._conditional(others, data, view)
        return Around(normal.mean, self.weight * normal.log_volume)

    @property
    def if_degenerate(self) -> str:
        """Remedy where the precision of the sites is none."""
        name = self.groups.names[0]
        return (
            f"by its second derivatives, the log density does not fall like a normal one along {name!r}: the other "
            "unknowns leave it no variance here, or an infinite one. Keep scales away from 0 and infinity by "
            "their priors, or leave the site out of `handlers.collapse`."
        )

    def of_part(
        self, hidden: Mapping[str, tuple[int, ...]], rows: Mapping[str, int], words: str
    ) -> AbstractProgram:
        """Return the program without those of the sites that are in a part, or the model itself for none."""
        if not hidden:
            return self.base
        groups = self.groups.part(hidden)
        if not groups.are_along(rows):
            raise SiteError(
                f"handlers.collapse: {listed(hidden)} cannot be integrated out row by row, where {words}: entries of "
                "different rows depend on each other given all other unknowns, so that all rows are needed at once. "
                "Keep the rows together, or leave the sites out of `handlers.collapse`."
            )
        return replace(self, groups=groups)

    def check_exact(self, data: Mapping[str, Any]) -> None:
        """Raise `SiteError` where the whole log density is not quadratic in the collapsed sites."""
        at_once(check_exact, self.base, self.groups, self.look, in_memory(data))

    def drawn(self, position: Unknowns, data: Mapping[str, Any]) -> Draw:
        """Draw the sites from their normal distribution."""
        normal = self._conditional(self.others(position), data, every_site)
        return Draw(*drawn_from(normal, self.groups, position))

    def _conditional(
        self, others: Mapping[str, jax.Array], data: Mapping[str, Any], view: View
    ) -> Conditional:
        def log_density(z: jax.Array) -> Any:
            first, *rest = self.base.terms_at({**others, **self.groups.unstack(z)}, data, view).values()
            total = sum(rest, start=first)
            return total if self.weight == 1 else total / self.weight

        dtype = jax.tree.leaves(dict(others))[0].dtype  # of arrays, or of choices that hold them
        return complete(log_density, self.groups.num, self.groups.size, dtype)
