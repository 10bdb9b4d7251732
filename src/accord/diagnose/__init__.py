"""Say what is wrong with a model or a run, and where."""
