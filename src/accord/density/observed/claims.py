"""Judge the observations of a traced model, for the data that it is given."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.errors import SiteError
from ..flat import Flat, sliced
from ..host import computed, on_host
from ..rows.row_files import FileRows
from .collect import Claim
from .judge import fault


@dataclass(frozen=True, eq=False)
class Claims:
    """The observations of a traced model. A copy in another process holds none: they were judged before.

    **Fields**
    - `claims`: the sites. `names`: the names of the data.
    - `flat`: from one number and the data to the arrays of all sites' parts.
    - `is_known`: whether these are here, as in every instance that has not travelled.
    """

    claims: tuple[Claim, ...] = ()
    names: tuple[str, ...] = ()
    flat: Flat | None = None
    is_known: bool = True

    @staticmethod
    def of(claims: Sequence[Claim], names: Sequence[str], flat: Flat) -> "Claims":
        """Keep what is needed of a flat program, whose last outputs are the arrays of all sites' parts."""
        num_arrays = sum(claim.num_arrays for claim in claims)
        outputs = flat.outputs[len(flat.outputs) - num_arrays :]
        return Claims(tuple(claims), tuple(names), sliced(flat, outputs))

    def __reduce__(self) -> tuple[Any, ...]:
        return Claims, ((), (), None, False)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Claims":
        return self  # a copy in this process may be given other data, which are to be judged

    def check(self, data: Mapping[str, Any]) -> None:
        """Raise `SiteError` for the first site that observes values outside of its support."""
        for claim, what in self.faults(data):
            raise SiteError(f"site {claim.name!r} (at {claim.where}): {what}")

    def faults(self, data: Mapping[str, Any]) -> Iterator[tuple[Claim, str]]:
        """Find the sites that observe values outside of their supports, and say what is wrong with these.

        Values that cannot be computed here, that a mask hides, or that are NaN or infinite are passed over.
        """
        if self.flat is None or not self.claims:
            return
        files = {name: value for name, value in data.items() if isinstance(value, FileRows)}
        given = [None if name in files else on_host(data.get(name)) for name in self.names]
        sources = dict(zip(self.flat.inputs[1:], self.names, strict=True))
        found = iter(zip(self.flat.outputs, computed(self.flat, [None, *given]), strict=True))
        for claim in self.claims:
            parts = [next(found) for _ in range(claim.num_arrays)]
            first = parts[0][0]
            source = sources.get(first, "") if isinstance(first, int) else ""
            what = fault(claim, [array for _, array in parts], source, files.get(source))
            if what:
                yield claim, what
