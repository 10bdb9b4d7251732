"""Define distributions of angles and directions."""
