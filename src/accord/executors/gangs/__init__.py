"""Run work in several processes at once, which start and end together."""
