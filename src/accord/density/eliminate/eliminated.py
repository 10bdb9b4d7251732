"""Define what programs without some sites of a model have in common."""

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
from jax.core import Tracer

from ...core.notice import Notice
from ..program import ModelProgram, Recorded
from ..stage import AbstractStaged
from ..unknowns import Unknowns, pieces_at


@dataclass(frozen=True, eq=False)
class AbstractEliminated(AbstractStaged):
    """A model without some of its sites, which are integrated or summed out; its data is that of the whole model.

    **Fields**: `base`, the whole model.
    """

    base: ModelProgram

    @abc.abstractmethod
    def check_exact(self, data: Mapping[str, Any]) -> None:
        """Raise `SiteError` where the log density would not be the model's."""

    def check(self, data: Mapping[str, Any]) -> tuple[Notice, ...]:
        """Check as the whole model does; and, unless JAX traces the data, that the elimination is exact."""
        notices = self.base.check(data)
        if not any(isinstance(value, Tracer) for value in data.values()):
            self.check_exact(data)
        return notices

    def others(self, position: Unknowns) -> dict[str, jax.Array]:
        """Cut a position into the pieces of the sites that are left."""
        return pieces_at(position, self.layout)


def without(found: Recorded, log_density: jax.Array) -> Recorded:
    """Take the log density of a draw given the others out of what is kept with it."""
    known = found.known and (found.known[0], found.known[1] - log_density)
    return found._replace(known=known)
