"""Attention over a few words, against the arithmetic of the exercises."""

from __future__ import annotations

import math
from typing import Literal

import pytest

from seedbed.demonstrations.attention_by_hand import Options, demonstrate
from seedbed.observations import condition_text

Name = Literal["jane", "visite", "two-dimensions", "four-dimensions", "given-weights"]


def named(example: Name) -> dict[str, float]:
    rows = list(demonstrate(Options(example)))
    found = {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in rows}
    assert len(found) == len(rows)
    return found


def test_a_query_weighs_three_keys() -> None:
    found, raised = named("two-dimensions"), math.exp(1 / math.sqrt(2))
    total = 2 * raised + 1
    assert found["score key=1;query=q"] == pytest.approx(1 / math.sqrt(2))
    assert found["raised_sum query=q"] == pytest.approx(total)
    assert [found[f"weight key={key};query=q"] for key in (1, 2, 3)] == pytest.approx(
        [raised / total, 1 / total, raised / total]
    )
    assert found["output entry=0;query=q"] == pytest.approx(2 * raised / total)


def test_a_query_that_is_orthogonal_to_all_keys_takes_the_mean() -> None:
    found = named("four-dimensions")
    assert [found[f"weight key={key};query=3"] for key in (1, 2, 3)] == pytest.approx([1 / 3] * 3)
    assert [found[f"weight key={key};query=1"] for key in (1, 2, 3)] == pytest.approx(
        [math.e / (2 * math.e + 1), math.e / (2 * math.e + 1), 1 / (2 * math.e + 1)]
    )


def test_a_place_asks_for_an_action() -> None:
    found = named("jane")
    place = "query=3 l'Afrique"
    total = 3 + math.exp(2) + math.exp(0.5)
    assert found[f"weight key=2 visite;{place}"] == pytest.approx(math.exp(2) / total)
    assert found[f"output entry=1;{place}"] == pytest.approx((math.exp(2) + math.exp(0.5) / 4) / total)
    assert sum(
        value for name, value in found.items() if name.startswith("weight") and place in name
    ) == pytest.approx(1)


def test_heads_with_one_question_each_keep_their_answers_apart() -> None:
    found = named("visite")
    assert found["weight key=1 Jane;query=who"] == pytest.approx(math.exp(3) / (math.exp(3) + math.exp(0.75) + 3))
    words = ("1 Jane", "3 l'Afrique", "5 septembre")
    assert len({round(found[f"weight key={word};query=all at once"], 12) for word in words}) == 1
    assert (found["overlap"], found["joined_entries"]) == (0, 12)


def test_weights_follow_their_words() -> None:
    found = named("given-weights")
    for entry in range(4):
        assert found[f"output entry={entry};order=as given"] == found[f"output entry={entry};order=exchanged"]
    assert found["output entry=2;order=as given"] == pytest.approx(1.2)
