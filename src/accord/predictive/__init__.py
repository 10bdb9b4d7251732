"""Use draws: what the model predicts, how likely each observation was, what else it returns."""
