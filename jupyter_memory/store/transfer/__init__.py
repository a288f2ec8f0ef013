"""A store as a folder of Markdown and JSON lines, and back; and its copy in another store."""
