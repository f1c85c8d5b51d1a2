"""What draws on a terminal and listens to its keyboard."""
