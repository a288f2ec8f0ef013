"""The store of memories: `MemoryStore`, and the parts that its methods come from."""
