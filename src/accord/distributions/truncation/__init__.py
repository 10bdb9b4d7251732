"""Truncate or censor any univariate distribution."""
