"""Draw from one of several distributions, or from a gate."""
