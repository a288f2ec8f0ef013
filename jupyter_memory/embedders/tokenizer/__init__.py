"""The static model's tokenizer and token vectors."""
