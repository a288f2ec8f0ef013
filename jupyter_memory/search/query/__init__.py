"""What a query says: its words, filters and time, and other spellings of its words."""
