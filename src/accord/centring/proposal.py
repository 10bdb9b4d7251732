"""Hold proposed reparameterisations of a hierarchy, to read or to apply."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..core.tracebacks import entry_points
from ..language.reparam.base import AbstractReparam


@dataclass(frozen=True, eq=False)
class Judged:
    """Judgement on a site whose scale is unknown.

    **Fields**
    - `site`: its name. `scale_from`: the latent sites that its scale depends on.
    - `share`: of what is known about each entry, given the other sites, the part that is from the data; in [0, 1],
      shape of the auxiliary variable.
    - `config`: what is proposed for it, by name; empty where it is to stay as it is.
    """

    site: str
    scale_from: tuple[str, ...]
    share: np.ndarray
    config: Mapping[str, AbstractReparam]

    @property
    def decision(self) -> str:
        """Describe the decision in words."""
        if not self.config:
            return "as it is"
        num_kept = int(np.sum(self.share > 0.5))
        is_mixed = any(isinstance(getattr(each, "centered", None), tuple) for each in self.config.values())
        return f"non-centred, but for {num_kept} of {self.share.size}" if is_mixed else "non-centred"


@entry_points
@dataclass(frozen=True, eq=False)
class Proposal(Mapping[str, AbstractReparam]):
    """Proposed reparameterisation of the sites of a model; prints a table with reasons.

    It is the `config` that `handlers.reparam` takes. `rows` has an entry for each site whose scale is unknown; but
    sites in the steps of a scan are `in_steps`, and not judged.

    **Example**

    >>> proposal = reparam.propose(centred_schools(sigma, y))
    >>> {row.site: row.decision for row in proposal.rows}
    {'theta': 'non-centred'}
    """

    rows: tuple[Judged, ...]
    in_steps: tuple[str, ...] = ()

    @property
    def config(self) -> dict[str, AbstractReparam]:
        """Proposed config by site."""
        return {name: each for row in self.rows for name, each in row.config.items()}

    def __getitem__(self, name: str) -> AbstractReparam:
        return self.config[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.config)

    def __len__(self) -> int:
        return len(self.config)

    def __str__(self) -> str:
        if not self.rows:
            return _around_steps(self.in_steps) or (
                "No site has a location and a scale of which the scale depends on another latent site."
            )
        header = ("site", "scale from", "share of the data", "proposed")
        cells = [(row.site, ", ".join(row.scale_from), _range(row.share), row.decision) for row in self.rows]
        widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (header, *cells)
        ]
        return "\n".join(filter(None, (*lines, _around_steps(self.in_steps))))

    __repr__ = __str__


def _range(share: np.ndarray) -> str:
    low, high = np.min(share, initial=1.0), np.max(share, initial=0.0)
    return f"{low:.2f}" if share.size == 1 else f"{low:.2f} to {high:.2f}"


def _around_steps(sites: tuple[str, ...]) -> str:
    """Write what can be done about sites in the steps of a scan; empty without any."""
    if not sites:
        return ""
    config = ", ".join(f'"{site}": reparam.LocScale()' for site in sites)
    return (
        f"Not judged, in the steps of a scan: {', '.join(sites)}. Compare the draws with those of "
        f"`ac.scan(handlers.reparam(step, {{{config}}}), ...)`."
    )
