"""Run work in several processes at once, which live and die together."""
