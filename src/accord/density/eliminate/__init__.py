"""Evaluate a model without some of its sites, which are integrated out."""
