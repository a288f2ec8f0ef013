"""What an answer shows: snippets, highlights, facets and notices."""
