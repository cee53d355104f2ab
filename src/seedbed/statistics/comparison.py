"""This build beside the reference, a committed earlier one: what moved, and whether that decides anything.

Three questions are asked. Of every row: is it the same number, to a millionth? Where recipe, libraries and
processor are the same, it must be, whatever the code. Of a few watched numbers: is their mean where further runs
of the reference were to be expected? That holds on any machine. Of every verdict: was it decided the other way?
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from seedbed.observations import Scalar
from seedbed.statistics.intervals import t_half_width
from seedbed.statistics.observed import Cell, Observed

#: Two numbers are the same that differ by no more than this share of them.
TOLERANCE = 1e-6
#: How often, at most, a list of watched numbers is said to have moved where none did.
ALPHA = 0.05

Row = Mapping[str, Scalar | None]
Outcome = Literal["same", "moved", "missing", "new", "other recipe"]
_DECIDED = ("reproduced", "contradicted", "differs")


@dataclass(frozen=True)
class Compared:
    """One thing that stands in this build, in the reference or in both.

    Attributes:
        tier: ``row`` for an observation, ``watched`` for the mean of a watched number, ``verdict`` for a claim.
        study: The study; empty for a verdict.
        run: The run; empty for a verdict.
        seed: The seed of a row; none elsewhere and for a reference run.
        metric: The metric; the claim's id for a verdict.
        condition: The condition.
        outcome: ``same``, ``moved``, ``missing`` in this build, ``new`` in it, or of an ``other recipe``, which
            says nothing of this one.
        decides: Whether ``moved`` or ``missing`` means that the check fails.
        reference: The number in the reference; none where there is none.
        now: The number in this build.
        low: The lower end of where ``now`` was to be expected, of a watched number.
        high: Its upper end.
        text: What is no number, before and now.
    """

    tier: Literal["row", "watched", "verdict"]
    study: str
    run: str
    seed: int | None
    metric: str
    condition: str
    outcome: Outcome
    decides: bool
    reference: float | None = None
    now: float | None = None
    low: float | None = None
    high: float | None = None
    text: str = ""

    @property
    def failed(self) -> bool:
        """Whether the check fails by this alone."""
        return self.decides and self.outcome in ("moved", "missing")

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        seed = "" if self.seed is None else f", seed {self.seed}"
        where = f" ({self.condition})" if self.condition else ""
        return f"{self.study}/{self.run}{seed}: {self.metric}{where}" if self.study else self.metric


def compare_rows(now: Iterable[Row], reference: Iterable[Row], decides: bool) -> list[Compared]:
    """Every row of the reference whose recipe was run again, and every row that it has not.

    Args:
        now: The rows of this build.
        reference: Those of the reference, of the same studies.
        decides: Whether both were made with the same libraries on processors of the same kind.
    """
    here, there = ({_key(row): row for row in rows} for rows in (now, reference))
    recipes = {row["recipe"] for row in here.values()}
    found = [
        _compared(key, here.get(key), row, decides)
        for key, row in there.items()
        if key in here or row["recipe"] in recipes
    ]
    return found + [_compared(key, row, None, decides) for key, row in here.items() if key not in there]


def compare_watched(
    cells: Sequence[Cell], now: Observed, reference: Observed, resolutions: Mapping[Cell, float]
) -> list[Compared]:
    """The mean of each watched number over the seeds, and where further runs of the reference were to be expected.

    The prediction interval is t·s·√(1/K + 1/n) wide on each side, with s and K of the reference, and never
    narrower than the measurement resolves. Holm's procedure over the list keeps the chance of any false alarm at
    5 %. What the reference does not have is new, and cannot have moved.

    Args:
        cells: The watched numbers.
        now: This build.
        reference: The reference.
        resolutions: The least difference that the measurement of a cell can show; 0 where a cell is missing.
    """
    pairs = [(now.series(cell), reference.series(cell)) for cell in cells]
    found = [_expected(*pair, resolutions.get(cell, 0.0)) for cell, pair in zip(cells, pairs, strict=True)]
    ordered = sorted(range(len(found)), key=lambda index: found[index][0])
    moved = True
    outcomes: dict[int, Outcome] = {}
    for rank, index in enumerate(ordered):
        moved = moved and found[index][0] <= ALPHA / (len(found) - rank)
        here, there = pairs[index]
        outcomes[index] = "new" if not there else "missing" if not here else "moved" if moved else "same"
    return [_watched(cell, outcomes[index], *found[index][1:]) for index, cell in enumerate(cells)]


def compare_verdicts(now: Mapping[str, str], reference: Mapping[str, str]) -> list[Compared]:
    """The outcome of every claim that both this build and the reference's rows decide, by id.

    One that either of them leaves undecided cannot have moved, fewer seeds decide less; nor is it the same.
    """
    found = []
    for claim in sorted(now.keys() & reference.keys()):
        both = (reference[claim], now[claim])
        if all(one in _DECIDED for one in both):
            outcome: Outcome = "same" if both[0] == both[1] else "moved"
            found.append(Compared("verdict", "", "", None, claim, "", outcome, True, text=" → ".join(both)))
    return found


def resolutions(rows: Iterable[Row]) -> dict[Cell, float]:
    """What one item more or less changes in a share; 0 for what is no share of items."""
    return {
        Cell(*(str(row[name]) for name in Cell._fields)): 1 / float(row["n"] or 1)
        for row in rows
        if row["unit"] == "share" and row["n"] == row["n"] and row["n"]
    }


def _key(row: Row) -> tuple[str, str, int | None, str, str]:
    seed = row["seed"]
    known = None if seed is None or seed != seed else int(seed)
    return str(row["study"]), str(row["run"]), known, str(row["metric"]), str(row["condition"])


def _compared(
    key: tuple[str, str, int | None, str, str], now: Row | None, reference: Row | None, decides: bool
) -> Compared:
    if now is None or reference is None:
        outcome: Outcome = "missing" if now is None else "new"
    elif now["recipe"] != reference["recipe"]:
        outcome = "other recipe"
    else:
        outcome = "same" if _same(now, reference) else "moved"
    return Compared(
        "row", *key, outcome, decides, reference=_number(reference), now=_number(now), text=_texts(reference, now)
    )


def _number(row: Row | None) -> float | None:
    return None if row is None or row["value"] is None else float(row["value"])


def _texts(reference: Row | None, now: Row | None) -> str:
    texts = [str((row or {}).get("text") or "") for row in (reference, now)]
    return " → ".join(texts) if any(texts) else ""


def _same(one: Row, other: Row) -> bool:
    if (one["text"] or "") != (other["text"] or ""):
        return False
    numbers = [math.nan if row["value"] is None else float(row["value"]) for row in (one, other)]
    if any(map(math.isnan, numbers)):
        return all(map(math.isnan, numbers))
    return math.isclose(*numbers, rel_tol=TOLERANCE, abs_tol=1e-12)


def _expected(
    now: Mapping[int | None, float | str], before: Mapping[int | None, float | str], resolution: float
) -> tuple[float, float, float, float, float]:
    """The chance of a mean so far off, the mean before and now, and the ends of what was to be expected."""
    values, old = (_numbers(each.values()) for each in (now, before))
    if not (values.size and old.size and np.isfinite(values).all() and np.isfinite(old).all()):
        # Where both are not finite, nothing moved; what the reference does not have cannot have moved either.
        same = not old.size or not (np.isfinite(values).all() or np.isfinite(old).all())
        return float(same), _mean(old), _mean(values), math.nan, math.nan
    mean, middle = _mean(values), _mean(old)
    floor = max(resolution, TOLERANCE * abs(middle), 1e-12)
    sd = float(old.std(ddof=1)) if old.size > 1 else 0.0
    half = max(floor, t_half_width(sd, old.size, 1 - ALPHA, values.size) if sd else 0.0)
    return _chance(mean - middle, sd, old.size, values.size, floor), middle, mean, middle - half, middle + half


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if values.size else math.nan


def _numbers(values: Iterable[float | str]) -> NDArray[np.float64]:
    """The values, NaN for one that is no number."""
    return np.array([math.nan if isinstance(one, str) else one for one in values], dtype=np.float64)


def _chance(difference: float, sd: float, old: int, new: int, floor: float) -> float:
    """The chance, without any change, of a difference of means at least so large."""
    if abs(difference) <= floor:
        return 1.0
    if not sd:
        return 0.0
    return float(2 * stdtr(old - 1, -abs(difference) / (sd * math.sqrt(1 / old + 1 / new))))


def _watched(cell: Cell, outcome: Outcome, before: float, now: float, low: float, high: float) -> Compared:
    old, new, least, most = (None if math.isnan(value) else value for value in (before, now, low, high))
    return Compared(
        "watched", cell.study, cell.run, None, cell.metric, cell.condition, outcome, True, old, new, least, most
    )
