"""Connecting the clients of agents to the memory: where each keeps its configuration, and how that is changed."""
