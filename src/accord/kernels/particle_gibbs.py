"""Draw the states of a series given all other unknowns, by particles beside the present ones."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from ..core.errors import OptionError
from ..core.options import checks_fields, positive_count
from ..core.position import Position
from ..core.stats import Stat
from ..resampling import CONDITIONAL, AbstractConditionalResampling, ConditionalSystematic
from .drawn import AbstractDrawn
from .formula import Trajectory

_MOST_PARTICLES = 2**16


@checks_fields
class ParticleGibbs(AbstractDrawn):
    """Particle Gibbs: new states of a series written by `ac.scan`, given all other unknowns, as a block of `Gibbs`.

    Particles go through the scan beside a reference, the states where the chain stands, and one of the trajectories is
    drawn. This keeps the posterior exactly, with any number of particles from 2 on; more change more of the states in a
    draw. The block names all states of the scan; unknowns before it that lead to its first carry may be in the block
    too, and else are moved by others. States may be discrete.

    **Fields**
    - `particles`: how many, with the reference; in [2, 65536].
    - `resampling`: `infer.ConditionalSystematic()` or `ConditionalMultinomial()`: how the other ancestors are drawn
      given that of the reference.
    - `has_ancestor_sampling`: whether the reference may get another past at each step, which changes early states as
      often as late ones with few particles. The densities of states must be there, and the carry holds the last few
      states; else take False, with as many particles as there are steps.

    `draws.stats["x.share_changed"]` is the share of the block's numbers that a draw changed.

    **Raises** `OptionError` before a run for a density that is cut or summed over; `SiteError` for a block that is no
    series, and where ancestor sampling would have to look at the whole future.

    **Source**: Andrieu, Doucet & Holenstein (2010), J. R. Statist. Soc. B 72(3), 269-342; ancestor sampling, Lindsten,
    Jordan & Schön (2014), J. Mach. Learn. Res. 15, 2145-2184; systematic resampling given a reference, Chopin & Singh
    (2015), Bernoulli 21(3), 1855-1883.

    **Example**

    >>> blocks = infer.Gibbs({"x": infer.ParticleGibbs(particles=10), ...: infer.NUTS()})
    >>> infer.sample(level(flow), blocks, draws=200, chains=2, quiet=True)
    <Draws of level: 2 chains x 200 draws; drift, x[4]>
    """

    stats: ClassVar[tuple[Stat, ...]] = (Stat("share_changed"),)
    is_plain: ClassVar[bool] = False

    particles: int = eqx.field(static=True, default=20)
    resampling: AbstractConditionalResampling = eqx.field(
        static=True, default=ConditionalSystematic(), kw_only=True
    )
    has_ancestor_sampling: bool = eqx.field(static=True, default=True, kw_only=True)

    def __check_init__(self) -> None:
        if positive_count("ParticleGibbs: particles", self.particles, maximum=_MOST_PARTICLES) < 2:
            raise OptionError(
                "ParticleGibbs: particles must be at least 2: one is the reference, which then never changes."
            )
        if not isinstance(self.resampling, AbstractConditionalResampling):
            raise OptionError(
                "ParticleGibbs: resampling must keep the reference, as infer.ConditionalSystematic() and "
                f"ConditionalMultinomial() do; got {self.resampling!r}. Other schemes would bias the draws."
            )
        if not isinstance(self.has_ancestor_sampling, bool):
            raise OptionError(
                f"ParticleGibbs: has_ancestor_sampling must be True or False, got {self.has_ancestor_sampling!r}."
            )

    @property
    def formulas(self) -> tuple[Trajectory, ...]:
        """See `AbstractKernel.formulas`."""
        assert self.places is not None, "a kernel that draws is placed before its run"
        return (Trajectory(self.places.names, self.particles, self.resampling, self.has_ancestor_sampling),)

    def described(self) -> dict[str, Any]:
        """See `AbstractKernel.described`."""
        return {
            "name": type(self).__name__,
            "particles": self.particles,
            "resampling": type(self.resampling).__name__,
            "has_ancestor_sampling": self.has_ancestor_sampling,
        }

    @classmethod
    def from_described(cls, options: dict[str, Any], build: Any) -> "ParticleGibbs":
        """See `AbstractKernel.from_described`."""
        del build
        name = options["resampling"]
        if name not in CONDITIONAL:
            raise OptionError(
                f"ParticleGibbs: the run used the resampling {name!r}, which is not accord's. Give the sampler, as in "
                "`infer.resume(path, model, sampler=...)`."
            )
        return cls(
            options["particles"],
            resampling=CONDITIONAL[name](),
            has_ancestor_sampling=options["has_ancestor_sampling"],
        )

    def measured(self, old: Position, new: Position, is_good: Any, dtype: Any) -> Any:
        """See `AbstractDrawn.measured`: the share of numbers that changed."""
        changed = [old.free != new.free]
        if old.whole is not None and new.whole is not None:
            changed.append(old.whole != new.whole)
        return jnp.mean(jnp.concatenate(changed).astype(dtype))
