"""The normal distribution function and its relatives."""
