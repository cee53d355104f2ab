"""How a verdict writes a number in a sentence."""

from __future__ import annotations

import math


def number(value: float) -> str:
    """Four significant digits, all digits of a whole number; ``undefined`` for what is not finite."""
    if not math.isfinite(value):
        return "undefined"
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "−")


def seeds(count: int) -> str:
    """``5 seeds``."""
    return f"{count} seed" + "s" * (count != 1)
