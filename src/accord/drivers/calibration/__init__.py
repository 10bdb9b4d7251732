"""Hold inference against simulated data, of which the truth is known: once, or often enough to test calibration."""
