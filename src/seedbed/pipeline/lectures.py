"""Which demonstrations a lecture's page shows: those that its claims rest on, in the order of its sections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from seedbed.configuration.claim_files import Claims
from seedbed.observations import DEMONSTRATIONS


@dataclass(frozen=True)
class Lecture:
    """A page of demonstrations.

    Attributes:
        page: The name of the page.
        title: The title of the lecture.
        claims: Each demonstration with the claims that are shown beside it, both in the order of the sections.
    """

    page: str
    title: str
    claims: dict[str, tuple[str, ...]]


def lectures(claims: Claims, demonstrations: Iterable[str]) -> tuple[Lecture, ...]:
    """A page for each lecture whose claims rest on demonstrations, and one for those on which no claim rests."""
    names, found = list(demonstrations), []
    for lecture, title in claims.titles.items():
        told = dict(_told(claims, lecture))
        topics = dict.fromkeys(topic for topic in told.values() if topic in names)
        if topics:
            beside = {topic: tuple(name for name in told if told[name] == topic) for topic in topics}
            found.append(Lecture(f"lecture-{lecture}", title, beside))
    left = [name for name in names if not any(name in one.claims for one in found)]
    if left:
        found.append(Lecture(DEMONSTRATIONS, "Demonstrations", dict.fromkeys(left, ())))
    return tuple(found)


def _told(claims: Claims, lecture: str) -> Iterator[tuple[str, str]]:
    """The claims of a lecture that rest on demonstrations alone, by section, each with the first of these."""
    own = [name for name in claims.claims if name.partition(":")[0] == lecture]
    for name in sorted(own, key=lambda name: _order(claims.claims[name].section)):
        repeated = [claims.claims[other] for other in claims.claims[name].same_as or ()]
        operands = [operand for claim in repeated or [claims.claims[name]] for operand in claim.operands]
        if operands and all(operand.study == DEMONSTRATIONS for operand in operands):
            yield name, operands[0].runs[0]


def _order(section: str) -> tuple[int, ...]:
    """Sections by their numbers: 4.10 comes after 4.9, and what has no number comes last."""
    return tuple(map(int, re.findall(r"\d+", section))) or (10**6,)
