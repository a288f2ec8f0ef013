"""The Model Context Protocol: what an agent may ask of a store, over stdio. Only this package imports the SDK."""
