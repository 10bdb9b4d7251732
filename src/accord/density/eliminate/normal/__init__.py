"""Integrate out sites that are normal given all others."""
