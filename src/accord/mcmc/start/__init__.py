"""Choose where chains start: one file for each kind of start."""
