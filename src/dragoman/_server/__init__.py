"""The server: one page, and an API, for everything that runs and everything that ran on this machine."""
