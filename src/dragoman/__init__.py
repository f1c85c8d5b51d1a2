"""Drive, observe, record and replay any coding agent through one typed event model that loses nothing."""
