"""The check that all models share."""

from __future__ import annotations


def require_positive(**sizes: int) -> None:
    """Refuse a size below 1.

    Raises:
        ValueError: the first such size, by its name.
    """
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} is at least 1, not {size}")
