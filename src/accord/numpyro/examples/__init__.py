"""Stand for `numpyro.examples`, whose data are read from files of yours."""
