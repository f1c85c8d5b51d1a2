"""Who may do what, and what it may cost: rules, modes and limits."""
