"""Hold the rules by which a run is judged: each takes the evidence and yields what a user must know."""
