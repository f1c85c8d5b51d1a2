"""What the user has set, in files of their own and in the environment."""
