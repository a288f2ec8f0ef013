"""Text without input or output: identifiers, dates, paths, headings and stop words."""
