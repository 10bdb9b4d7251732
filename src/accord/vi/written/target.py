"""Join a model and the guide that was written for it in one target, whose program has the data of both."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...density import LogDensity
from .guide import Written

_OF_GUIDE = "guide: "  # before the names of its data, which no argument of a model begins with


@dataclass(frozen=True, eq=False)
class WithGuide:
    """A log density with a guide. **Fields**: `density`; `guide`."""

    density: LogDensity
    guide: Written

    @property
    def data(self) -> Mapping[str, Any]:
        """Arrays of both, by name."""
        own = {f"{_OF_GUIDE}{name}": value for name, value in self.guide.data.items()}
        return {**self.density.data, **own}

    def with_data(self, data: Mapping[str, Any]) -> "WithGuide":
        """Return both with other arrays of the same shapes."""
        own = {name: data[f"{_OF_GUIDE}{name}"] for name in self.guide.data}
        theirs = {name: data[name] for name in self.density.data}
        return WithGuide(self.density.with_data(theirs), replace(self.guide, data=own))
