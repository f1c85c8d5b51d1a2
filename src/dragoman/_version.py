"""The version of this package, in a file of its own so that reading it costs nothing."""

__version__ = "0.1.0"
