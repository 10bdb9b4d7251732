"""Hold the words of other libraries with ours. It is loaded by the first error that could use it."""
