"""What several distributions of counts share."""
