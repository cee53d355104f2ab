"""A step to a later position rotates each pair of columns, wherever it begins.

Lectures: objectives 3.5; transformer 6.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.demonstrations.numpy_positions import (
    Numbers,
    frequencies,
    pointers,
    require_pairs,
    rotation,
    vectors,
)
from seedbed.messages import require_at_least
from seedbed.models.positions import sinusoidal
from seedbed.observations import Observation

NEEDS = ()


@dataclass(frozen=True)
class Options:
    """The vectors, and by how many positions they are moved."""

    width: int = 64
    positions: int = 300
    shifts: tuple[int, ...] = (1, 3, 10, 40, -5)
    composed: tuple[int, ...] = (3, 7)  # one shift after the other
    # In single precision: from the first positions, by these shifts.
    single_positions: int = 121
    single_shifts: tuple[int, ...] = (1, 10, 50)
    shown: int = 8  # rows and columns of the matrix that is shown

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: an odd width, a shift that no two positions have, or a negative one in single precision.
        """
        require_pairs(self.width)
        require_at_least(1, single_positions=self.single_positions, shown=self.shown)
        if not self.shifts or max(map(abs, self.shifts)) >= self.positions:
            raise ValueError(
                f"shifts {list(self.shifts)}: expected at least one, each below positions {self.positions}"
            )
        if min(self.single_shifts, default=-1) < 0:
            raise ValueError(f"single_shifts {list(self.single_shifts)}: expected at least one, none negative")
        if not self.composed:
            raise ValueError("composed []: expected at least one shift")


def demonstrate(options: Options) -> Iterator[Observation]:
    """By shift the errors of vector(p + shift) = vector(p) M, for all positions p, and properties of M.

    ``shift_error`` is the largest error, by table: ours (``seedbed``), NumPy's in double precision (``numpy``),
    and NumPy's with all steps in single precision (``single``). ``turn_error`` is by how many radians the turn of
    a pair in our table differs from frequency times shift, over all pairs and positions; ``turn`` is that turn,
    from −π to π. ``orthogonality_error`` is that of M M' = 1, ``composition_error`` that of the product of the
    composed shifts' matrices and their sum's. ``entry`` are entries of the matrix of the first shift.
    """
    ours = np.asarray(sinusoidal(options.positions, options.width).double().numpy())
    tables = {"seedbed": ours, "numpy": vectors(range(options.positions), options.width)}
    for shift in options.shifts:
        matrix = rotation(shift, options.width)
        for name, table in tables.items():
            before, after = _moved(table, shift)
            error = float(np.abs(before @ matrix - after).max())
            yield Observation("shift_error", error, {"table": name, "shift": shift}, "number")
        yield from _turns(ours, shift)
        error = float(np.abs(matrix @ matrix.T - np.eye(options.width)).max())
        yield Observation("orthogonality_error", error, {"shift": shift}, "number")
    for shift in options.single_shifts:
        error = _single_error(shift, options)
        yield Observation("shift_error", error, {"table": "single", "shift": shift}, "number")
    product = np.eye(options.width)
    for shift in options.composed:
        product = product @ rotation(shift, options.width)
    error = float(np.abs(product - rotation(sum(options.composed), options.width)).max())
    yield Observation("composition_error", error, unit="number")
    for row, entries in enumerate(rotation(options.shifts[0], options.width)[: options.shown, : options.shown]):
        for column, entry in enumerate(entries):
            yield Observation("entry", float(entry), {"row": row, "column": column}, "number")


def _moved(table: Numbers, shift: int) -> tuple[Numbers, Numbers]:
    """The vectors of all positions that have another one so far away, and of that one."""
    if shift < 0:
        return table[-shift:], table[:shift]
    return table[: len(table) - shift], table[shift:]


def _turns(table: Numbers, shift: int) -> Iterator[Observation]:
    before, after = (pointers(part) for part in _moved(table, shift))
    turns = after / before  # [positions, pairs]
    expected = np.exp(1j * frequencies(table.shape[1]) * shift)
    yield Observation("turn_error", float(np.abs(np.angle(turns / expected)).max()), {"shift": shift}, "radian")
    for pair, turn in enumerate(np.angle(turns[0])):
        yield Observation("turn", float(turn), {"shift": shift, "pair": pair}, "radian")


def _single_error(shift: int, options: Options) -> float:
    """The error if frequencies, angles, vectors and matrix are rounded to single precision one after the other."""
    speeds = frequencies(options.width).astype(np.float32)
    positions = np.arange(options.single_positions, dtype=np.float32)
    before, after = (np.outer(moved, speeds) for moved in (positions, positions + np.float32(shift)))
    angle = np.float32(shift) * speeds
    sine, cosine = np.sin(before), np.cos(before)
    errors = (
        sine * np.cos(angle) + cosine * np.sin(angle) - np.sin(after),
        cosine * np.cos(angle) - sine * np.sin(angle) - np.cos(after),
    )
    return float(np.abs(errors).max())
