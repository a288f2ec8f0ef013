"""What the databases do alike: times and identities of rows, paths as ranges, words, and the best of scored chunks."""
