"""Every item of the lectures that can be checked has a claim, or is excluded for a stated reason.

config/claims/items.csv lists the items: what each lecture states, by section and kind. ``exact`` follows from a
definition, ``numeric`` is a computed number, ``trained`` and ``ordering`` come from experiments, ``dataset`` is a
fact of a language and ``timing`` a time. A ``setting`` says how something was done and ``quoted`` repeats another
source; neither has to be a claim.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from seedbed.configuration.claim_files import Claims, read_claims

ITEMS = Path(__file__).parents[2] / "config/claims/items.csv"
CHECKABLE = {"exact", "numeric", "trained", "ordering", "dataset", "timing"}
#: Of our own, and of no lecture.
OWN = "beyond:"


@pytest.fixture(scope="module")
def items() -> dict[str, dict[str, str]]:
    with ITEMS.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert len({one["id"] for one in found}) == len(found)
    return {one["id"]: one for one in found}


@pytest.fixture(scope="module")
def claims() -> Claims:
    return read_claims()


def test_every_checkable_item_has_a_claim_or_is_excluded(items: dict[str, dict[str, str]], claims: Claims) -> None:
    wanted = {name for name, one in items.items() if one["kind"] in CHECKABLE and not one["needs"]}
    assert sorted(wanted - claims.claims.keys() - claims.excluded.keys()) == []


def test_every_claim_and_exclusion_is_an_item(items: dict[str, dict[str, str]], claims: Claims) -> None:
    named = claims.claims.keys() | claims.excluded.keys()
    assert sorted(name for name in named - items.keys() if not name.startswith(OWN)) == []


def test_what_waits_for_a_training_has_no_claim_yet(items: dict[str, dict[str, str]], claims: Claims) -> None:
    waiting = {name for name, one in items.items() if one["needs"]}
    assert {items[name]["needs"] for name in waiting} <= {"training"}
    assert sorted(waiting & (claims.claims.keys() | claims.excluded.keys())) == []


def test_a_claim_has_the_section_of_its_item(items: dict[str, dict[str, str]], claims: Claims) -> None:
    found = {name: claim.section for name, claim in claims.claims.items() if name in items}
    elsewhere = {name for name, one in found.items() if not items[name]["section"].startswith(one)}
    assert elsewhere == set()


def test_few_items_are_excluded_without_a_check_elsewhere(claims: Claims) -> None:
    reasons = Counter(one.reason for one in claims.excluded.values())
    assert reasons["definition"] + reasons["lost"] <= 132
