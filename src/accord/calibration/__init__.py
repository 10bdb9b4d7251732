"""Check inference on simulated data with known truth: once, or often enough to test calibration."""
