"""Agents of acp_agents.toml that install quickly and take a model endpoint, each driven through a turn of text and one
with a tool: `make test-agents`. What the protocol's dialect does in depth, tests/real shows."""
