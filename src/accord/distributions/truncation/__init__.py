"""Condition any univariate distribution on an interval, or see it only within one."""
