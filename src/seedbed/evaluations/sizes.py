"""The check of options that most evaluations share."""

from __future__ import annotations


def require_positive(**sizes: int) -> None:
    """Refuse a number below 1.

    Raises:
        ValueError: the first such number, by its name.
    """
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} {size}: expected at least 1")
