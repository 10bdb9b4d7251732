"""Put a prefix before the names of sites, plates and dims, so that one model can be part of another several times."""

from dataclasses import replace
from typing import ClassVar

import equinox as eqx

from ...core.errors import OptionError
from ..handler import AbstractHandler
from ..naming import check_text
from ..site import Site


class Scope(AbstractHandler):
    """Rename the sites inside: `mu` is `prefix/mu` to everything further out."""

    prefix: str = eqx.field(static=True)
    renames: ClassVar[bool] = True

    @classmethod
    def of(cls, word: str, prefix: object) -> "Scope":
        """Check the prefix.

        **Raises** `OptionError` for what is not a name.
        """
        if not isinstance(prefix, str) or not prefix.strip("/"):
            raise OptionError(
                f'{word}: the prefix must be a string that is not empty, like "a", which makes "mu" to "a/mu"; '
                f"got {prefix!r}."
            )
        check_text(f"{word}: the prefix", prefix, OptionError)
        return cls(prefix)

    def process(self, site: Site) -> Site:
        """Rename the site, its dims, and the plates around it, as far as they are inside."""
        plates = tuple(replace(frame, name=self.prefixed(frame.name)) for frame in site.plates)
        steps = tuple(
            replace(frame, name=self.prefixed(frame.name)) if frame.name else frame for frame in site.steps
        )
        dims = tuple((self.prefixed(name), labels) for name, labels in site.dims)
        return replace(site, name=self.prefixed(site.name), plates=plates, steps=steps, dims=dims)

    def prefixed(self, name: str) -> str:
        """Return the name as it is known further out."""
        return f"{self.prefix}/{name}"
