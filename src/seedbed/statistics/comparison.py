"""Compare this build with the reference, a committed earlier build: what moved, and does that fail the check?

There are three comparisons:

- Rows: is each number the same, to a millionth? It must be where recipe, libraries and processor are the same.
- Watched numbers: does the mean lie in the prediction interval of the reference? This holds on any machine.
- Verdicts: is a claim now decided the other way, by the same seeds?
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from seedbed.observations import Scalar
from seedbed.statistics.intervals import t_half_width
from seedbed.statistics.observed import ObservationKey, ObservationTable
from seedbed.statistics.verdicts import Verdict

#: Two numbers are the same if they differ by at most this share of their size.
TOLERANCE = 1e-6
#: The largest chance that any watched number is reported as moved although none moved.
ALPHA = 0.05

Row = Mapping[str, Scalar | None]
ComparisonOutcome = Literal["same", "moved", "missing", "new", "other recipe"]
_DECIDED = ("reproduced", "contradicted", "differs")


@dataclass(frozen=True)
class ComparedItem:
    """A row, a watched number or a verdict that is in this build, in the reference or in both.

    Attributes:
        tier: ``row`` for an observation, ``watched`` for the mean of a watched number, ``verdict`` for a claim.
        study: The study; empty for a verdict.
        run: The run; empty for a verdict.
        seed: The seed of a row; None for a reference run, a watched number and a verdict.
        metric: The metric; the claim's id for a verdict.
        condition: The condition.
        outcome: ``same``, ``moved``, ``missing`` (not in this build), ``new`` (not in the reference) or ``other
            recipe`` (made by another recipe, so not comparable).
        decides: Whether the check fails if the outcome is ``moved`` or ``missing``.
        reference: The number in the reference; None if it has no such number.
        now: The number in this build; None if it has no such number.
        low: The lower end of the prediction interval for ``now``; watched numbers only.
        high: Its upper end.
        text: The values that are text, before and now.
    """

    tier: Literal["row", "watched", "verdict"]
    study: str
    run: str
    seed: int | None
    metric: str
    condition: str
    outcome: ComparisonOutcome
    decides: bool
    reference: float | None = None
    now: float | None = None
    low: float | None = None
    high: float | None = None
    text: str = ""

    @property
    def failed(self) -> bool:
        """Whether this item alone makes the check fail."""
        return self.decides and self.outcome in ("moved", "missing")

    @property
    def place(self) -> str:
        """Study, run, seed, metric and condition in words."""
        seed = "" if self.seed is None else f", seed {self.seed}"
        where = f" ({self.condition})" if self.condition else ""
        return f"{self.study}/{self.run}{seed}: {self.metric}{where}" if self.study else self.metric


def compare_rows(now: Iterable[Row], reference: Iterable[Row], decides: bool) -> list[ComparedItem]:
    """Compare every reference row whose recipe was run again, and list every row that the reference lacks.

    Args:
        now: The rows of this build.
        reference: The rows of the reference, of the same studies.
        decides: Whether both were made with the same libraries on processors of the same kind.
    """
    here, there = ({_key(row): row for row in rows} for rows in (now, reference))
    recipes = {row["recipe"] for row in here.values()}
    found = [
        _compare_row(key, here.get(key), row, decides)
        for key, row in there.items()
        if key in here or row["recipe"] in recipes
    ]
    return found + [_compare_row(key, row, None, decides) for key, row in here.items() if key not in there]


def compare_watched(
    keys: Sequence[ObservationKey],
    now: ObservationTable,
    reference: ObservationTable,
    resolutions: Mapping[ObservationKey, float],
) -> list[ComparedItem]:
    """Compare the mean of each watched number over the seeds with the prediction interval of the reference.

    The interval extends t·s·√(1/K + 1/n) to each side, with the standard deviation s and the K seeds of the
    reference and the n seeds of this build. It is never narrower than the measurement resolves. Holm's procedure
    over the list keeps the chance of any false alarm at 5 %. A number that the reference lacks is ``new``.

    Args:
        keys: The watched numbers.
        now: This build.
        reference: The reference.
        resolutions: The least difference that a measurement can show, see `resolutions`; 0 for a missing key.
    """
    pairs = [(now.series(key), reference.series(key)) for key in keys]
    found = [_test_mean(*pair, resolutions.get(key, 0.0)) for key, pair in zip(keys, pairs, strict=True)]
    ordered = sorted(range(len(found)), key=lambda index: found[index][0])
    moved = True
    outcomes: dict[int, ComparisonOutcome] = {}
    for rank, index in enumerate(ordered):
        moved = moved and found[index][0] <= ALPHA / (len(found) - rank)
        here, there = pairs[index]
        outcomes[index] = "new" if not there else "missing" if not here else "moved" if moved else "same"
    return [_watched_item(key, outcomes[index], *found[index][1:]) for index, key in enumerate(keys)]


def compare_verdicts(
    now: Iterable[Verdict],
    reference: Iterable[Verdict],
    strict: Collection[str],
    changed: Collection[tuple[str, str]],
) -> list[ComparedItem]:
    """Compare the outcomes of the claims that both builds decide, from the same seeds of the same runs.

    With the same recipes, libraries and processor both rest on the same numbers, so no chance is left to move an
    outcome. Elsewhere an outcome may move by chance: it is shown, and decides nothing.

    Args:
        now: The verdicts of this build.
        reference: Those of the reference, of the same claims in the same order.
        strict: The studies whose reference was made with the same libraries on a processor of the same kind.
        changed: The study and name of each run that has another recipe now.
    """
    found = []
    for one, other in zip(now, reference, strict=True):
        both = (other.outcome, one.outcome)
        if all(outcome in _DECIDED for outcome in both):
            outcome: ComparisonOutcome = "same" if both[0] == both[1] else "moved"
            if {(key.study, key.run) for key in one.evidence} & set(changed):
                outcome = "other recipe"
            decides = {key.study for key in one.evidence} <= set(strict)
            text = " → ".join(both)
            found.append(ComparedItem("verdict", "", "", None, one.id, "", outcome, decides, text=text))
    return found


def runs_of_another_recipe(rows: Iterable[ComparedItem]) -> set[tuple[str, str]]:
    """The study and name of each run that has rows of another recipe than in the reference."""
    return {(one.study, one.run) for one in rows if one.tier == "row" and one.outcome == "other recipe"}


def resolutions(rows: Iterable[Row]) -> dict[ObservationKey, float]:
    """How much one item more or less changes each share; other numbers have no entry."""
    return {
        ObservationKey(*(str(row[name]) for name in ObservationKey._fields)): 1 / float(row["n"] or 1)
        for row in rows
        if row["unit"] == "share" and row["n"] == row["n"] and row["n"]
    }


def _key(row: Row) -> tuple[str, str, int | None, str, str]:
    seed = row["seed"]
    known = None if seed is None or seed != seed else int(seed)
    return str(row["study"]), str(row["run"]), known, str(row["metric"]), str(row["condition"])


def _compare_row(
    key: tuple[str, str, int | None, str, str], now: Row | None, reference: Row | None, decides: bool
) -> ComparedItem:
    if now is None or reference is None:
        outcome: ComparisonOutcome = "missing" if now is None else "new"
    elif now["recipe"] != reference["recipe"]:
        outcome = "other recipe"
    else:
        outcome = "same" if _same(now, reference) else "moved"
    return ComparedItem(
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


def _test_mean(
    now: Mapping[int | None, float | str], before: Mapping[int | None, float | str], resolution: float
) -> tuple[float, float, float, float, float]:
    """The p value of the difference, the mean before and now, and the ends of the prediction interval."""
    values, old = (_numbers(each.values()) for each in (now, before))
    if not (values.size and old.size and np.isfinite(values).all() and np.isfinite(old).all()):
        # Nothing moved if both are not finite, or if the reference has no such number.
        same = not old.size or not (np.isfinite(values).all() or np.isfinite(old).all())
        return float(same), _mean(old), _mean(values), math.nan, math.nan
    mean, middle = _mean(values), _mean(old)
    floor = max(resolution, TOLERANCE * abs(middle), 1e-12)
    sd = float(old.std(ddof=1)) if old.size > 1 else 0.0
    half = max(floor, t_half_width(sd, old.size, 1 - ALPHA, values.size) if sd else 0.0)
    return _p_value(mean - middle, sd, old.size, values.size, floor), middle, mean, middle - half, middle + half


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if values.size else math.nan


def _numbers(values: Iterable[float | str]) -> NDArray[np.float64]:
    """The values, with NaN for each text."""
    return np.array([math.nan if isinstance(one, str) else one for one in values], dtype=np.float64)


def _p_value(difference: float, sd: float, old: int, new: int, floor: float) -> float:
    """The chance of a difference of means at least this large if nothing changed."""
    if abs(difference) <= floor:
        return 1.0
    if not sd:
        return 0.0
    return float(2 * stdtr(old - 1, -abs(difference) / (sd * math.sqrt(1 / old + 1 / new))))


def _watched_item(
    key: ObservationKey, outcome: ComparisonOutcome, before: float, now: float, low: float, high: float
) -> ComparedItem:
    old, new, least, most = (None if math.isnan(value) else value for value in (before, now, low, high))
    return ComparedItem(
        "watched", key.study, key.run, None, key.metric, key.condition, outcome, True, old, new, least, most
    )
