"""Change what a model means from the outside."""
