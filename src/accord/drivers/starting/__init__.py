"""Choose where chains begin: one file for each kind of start, on one contract."""
