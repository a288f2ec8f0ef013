"""Getting models onto this machine: fetched or copied from a folder, checked, kept."""
