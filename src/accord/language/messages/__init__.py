"""Find the lines of users, and write the advice in messages."""
