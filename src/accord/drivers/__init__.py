"""Drive chains through compiled programs, and keep what they draw."""
