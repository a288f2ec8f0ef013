"""Recording what a kernel runs: noted before a cell runs and after it, remembered in quiet moments."""
