"""From bytes to messages and back, for any dialect. Pure: no I/O, no clock."""
