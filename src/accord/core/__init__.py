"""Hold what every package uses: errors, notices, keys, precision."""
