"""Judge a run by rules: each takes the evidence and yields notices."""
