"""Distributions of counts that few models need."""
