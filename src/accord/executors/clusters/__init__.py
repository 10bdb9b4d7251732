"""Run work on the workers of a cluster: Dask's or Ray's."""
