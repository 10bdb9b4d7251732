"""Change the shape, the support or the weight of any distribution."""
