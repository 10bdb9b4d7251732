"""Define distributions of vectors and matrices."""
