"""Seedbed: what sequence models learn on languages whose true distribution is known, seed by seed."""
