"""Find modes of posteriors and maxima of likelihoods, with standard errors."""
