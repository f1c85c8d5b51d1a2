"""InsightsEvent, the model of specifications 000 and 002, as a file."""
