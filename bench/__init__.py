"""Speed, side by side with the peers in one run: `make bench`. Absolute times depend on the machine; ratios count."""
