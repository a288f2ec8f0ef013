"""The tables of a store: memories, chunks, files, folders, question vectors and recent searches."""
