"""Say for each public name of NumPyro whether accord has it, and in the place of those that it lacks what to write."""
