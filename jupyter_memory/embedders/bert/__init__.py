"""What the models of BERT's kind have in common: their layers, and how their files are loaded."""
