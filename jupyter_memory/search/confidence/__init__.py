"""How certain it is that a hit answers the query, and how far the embedder can be trusted in a store."""
