"""The checks that all models share."""

from __future__ import annotations


def require_positive(**sizes: int) -> None:
    """Refuse a size below 1.

    Raises:
        ValueError: the first such size, by its name.
    """
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} is at least 1, not {size}")


def require_deviations(**deviations: float) -> None:
    """Refuse a standard deviation below 0.

    Raises:
        ValueError: the first such deviation, by its name.
    """
    for name, deviation in deviations.items():
        if deviation < 0:
            raise ValueError(f"{name} is at least 0, not {deviation:g}")
