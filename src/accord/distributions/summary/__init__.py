"""Compute by quadrature or search what distributions announce and have no formula for."""
