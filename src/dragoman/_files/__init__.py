"""What is kept on disk, and reading it again."""
