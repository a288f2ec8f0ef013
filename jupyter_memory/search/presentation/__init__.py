"""What an answer shows: snippets, highlights, facets and notices, and why each hit is there."""
