"""Make the arrays of neural networks sites of a model."""
