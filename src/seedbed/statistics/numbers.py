"""How a verdict writes a number in a sentence."""

from __future__ import annotations

import math


def number(value: float) -> str:
    """Four significant digits, all digits of a whole number; ``undefined`` for what is not finite."""
    if not math.isfinite(value):
        return "undefined"
    if value == round(value):
        return f"{value:,.0f}".replace("-", "−")
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    text = f"{value:.4g}" if digits > 6 else f"{value:,.{digits}f}"
    return text.replace("-", "−")


def seeds(count: int) -> str:
    """``5 seeds``."""
    return f"{count} seed" + "s" * (count != 1)
