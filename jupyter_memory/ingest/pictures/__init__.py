"""The pictures that documents show, kept as thumbnails."""
