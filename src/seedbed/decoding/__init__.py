"""Decoding: which token comes next, and many documents written side by side, token by token."""
