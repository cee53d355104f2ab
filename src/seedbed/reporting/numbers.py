"""How pages write numbers: the only place that rounds, and the words for what is not a number."""

from __future__ import annotations

import math
from collections.abc import Iterable

from seedbed.statistics.intervals import Interval

NOT_MEASURED = "not measured"
NON_FINITE = "non-finite"
PERCENT = "\N{NO-BREAK SPACE}%"

#: Unit → format. A share is written in per cent; a unit that is not listed gets four significant digits.
FORMATS = {
    "perplexity": ".3f",
    "nat": ".4f",
    "share": ".1f",
    "count": ",.0f",
    "second": ",.1f",
    "MiB": ",.0f",
    "rate": ".2g",
    "token": ",.6g",
    "position": ",.6g",
    "epoch": ".4g",
    "nine digits": ".9g",  # of what is compared to a millionth
}

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float | None, unit: str) -> str:
    """The value as the page writes it: ``3.868``, ``74.1 %``, ``6.6 × 10⁻⁵``, or a word where it is no number.

    Args:
        value: The number; none where there is no observation.
        unit: A key of `FORMATS`.
    """
    if value is None:
        return NOT_MEASURED
    if not math.isfinite(value):
        return NON_FINITE
    scaled = 100 * value if unit == "share" else value
    text = format(scaled, FORMATS.get(unit, ".4g")) if value else "0"
    if unit == "count" and value != round(value):  # a mean of counts
        text = format(value, ",.1f")
    if "e" in text or (value and not float(text.replace(",", ""))):
        return _scientific(value, 9 if unit == "nine digits" else 2)
    return text.replace("-", "−") + (PERCENT if unit == "share" else "")


def _scientific(value: float, significant: int) -> str:
    """A number too small for its format, which must not read as 0, or one that the format gives an exponent."""
    digits, exponent = f"{value:.{significant - 1}e}".split("e")
    return f"{digits.replace('-', '−')} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def power_of_ten(value: float) -> str:
    """A tick of a logarithmic axis: ``0.01``, ``50``, ``10⁻⁴``, ``2 × 10⁻⁵``."""
    if 1e-3 < value < 1e5:
        return f"{value:,g}"
    digits, exponent = f"{value:.0e}".split("e")
    power = f"10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
    return power if digits == "1" else f"{digits} × {power}"


def short(value: float, unit: str) -> str:
    """The value in the few letters that fit into a cell of a heat map: ``74``, in per cent, or ``0.31``."""
    if not math.isfinite(value):
        return "!"
    text = f"{100 * value:.0f}" if unit == "share" else f"{value:.2g}" if abs(value) < 1000 else f"{value:.0e}"
    return text.replace("-", "−")


def ends(interval: Interval, unit: str) -> str:
    """The interval's ends, ``3.842 to 3.894``, or the reason why it has none."""
    if interval.defined:
        return f"{number(interval.low, unit)} to {number(interval.high, unit)}"
    if interval.n == 0:
        return NOT_MEASURED
    return "undefined, one seed" if interval.n == 1 else "undefined, a seed is non-finite"


def brackets(interval: Interval, unit: str) -> str:
    """The interval as ``[3.842, 3.894]``, or the reason why it has no ends."""
    if not interval.defined:
        return f"[{ends(interval, unit)}]"
    return f"[{number(interval.low, unit)}, {number(interval.high, unit)}]"


def spread(values: Iterable[float | None], unit: str) -> str:
    """The values' range, ``201,034 to 201,802``, or the one number or word that they all are."""
    measured = [value for value in values if value is not None]
    known = sorted(value for value in measured if math.isfinite(value))
    if not known:
        return NON_FINITE if measured else NOT_MEASURED
    text = " to ".join(dict.fromkeys(number(value, unit) for value in (known[0], known[-1])))
    return text if len(known) == len(measured) else f"{text}, some {NON_FINITE}"
