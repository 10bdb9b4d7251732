"""Define the facts about one site of a model while it is visited."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Array

from ..bijectors import AbstractBijector
from ..distributions import AbstractDistribution
from .treatment import Computed, Free, Reparameterised, Role, Treatment

if TYPE_CHECKING:
    from .choice import AbstractChoice

Kind = Literal["sample", "deterministic", "factor", "key", "subsample"]


@dataclass(frozen=True)
class Frame:
    """A plate as a site sees it: `dim` is its batch dimension, counted from the right (-1, -2, ...); 0 for a scan.

    `chunk` is how many entries at most a log density is to evaluate at a time; None is all. `within`, of a scan, is how
    many of the site's plates are inside of it. `whole`, of a plate that takes a part of its entries, is the number of
    all; else None.
    """

    name: str
    size: int
    dim: int
    coords: tuple[Any, ...] | None = None
    chunk: int | None = None
    within: int = 0
    whole: int | None = None


@dataclass(frozen=True)
class Site:
    """One visited statement of a model; handlers return changed copies of it.

    **Fields**
    - `kind`: `"sample"`, `"deterministic"` or `"factor"`; `"key"` and `"subsample"` are random keys that the model and
      its plates ask for.
    - `name`: unique within the model.
    - `distribution`: of a sample site; its batch shape is a suffix of `batch_shape` once the site is settled.
    - `value`: shape batch + event for a sample site, any shape for the others; `None` until it is chosen.
    - `is_observed`: the value is data, by `obs=` or `condition`.
    - `obs_mask`: of a site that is observed in part, which entries; the mask of a settled site has it.
    - `is_intervened`: the value was set by `do`; the site has no log density.
    - `role`: of `language/treatment.py`: that it is a parameter of `ac.param`, or the auxiliary of another site.
    - `treatment`: of `language/treatment.py`: what inference does with it, such as `Free()`.
    - `is_hidden`: `block` keeps the site from the handlers outside of it.
    - `plates`: the plates around the site, innermost first.
    - `steps`: the scans whose steps are the first axes of the value, outermost first.
    - `dims`: names of the axes that no plate or scan has, from left to right, each with its labels or None.
    - `mask`: bool, broadcastable to the batch shape; false entries have no log density. `None` means all true.
    - `scale`: factor on the log density, broadcastable to the batch shape. `None` means one.
    - `is_weighted_outside`: handlers around the scan or branch that it is in weigh or mask it.
    - `choose`: settles the value of a site that was given none; the outermost density or the innermost seed.
    - `log_det`: log |d value / d position| where the value came from an unconstrained position, by batch entry. For
      whole numbers it is 0, or -inf where they are outside of the support and `value` is some value inside.
    - `wanted`: the value that a site to be reparameterised shall have; its auxiliary is put where that follows.
    - `where`: file and line of the statement.

    **Example**

    >>> site = handlers.trace(handlers.seed(coin(4, heads), 0)).get_trace()["y"]
    >>> site.kind, site.is_observed, [plate.name for plate in site.plates]
    ('sample', True, ['toss'])
    """

    kind: Kind
    name: str
    distribution: AbstractDistribution | None = None
    value: Any = None
    is_observed: bool = False
    obs_mask: np.ndarray | None = None
    is_intervened: bool = False
    role: Role | None = None
    treatment: Treatment = field(default_factory=Free)
    is_hidden: bool = False
    plates: tuple[Frame, ...] = ()
    steps: tuple[Frame, ...] = ()
    dims: tuple[tuple[str, tuple[Any, ...] | None], ...] = ()
    mask: Array | np.ndarray | bool | None = None
    scale: Array | np.ndarray | float | None = None
    is_weighted_outside: bool = False
    choose: "AbstractChoice | None" = None
    log_det: Array | None = None
    wanted: Any = None
    where: str = ""

    @property
    def lengths(self) -> tuple[int, ...]:
        """The first axes of the value, which are the steps of scans."""
        return tuple(frame.size for frame in self.steps)

    @property
    def plate_shape(self) -> tuple[int, ...]:
        """The batch shape that the plates alone make: 1 where no plate took the dimension."""
        sizes = {frame.dim: frame.size for frame in self.plates}
        return tuple(sizes.get(dim, 1) for dim in range(min(sizes, default=0), 0))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The batch shape of a settled sample site: its distribution's broadcast with the plates'."""
        if self.distribution is None:
            return self.plate_shape
        return np.broadcast_shapes(self.distribution.batch_shape, self.plate_shape)

    @property
    def bijector(self) -> AbstractBijector | None:
        """The map that `infer_config` sets in place of that of the support, or None."""
        return self.treatment.bijector if isinstance(self.treatment, Free | Reparameterised) else None

    @property
    def is_latent(self) -> bool:
        """Return whether the site has no value of its own, so that inference is to find it."""
        is_computed = isinstance(self.treatment, Computed)  # from other sites, wherever it is asked for
        return self.kind == "sample" and self.value is None and not is_computed
