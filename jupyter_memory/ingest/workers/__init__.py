"""Worker processes that read and prepare files ahead of the process that writes them."""
