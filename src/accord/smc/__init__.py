"""Move populations of particles from the prior to the posterior: sequential Monte Carlo samplers."""
