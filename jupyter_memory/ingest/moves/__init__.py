"""Files that are not where they were, or not under the name that a store knows."""
