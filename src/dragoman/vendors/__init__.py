"""What one vendor's dialects share: content, tool results and items that look the same on the wire and on disk.
Pure, like the dialects that use it; nobody else does."""
