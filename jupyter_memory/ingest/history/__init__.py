"""How what was run becomes a memory: what is left out, and the draft of a run."""
