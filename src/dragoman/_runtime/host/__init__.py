"""What an agent may ask its client to do: files and terminals."""
