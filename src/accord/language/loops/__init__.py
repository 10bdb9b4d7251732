"""Sites inside of functions that JAX traces: scans and branches."""
