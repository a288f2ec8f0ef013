"""Measures rankings on judged questions: sets, metrics, and profiles side by side."""
