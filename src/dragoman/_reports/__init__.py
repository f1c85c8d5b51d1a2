"""Events for people: transcript, totals, changes, and a stream enriched by its session file."""
