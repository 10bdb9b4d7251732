"""Look for what is wrong with a model before anything is drawn: one file for each check, on one context."""
