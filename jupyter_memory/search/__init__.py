"""How a query becomes an answer: retrieval, signals, fusion, post-processing and presentation."""
