"""Define univariate distributions of real numbers."""
