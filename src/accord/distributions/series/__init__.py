"""Define distributions of time series."""
