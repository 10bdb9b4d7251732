"""Choose which sites of a hierarchy to sample in a non-centred form."""
