"""Define distributions of counts and categories."""
