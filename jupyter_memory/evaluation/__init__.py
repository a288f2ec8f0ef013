"""Measuring rankings on judged questions: sets, metrics, profiles side by side."""
