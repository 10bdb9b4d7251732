"""Hold arrays by the names of sites, as a mapping whose errors suggest the nearest name."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from .errors import OptionError, suggest
from .tracebacks import entry_points


@entry_points
class BySite(Mapping[str, np.ndarray]):
    """Base class of results that map sites to arrays: those of its field `sites`.

    **Class variables**: `where`, words for the place of the sites, in errors.
    """

    sites: Any
    where: ClassVar[str] = "in these draws"

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the array of a site. Raises `OptionError` for an unknown name."""
        try:
            return self.sites[name]
        except KeyError:
            raise OptionError(
                f"there is no site {name!r} {self.where}.{suggest(name, self.sites)} "
                f"There are: {', '.join(self.sites)}."
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.sites)

    def __len__(self) -> int:
        return len(self.sites)

    def __contains__(self, name: object) -> bool:
        return name in self.sites
