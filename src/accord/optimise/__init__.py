"""Find modes of posteriors."""
