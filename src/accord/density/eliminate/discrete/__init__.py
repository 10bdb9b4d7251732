"""Sum discrete unknowns out of a log density."""
