"""What a connected program gets: hits, texts and counts as typed values, quoted, within a number of tokens."""
