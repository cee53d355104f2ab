"""The table of observations as checks read it: for each key, the values of all seeds.

A missing key is not the same as a missing seed. If a run has no observation of a key, the measurement has not
been run. If a run has other observations of a seed, but none of this key, the value of that seed is NaN: leaving
the seed out would hide a failure.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from seedbed.observations import Scalar, condition_text, read_condition

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

    def __init__(self, rows: Iterable[Mapping[str, Scalar | None]]) -> None:
        """Index rows with the columns of `observations.COLUMNS`."""
        self._values: dict[ObservationKey, Series] = defaultdict(dict)
        self._seeds: dict[tuple[str, str], set[int | None]] = defaultdict(set)
        for row in rows:
            condition = condition_text(read_condition(str(row["condition"])))
            key = ObservationKey(str(row["study"]), str(row["run"]), str(row["metric"]), condition)
            number = row["seed"]
            seed = None if number is None or number != number else int(number)  # pandas writes NaN for None
            if seed in self._values[key]:
                raise ValueError(f"study {key.study}, seed {seed}: {key} was measured twice")
            self._values[key][seed] = _value(row)
            self._seeds[key.study, key.run].add(seed)

    def series(self, key: ObservationKey) -> Series:
        """The value of every seed of the key's run, NaN for a missing seed; empty if the table has no such key."""
        if key not in self._values:
            return {}
        seeds = self._seeds[key.study, key.run]
        return {
            seed: self._values[key].get(seed, math.nan)
            for seed in sorted(seeds, key=lambda one: (one is None, one))
        }

    def explain_missing(self, key: ObservationKey) -> str:
        """A sentence that says why there is no such key, with the nearest known one."""
        if (key.study, key.run) not in self._seeds:
            return f"there is no observation of {key.study}/{key.run}"
        known = [str(one) for one in self._values if (one.study, one.run) == (key.study, key.run)]
        close = get_close_matches(str(key), known, n=1)
        return f"{key.study} has no {key}" + (f"; the nearest is {close[0]}" if close else "")


def _value(row: Mapping[str, Scalar | None]) -> float | str:
    value, text = row["value"], row["text"]
    if isinstance(text, str) and text:
        return text
    return math.nan if value is None else float(value)
