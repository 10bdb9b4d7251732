"""Start at the user's values: one mapping for all chains, or one for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...core.errors import DataError, OptionError
from ...core.options import checks_options
from ...density import LogDensity
from ...density.matching import Held
from ...optimise.mode import Mode
from .given import AbstractGiven, Values, aligned, as_values, kept_labels


@dataclass(frozen=True, eq=False)
class FromValues(AbstractGiven):
    """See `from_values`. `of_chains` holds one mapping for each chain by its number; one for all if `is_common`.

    `held` says how the entries of sites are labelled, where that is known.
    """

    of_chains: tuple[Values, ...]
    is_common: bool
    held: Mapping[str, Held] = field(default_factory=dict)
    kind: ClassVar[str] = "from_values"
    origin: ClassVar[str] = "with the values given by `init=`"

    def values_for(self, chain: int, density: LogDensity) -> tuple[Values, str]:
        """Look values up by the chain's number, so that a chain begins at the same place without the others."""
        if self.is_common:
            return aligned(self.of_chains[0], self.held, density, "init"), "init"
        if chain >= len(self.of_chains):
            raise DataError(
                f"init: there are values for {len(self.of_chains)} chains, and none for chain {chain}. Give a list "
                "with one mapping for each chain, by its number from 0 on, or one mapping for all."
            )
        return self.of_chains[chain], f"init of chain {chain}"

    def kept(self) -> dict[str, Any]:
        """All values; JSON holds every digit of them."""
        plain = [{name: value.tolist() for name, value in values.items()} for values in self.of_chains]
        return {"values": plain[0] if self.is_common else plain, **kept_labels(self.held)}


def from_mode(mode: Mode) -> FromValues:
    """Start all chains at a mode; its entries are matched by the labels of its model, or by position if pickled."""
    held: dict[str, Held] = {}
    if mode.density is not None:
        labels = dict(mode.density.layout.labels)
        of_sites = {e.name: Held.of(e.shape, e.dims, labels) for e in mode.density.layout.sites}
        held = {name: each for name, each in of_sites.items() if any(each.labels)}
    return FromValues((as_values(mode.values, "init"),), is_common=True, held=held)


@checks_options
def from_values(values: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> FromValues:
    """Start at given values of the latent sites, in the model's space.

    A chain with values for every site starts exactly there. Missing sites are drawn as by `from_uniform()`, and the
    chain takes the best of the first ten points with a finite log density and gradient. It keeps the given values, even
    if another mode has more mass.

    **Arguments**: `values`, a mapping from site to value for all chains, such as the mode; or a list of mappings with
    entry k for chain k. Each value has exactly its site's shape. For a site under `handlers.reparam` give its own
    value, or the value of its auxiliary site.

    **Raises** `DataError` for values that are not finite numbers; (when the run starts, before it is compiled) for a
    name that is no latent site, a wrong shape, a value outside of the support, and a chain without values.
    `OptionError` for an empty list.

    **Example**

    >>> begin = infer.from_values({"mu": 5.0, "tau": 1.0, "z": np.zeros(8)})
    >>> infer.sample(eight_schools(sigma, y), init=begin, draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """
    if isinstance(values, Mapping):
        return FromValues((as_values(values, "init"),), is_common=True)
    if not isinstance(values, Sequence) or isinstance(values, str) or not values:
        raise OptionError(
            "from_values takes a mapping from latent sites to values, or a list of them, one for each chain; got "
            f"{values!r}."
        )
    found = tuple(as_values(each, f"init of chain {number}") for number, each in enumerate(values))
    return FromValues(found, is_common=False)
