"""Match exchangeable components between the draws of a run."""
