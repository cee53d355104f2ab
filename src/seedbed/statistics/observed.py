"""The table of observations as checks read it: one cell, all its seeds.

What is missing is told apart from what is not finite: a run that was measured, but not here, has not been run; a
seed that was measured elsewhere, but not here, has no finite value, for dropping it would hide a failure.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from seedbed.observations import Scalar, condition_text, read_condition

#: A value of every seed; the seed is none in a reference run.
Series = dict[int | None, float | str]


class Cell(NamedTuple):
    """Where a value stands in the table."""

    study: str
    run: str
    metric: str
    condition: str

    def __str__(self) -> str:
        return f"{self.run} {self.metric}" + (f" ({self.condition})" if self.condition else "")


class Observed:
    """The observations by cell and seed.

    Raises:
        ValueError: two rows for the same cell and seed.
    """

    def __init__(self, rows: Iterable[Mapping[str, Scalar | None]]) -> None:
        """Index rows with the columns of `observations.COLUMNS`."""
        self._cells: dict[Cell, Series] = defaultdict(dict)
        self._seeds: dict[tuple[str, str], set[int | None]] = defaultdict(set)
        for row in rows:
            condition = condition_text(read_condition(str(row["condition"])))
            cell = Cell(str(row["study"]), str(row["run"]), str(row["metric"]), condition)
            seed = _seed(row["seed"])
            if seed in self._cells[cell]:
                raise ValueError(f"study {cell.study}, seed {seed}: {cell} was measured twice")
            self._cells[cell][seed] = _value(row)
            self._seeds[cell.study, cell.run].add(seed)

    def series(self, cell: Cell) -> Series:
        """The value of every seed of the cell's run: empty without the cell, NaN where a seed of it is missing."""
        if cell not in self._cells:
            return {}
        seeds = self._seeds[cell.study, cell.run]
        return {
            seed: self._cells[cell].get(seed, math.nan)
            for seed in sorted(seeds, key=lambda one: (one is None, one))
        }

    def missing(self, cell: Cell) -> str:
        """Why a cell is not there, in words, with the nearest that is."""
        if (cell.study, cell.run) not in self._seeds:
            return f"there is no observation of {cell.study}/{cell.run}"
        there = [str(one) for one in self._cells if (one.study, one.run) == (cell.study, cell.run)]
        close = get_close_matches(str(cell), there, n=1)
        return f"{cell.study} has no {cell}" + (f"; the nearest is {close[0]}" if close else "")


def _seed(seed: Scalar | None) -> int | None:
    return None if seed is None or seed != seed else int(seed)  # NaN is pandas' none


def _value(row: Mapping[str, Scalar | None]) -> float | str:
    value, text = row["value"], row["text"]
    if isinstance(text, str) and text:
        return text
    return math.nan if value is None else float(value)
