"""Source code as text: its language, what it defines, and what a statement does."""
