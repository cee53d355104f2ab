"""What all panels have in common: a drawing can be put into words, explained by a key, and drawn."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Key:
    """A line of a figure's key.

    Attributes:
        shape: A shape that ``report/parts.html`` draws, such as ``dot``.
        words: What the shape means.
    """

    shape: str
    words: str


@dataclass(frozen=True)
class Mark:
    """A value that all rows or curves are read against, such as the exact floor.

    Attributes:
        value: The place of its line.
        label: The text beside the line; empty if it needs none.
        words: What the key says of it.
    """

    value: float
    label: str = ""
    words: str = ""

    def legend(self) -> tuple[Key, ...]:
        """Its line of the key, if it has words."""
        return (Key("dashed", self.words),) if self.words else ()


def seed_keys(shapes: tuple[str, str], words: tuple[str, str], found: Container[bool]) -> Iterator[Key]:
    """The keys of seeds, and of contrasting ones, if the panel has any."""
    for contrast, (shape, meaning) in enumerate(zip(shapes, words, strict=True)):
        if bool(contrast) in found:
            yield Key(shape, meaning)


#: What differences are read against; its line needs no words.
ZERO = Mark(0)


@dataclass(frozen=True)
class Shading:
    """A range that is shaded, such as the distances that training has seen."""

    low: float
    high: float
    words: str

    def legend(self) -> tuple[Key, ...]:
        """Its line of the key."""
        return (Key("band", self.words),)


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes:
        unit: How `numbers.number` writes its values.
        label: The text below it.
        scale: Whether equal steps are equal differences or equal ratios; on a logarithmic axis what is not above 0
            has no place.
        limits: Its ends; none: all that there is.
    """

    unit: str = ""
    label: str = ""
    scale: Literal["linear", "log"] = "linear"
    limits: tuple[float, float] | None = None


class Drawing(Protocol):
    """What a panel draws."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""

    @property
    def small(self) -> bool:
        """Whether it is half as wide, as one of many."""

    def words(self) -> str:
        """The panel read out."""

    def legend(self) -> tuple[Key, ...]:
        """The marks that occur in it."""

    def figure(self) -> Figure:
        """The panel drawn."""
