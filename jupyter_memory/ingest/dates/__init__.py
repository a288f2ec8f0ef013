"""When a file was written: by what it says itself, by its last commit, else by the time of the file."""
