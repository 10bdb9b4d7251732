"""Normalising flows: maps whose parameters are learnt."""
