"""Which sites of a hierarchy to sample by their deviations, from what the data say of each."""
