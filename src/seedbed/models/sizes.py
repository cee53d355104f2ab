"""The check of standard deviations that all models share."""

from __future__ import annotations


def require_deviations(**deviations: float) -> None:
    """Refuse a standard deviation below 0.

    Raises:
        ValueError: the first such deviation, by its name.
    """
    for name, deviation in deviations.items():
        if deviation < 0:
            raise ValueError(f"{name} is at least 0, not {deviation:g}")
