"""Exports: events as files that others read. Pure."""
