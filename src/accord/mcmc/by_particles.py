"""Find the draws and estimates by particles that a kernel needs of a density; few runs load it, and filters with it."""

from ..density import LogDensity
from ..kernels.formula import Marginal, Trajectory
from ..particles.conditional_loop import ConditionalWay
from ..particles.marginal import MarginalDraw
from ..particles.posterior import TrajectoryDraw


def trajectory_of(density: LogDensity, formula: Trajectory) -> TrajectoryDraw:
    """Return the draw of the states of a series of a density. Raises as `TrajectoryDraw.of`."""
    way = ConditionalWay(
        formula.particles, formula.resampling, formula.has_ancestor_sampling, "ParticleGibbs"
    )
    return TrajectoryDraw.of(density, formula.names, way)


def marginal_of(density: LogDensity, formula: Marginal) -> MarginalDraw:
    """Return the estimate of the log density of parameters. Raises as `MarginalDraw.of`."""
    functions = formula.proposal, formula.lookahead
    return MarginalDraw.of(density, formula.names, formula.particles, *functions, "PMMH")
