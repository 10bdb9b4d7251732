"""Put a prefix before the names of sites, plates and dims, so that one model can be part of another several times."""

from dataclasses import replace
from typing import Any, ClassVar, overload

import equinox as eqx

from ...core.errors import OptionError
from ...core.options import checks_options
from ..handler import AbstractHandler
from ..naming import check_text
from ..site import Site
from .handled import Target, Within, put_on_or_within


@overload
def scope(target: None = None, *, prefix: str) -> Within: ...
@overload
def scope(target: Target, *, prefix: str) -> Target: ...
@checks_options
def scope(target: Any = None, *, prefix: str) -> Any:
    """Put a prefix before the names of sites and plates: `mu` becomes `prefix/mu`.

    Rules put on inside know a site by its own name, those further out by the new one.

    **Arguments**
    - `target`: a model or function; without it, a context for the statements of a `with` inside a model.
    - `prefix`: not empty.

    **Raises** `OptionError` for a prefix that is no name.

    **Example**

    >>> print(handlers.scope(coin(4, heads), prefix="left").sites())
    site    kind      shape  dims       distribution
    left/p  latent    ()                Beta
    left/y  observed  (4,)   left/toss  Bernoulli
    """
    return put_on_or_within(target, Scope.of("handlers.scope", prefix), "scope")


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
