"""Take steps to the parameters of a guide, a file each."""
