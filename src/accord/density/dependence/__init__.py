"""Find which parts of a model depend on which, by tracing."""
