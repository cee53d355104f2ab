"""The table of observations as checks read it: for each key, the values of all seeds.

A missing key is not the same as a missing seed. If a run has no observation of a key, the measurement has not
been run. If a run has other observations of a seed, but none of this key, the value of that seed is NaN: leaving
the seed out would hide a failure. So is every value of a training that diverged, because its weights are not those
of the recipe; only what does not depend on the weights is kept.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple

from seedbed.observations import condition_text, read_condition

#: The metric that is 1 where a training diverged, and those that are right even then.
DIVERGED = "diverged"
WITHOUT_WEIGHTS = {
    DIVERGED,
    "parameters",
    "corpus_documents",
    "corpus_tokens",
    "corpus_withheld",
    "longest_document",
}

#: Seed -> its value; the seed is None in a reference run.
Series = dict[int | None, float | str]


class ObservationKey(NamedTuple):
    """What identifies an observation in the table, but for its seed."""

    study: str
    run: str
    metric: str
    condition: str

    def __str__(self) -> str:
        return f"{self.run} {self.metric}" + (f" ({self.condition})" if self.condition else "")


class ObservationTable:
    """The observations by key and seed.

    Raises:
        ValueError: two rows have the same key and seed.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Index rows with the columns of `observations.COLUMNS`."""
        self._values: dict[ObservationKey, Series] = defaultdict(dict)
        self._groups: dict[ObservationKey, dict[int | None, list[float]]] = defaultdict(dict)
        self._units: dict[ObservationKey, str] = {}
        self._independent: dict[ObservationKey, int] = {}
        self._diverged: dict[tuple[str, str], set[int | None]] = defaultdict(set)
        self._seeds: dict[tuple[str, str], set[int | None]] = defaultdict(set)
        for row in rows:
            condition = canonical(str(row["condition"]))
            key = ObservationKey(str(row["study"]), str(row["run"]), str(row["metric"]), condition)
            number = row["seed"]
            seed = None if number is None or number != number else int(number)  # pandas writes NaN for None
            if seed in self._values[key]:
                raise ValueError(f"study {key.study}, seed {seed}: {key} was measured twice")
            self._values[key][seed] = _value(row)
            self._groups[key][seed] = list(row.get("item_groups") or ())
            self._units[key] = str(row.get("unit") or "")
            items = independent_items(row.get("n"), row.get("item_error"))
            self._independent[key] = min(items, self._independent.get(key, items))
            self._seeds[key.study, key.run].add(seed)
            if key.metric == DIVERGED and row["value"]:
                self._diverged[key.study, key.run].add(seed)

    def series(self, key: ObservationKey) -> Series:
        """The value of every seed of the key's run, NaN for a missing or diverged one; empty without a key."""
        if key not in self._values:
            return {}
        lost = set() if key.metric in WITHOUT_WEIGHTS else self.diverged(key)
        return {
            seed: math.nan if seed in lost else self._values[key].get(seed, math.nan)
            for seed in self._ordered(key)
        }

    def groups(self, key: ObservationKey) -> dict[int | None, list[float]]:
        """How far each group of shared items moves each seed's value; empty lists where there are no groups."""
        known = self._groups.get(key, {})
        return {seed: known.get(seed, []) for seed in self._ordered(key)}

    def unit(self, key: ObservationKey) -> str:
        """The unit of the key; empty if it is unknown."""
        return self._units.get(key, "")

    def independent(self, key: ObservationKey) -> int:
        """The number of independent items of a share whose items all agree; 0 if it is unknown."""
        return self._independent.get(key, 0)

    def diverged(self, key: ObservationKey) -> set[int | None]:
        """The seeds of the key's run whose training diverged."""
        return self._diverged.get((key.study, key.run), set())

    def _ordered(self, key: ObservationKey) -> list[int | None]:
        return sorted(self._seeds.get((key.study, key.run), ()), key=lambda one: (one is None, one))

    def has_run(self, key: ObservationKey) -> bool:
        """Whether the table has any observation of the key's run."""
        return (key.study, key.run) in self._seeds

    def explain_missing(self, key: ObservationKey) -> str:
        """A sentence that says why there is no such key, with the nearest known one."""
        if (key.study, key.run) not in self._seeds:
            return f"there is no observation of {key.study}/{key.run}"
        known = [str(one) for one in self._values if (one.study, one.run) == (key.study, key.run)]
        close = get_close_matches(str(key), known, n=1)
        return f"{key.study} has no {key}" + (f"; the nearest is {close[0]}" if close else "")


@cache
def canonical(condition: str) -> str:
    """The text of a condition in the form of `condition_text`; a table has few different ones."""
    return condition_text(read_condition(condition))


def independent_items(n: float | None, item_error: float | None) -> int:
    """The number of independent items of a share that is 0 or 1, see `observations.mean` for its item error."""
    if item_error and item_error == item_error:
        return round(1 / (2 * item_error) - 1)
    return int(n) if n and n == n else 0


def _value(row: Mapping[str, Any]) -> float | str:
    value, text = row["value"], row["text"]
    if isinstance(text, str) and text:
        return text
    return math.nan if value is None else float(value)
