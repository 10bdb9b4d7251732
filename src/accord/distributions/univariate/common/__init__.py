"""What several univariate distributions share."""
