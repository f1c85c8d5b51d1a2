"""The library: every session of every agent in one place, kept, found and counted."""
