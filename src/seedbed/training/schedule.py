"""The learning rate at each step."""

from __future__ import annotations

import math


def cosine(step: int, steps: int, peak: float, warm_up: int) -> float:
    """Linear from 0 to the peak over the warm-up, then a half cosine to 0 (objectives 5.1).

    Args:
        step: The step, from 0; the rate is that of the step's own update, so the first is not 0.
        steps: The steps of the whole training.
        peak: The rate at step ``warm_up - 1``.
        warm_up: The steps of the warm-up; with 0 the first rate is one step of the cosine below the peak.
    """
    if step < warm_up:
        return peak * (step + 1) / warm_up
    progress = (step - warm_up + 1) / max(1, steps - warm_up)
    return peak * (1 + math.cos(math.pi * progress)) / 2


def constant(step: int, steps: int, peak: float, warm_up: int) -> float:
    """Linear from 0 to the peak over the warm-up, then the peak; the arguments are those of `cosine`."""
    return peak * min(1.0, (step + 1) / max(1, warm_up))
