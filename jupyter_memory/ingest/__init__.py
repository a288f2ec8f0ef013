"""How files and notes become memories: reading, chunking, redaction and preparation."""
