"""The words of natural languages: scripts without spaces, inflected forms, stop words."""
