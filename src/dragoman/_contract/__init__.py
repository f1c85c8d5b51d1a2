"""What always holds of a stream of events."""
