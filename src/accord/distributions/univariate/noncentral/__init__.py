"""Noncentral distributions."""
