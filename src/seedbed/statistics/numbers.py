"""Numbers as text in the sentences of a verdict."""

from __future__ import annotations

import math


def number_text(value: float) -> str:
    """A number with four significant digits, or more before the point; ``undefined`` if it is not finite."""
    if not math.isfinite(value):
        return "undefined"
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "−")


def seeds_text(count: int) -> str:
    """``5 seeds``."""
    return f"{count} seed" + "s" * (count != 1)
