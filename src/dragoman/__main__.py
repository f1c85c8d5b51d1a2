"""`python -m dragoman`."""

from dragoman._cli import main

main()
