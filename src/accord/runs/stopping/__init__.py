"""Say when a run has drawn enough: the rules of `until=`, and who looks at them."""
