"""Models brought to this machine: fetched or taken from a folder, checked, kept."""
