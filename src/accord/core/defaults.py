"""Define how many chains and draws a run has unless the user says otherwise."""

DEFAULT_CHAINS = 4
DEFAULT_DRAWS = 1000
"""Default chains, and kept draws of each."""

DEFAULT_WARMUP = 350
"""Default draws of warm-up of samplers whose chains do not learn from each other."""
