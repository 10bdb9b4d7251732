"""The Student t distribution function, and the chi distribution that scales it."""
