"""Adapt the step size and the metric of a kernel during warm-up."""
