"""Turn the arrays of neural networks into sites of a model."""
