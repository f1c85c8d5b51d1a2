"""Events in the models that other programs speak: AgentEvent, InsightsEvent, Untether. One way, pure."""
