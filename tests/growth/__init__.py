"""What the thousandth costs, the first did too: counted, not timed, so that a busy machine decides nothing."""
