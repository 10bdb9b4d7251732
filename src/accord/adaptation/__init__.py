"""Learn in warm-up what a kernel needs: the step size, and the metric."""
