"""Which documents a training gets, and which it is measured on."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from seedbed.corpora import draw_documents
from seedbed.documents import Documents
from seedbed.languages.compilation import read_language

if TYPE_CHECKING:
    from conftest import Case

    from seedbed.languages.automaton import Language

HELD_OUT = ("validation", "test")
SPLITS = (("training", 0), ("validation", None), ("test", None))


def corpus(
    grammar: Mapping[str, object], split: str, seed: int | None = None, study: str = "one"
) -> list[list[int]]:
    language = read_language(grammar, "grammar")
    return [document.tolist() for document in draw_documents(language, 200, split, study, seed)]


def test_a_corpus_has_as_many_documents_as_it_was_asked_for(garden: Language) -> None:
    for split, seed in SPLITS:
        assert len(draw_documents(garden, 37, split, "one", seed)) == 37


def test_a_training_corpus_holds_no_withheld_pair(garden: Language, garden_content: dict[str, Any]) -> None:
    for seed in range(3):
        assert not garden.withheld_tokens(Documents.of(corpus(garden_content, "training", seed))).any()


@pytest.mark.parametrize("split", HELD_OUT)
def test_held_out_documents_are_of_the_full_language(
    garden: Language, garden_content: dict[str, Any], split: str
) -> None:
    assert garden.withheld_tokens(Documents.of(corpus(garden_content, split))).any()


def test_a_seed_always_draws_the_same_corpus_and_two_seeds_draw_two(garden_content: dict[str, Any]) -> None:
    corpora = [corpus(garden_content, "training", seed) for seed in range(3)]
    assert corpora == [corpus(garden_content, "training", seed) for seed in range(3)]
    assert all(one != other for one, other in combinations(corpora, 2))


@pytest.mark.parametrize("split", HELD_OUT)
def test_held_out_documents_belong_to_the_study(garden_content: dict[str, Any], split: str) -> None:
    assert corpus(garden_content, split) == corpus(garden_content, split)
    assert corpus(garden_content, split) != corpus(garden_content, split, study="another")


def test_splits_share_no_stream(repeated: Case) -> None:
    # Nothing is withheld in this grammar, so that training and held-out documents are of one language.
    drawn = [corpus(repeated.content, split, seed) for split, seed in SPLITS]
    assert all(one != other for one, other in combinations(drawn, 2))
