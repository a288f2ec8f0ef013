"""Which files of a folder are read: the walk, and what is left out."""
