"""Define distributions of random measures and their partitions."""
