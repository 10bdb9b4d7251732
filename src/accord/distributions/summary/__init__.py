"""Compute summaries without a formula by quadrature or search."""
