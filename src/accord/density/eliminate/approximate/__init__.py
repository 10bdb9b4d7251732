"""Integrate out sites that are not normal given all others, by approximations that are asked for."""
