"""Say how stored runs name kernels and their blocks: reading one loads no kernel."""

KERNELS = (
    "NUTS",
    "HMC",
    "HMCECS",
    "ChEES",
    "MALA",
    "Barker",
    "RandomWalk",
    "Slice",
    "EllipticalSlice",
    "Ensemble",
    "DiscreteGibbs",
    "Gibbs",
    "MixedHMC",
    "Mixture",
    "ParticleGibbs",
    "PMMH",
    "Repeat",
    "SGHMC",
    "SGLD",
    "Tempered",
)
"""Kernels that a stored run may name."""

BY_BLOCKS = "Gibbs"
"""Name of the kernel whose `blocks` a manifest lists."""

BY_ESTIMATES = "PMMH"
"""Name of the kernel whose log densities are estimates by `particles`."""

WITHOUT_REFUSALS = ("SGHMC", "SGLD")
"""Kernels that refuse no step, so that steps of `step_size` make variances too large."""

REST = "rest"
"""Label of the block of `...`."""
