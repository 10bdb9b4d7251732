"""Hold what every room needs and none may change: errors, notices, keys, precision."""
