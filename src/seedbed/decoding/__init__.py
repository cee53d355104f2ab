"""Decoding: choose the next token, and write many documents in parallel, token by token."""
