"""What the magics and the command line share: commands, options, messages and tables."""
