"""Drift: what agents write that this version does not know, against what their tested versions are known to write."""
