"""Reporting: figures and the page, from tables alone. No torch."""
