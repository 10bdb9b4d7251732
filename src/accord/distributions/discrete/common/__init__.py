"""Code that several distributions of counts share."""
