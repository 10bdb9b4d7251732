"""Guides that users write as models: traced beside the model, and fitted together with its parameters."""
