"""Plain values: what everything else speaks about. Nothing here does anything."""
