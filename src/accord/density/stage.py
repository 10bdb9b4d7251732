"""Change how the program of a model is evaluated, in steps that wrap each other and leave the rest as it is."""

import abc
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import jax
import numpy as np

from ..core.notice import Notice
from ..core.precision import Precision
from ..core.tree import shapes
from .layout import Layout
from .program import AbstractProgram, ModelProgram, Recorded, View, every_site
from .unknowns import Unknowns
from .weights import Parts

P = TypeVar("P", bound=AbstractProgram)


class AbstractStage(abc.ABC):
    """One step between a model and its density. Frozen."""

    @abc.abstractmethod
    def is_wanted(self, layout: Layout) -> bool:
        """Return whether anything in a layout asks for it."""

    @abc.abstractmethod
    def applied(self, program: AbstractProgram, data: Mapping[str, Any]) -> AbstractProgram:
        """Wrap a program, whose data this is.

        **Raises** `SiteError`, `ModelError` or `OptionError` where the log density would not be the model's.
        """


@dataclass(frozen=True, eq=False)
class AbstractStaged(AbstractProgram):
    """A program made of another one, `base`, to which it leaves all that it does not do itself.

    Its data are those of its base, unless `data_of_base` says how to make them.
    """

    base: AbstractProgram
    name: str = field(init=False)
    layout: Layout = field(init=False)
    precision: Precision = field(init=False)
    constants: Mapping[str, np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        """Copy what the base is known by."""
        for name in ("name", "precision", "constants"):
            object.__setattr__(self, name, getattr(self.base, name))
        object.__setattr__(self, "layout", self.layout_of(self.base))

    def layout_of(self, base: AbstractProgram) -> Layout:
        """Return the layout of positions, from the base's."""
        return base.layout

    def data_of_base(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the data as the base takes it."""
        return data

    def stage(self, kind: type[P]) -> P | None:
        """Find the stage of this kind: this program, or one that it was made of."""
        return self if isinstance(self, kind) else self.base.stage(kind)

    @property
    def told(self) -> tuple[Notice, ...]:
        """What the base tells."""
        return self.base.told

    @property
    def whole(self) -> ModelProgram | None:
        """The model that all stages began with."""
        return self.base.whole

    @property
    def written(self) -> Any:
        """The user's function."""
        return self.base.written

    def whole_data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the model's data, in memory."""
        return self.base.whole_data(self.data_of_base(data))

    def pieces(self, position: Unknowns) -> dict[str, jax.Array]:
        """Cut a position as the base does."""
        return self.base.pieces(position)

    def terms_at(
        self, pieces: Mapping[str, jax.Array], data: Mapping[str, Any], view: View = every_site
    ) -> dict[str, jax.Array]:
        """Evaluate the terms of the base."""
        return self.base.terms_at(pieces, self.data_of_base(data), view)

    def parts_at(
        self,
        pieces: Mapping[str, jax.Array],
        data: Mapping[str, Any],
        view: View = every_site,
        beside: Collection[str] = (),
    ) -> Parts:
        """Evaluate the parts of the base."""
        return self.base.parts_at(pieces, self.data_of_base(data), view, beside)

    def check_separate(self, data: Mapping[str, Any]) -> None:
        """Raise as the base does, which looks at shapes: its data are not made for that."""
        self.base.check_separate(jax.eval_shape(self.data_of_base, shapes(dict(data))))

    def of_part(
        self, hidden: Mapping[str, tuple[int, ...]], rows: Mapping[str, int], words: str
    ) -> AbstractProgram:
        """Return the program of a part of the base."""
        return self.base.of_part(hidden, rows, words)

    def values(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Compute the values of the base."""
        return self.base.values(position, self.data_of_base(data))

    def means(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Compute the means of the base."""
        return self.base.means(position, self.data_of_base(data))

    def recorded(self, position: Unknowns, data: Mapping[str, Any]) -> Recorded:
        """Compute what the base records."""
        return self.base.recorded(position, self.data_of_base(data))

    def beyond(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Estimate what the base does."""
        return self.base.beyond(position, self.data_of_base(data))

    def positions(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Invert the maps of the base."""
        return self.base.positions(values, self.data_of_base(data))

    def non_finite(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Count as the base does."""
        return self.base.non_finite(position, self.data_of_base(data))

    def check(self, data: Mapping[str, Any]) -> tuple[Notice, ...]:
        """Check as the base does."""
        return self.base.check(self.data_of_base(data))

    @property
    def can_check(self) -> bool:
        """Return whether the base can."""
        return self.base.can_check

    def rebuilt(
        self, data: Mapping[str, Any], precision: Precision | None = None
    ) -> tuple[AbstractProgram, dict[str, Any], tuple[Notice, ...]]:
        """Build the base again, without any stage."""
        return self.base.rebuilt(data, precision)
