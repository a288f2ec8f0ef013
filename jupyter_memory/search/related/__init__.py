"""What is like a text that a person works on: which of the candidates can be believed to be about the same."""
