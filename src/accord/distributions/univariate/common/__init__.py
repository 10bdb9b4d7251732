"""Code that several univariate distributions share."""
