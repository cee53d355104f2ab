"""The cloze test against the list of all sentences of the garden."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from seedbed.documents import Documents
from seedbed.languages.automaton import Language
from seedbed.languages.exact import Sentences, all_sentences
from seedbed.measuring.context import Context
from seedbed.measuring.holes import Holes, draw_holes, score_holes

Numbers = NDArray[np.float64]


@pytest.fixture(scope="module")
def sentences(garden: Language) -> Sentences:
    return all_sentences(garden)


@pytest.fixture(scope="module")
def holes(context: Context) -> Holes:
    return draw_holes(context.language, context.test, 60)


def everywhere(garden: Language, text: str) -> Holes:
    """A hole at each word of one sentence."""
    document = garden.encode(f"<bos> {text} . <eos>")
    places = np.arange(1, len(document) - 2)
    return Holes(garden, Documents.of([document] * len(places)), places)


def listed(sentences: Sentences, known: dict[int, int], place: int, length: int | None = None) -> Numbers:
    """[V], how likely each token is at a place, where some others are known: summed over all sentences."""
    found = np.zeros(len(sentences.language.vocabulary))
    for size in [length] if length else range(place + 1, int(sentences.texts.lengths.max()) + 1):
        chosen = np.flatnonzero(sentences.texts.lengths == size)
        rows = sentences.texts.take(chosen).tokens.reshape(-1, size)
        fits = np.all([rows[:, at] == token for at, token in known.items()], axis=0)
        found += np.bincount(rows[fits, place], sentences.probability[chosen[fits]], len(found))
    found[2] = 0  # never the period
    return np.asarray(found / found.sum(), np.float64)


def test_a_hole_is_a_word_of_the_first_sentence(context: Context) -> None:
    found = draw_holes(context.language, context.test, 300)
    for document, place in zip(found.documents, found.places, strict=True):
        assert 1 <= place < list(document).index(2)


def test_every_word_of_a_sentence_is_hidden_as_often(garden: Language) -> None:
    document = garden.encode("<bos> she picks the plum . we eat the fig . <eos>")
    found = draw_holes(garden, Documents.of([document] * 4000), 4000)
    counts = Counter(found.places.tolist())
    assert set(counts) == {1, 2, 3, 4}
    assert all(abs(count - 1000) < 4 * math.sqrt(750) for count in counts.values())


def test_the_holes_are_the_same_each_time(context: Context) -> None:
    first = draw_holes(context.language, context.test, 50).places
    draw_holes.cache_clear()
    assert (draw_holes(context.language, context.test, 50).places == first).all()


def test_there_are_no_more_holes_than_documents(context: Context) -> None:
    assert len(draw_holes(context.language, context.test.take(range(3)), 500).places) == 3


def test_the_truth_is_that_of_the_list_of_all_sentences(holes: Holes, sentences: Sentences) -> None:
    for sentence, place, found in zip(holes.sentences, holes.places, holes.truth, strict=True):
        known = {at: token for at, token in enumerate(sentence) if at != place}
        expected = listed(sentences, known, int(place), len(sentence))
        np.testing.assert_allclose(np.exp(found), expected, atol=1e-12)


def test_the_evidence_stands_where_its_loss_costs_more(holes: Holes, sentences: Sentences) -> None:
    for index, (sentence, place) in enumerate(zip(holes.sentences, holes.places, strict=True)):
        before = dict(enumerate(sentence[:place]))
        behind = {at: token for at, token in enumerate(sentence) if at > place}
        truth = np.exp(holes.truth[index])
        kept = listed(sentences, before, int(place)), listed(sentences, behind, int(place), len(sentence))
        without_behind, without_before = (
            sum(p * math.log(p / q) for p, q in zip(truth, one, strict=True) if p) for one in kept
        )
        gain = without_before - without_behind
        expected = "either" if abs(gain) < 1e-9 else "before" if gain > 0 else "behind"
        assert holes.evidence[index] == expected


def test_each_word_stands_in_its_slot(garden: Language) -> None:
    text = "she picks her ripe plum from her own garden"
    slots = ["subject", "verb", "determiner", "adjective", "noun", "tail", "tail possessive", "own", "place"]
    assert everywhere(garden, text).slots.tolist() == slots


def test_a_subject_of_two_words_is_one_slot(garden: Language) -> None:
    slots = ["subject", "subject", "verb", "determiner", "noun", "tail", "tail article", "place"]
    assert everywhere(garden, "the children grow the lily in the morning").slots.tolist() == slots


def test_only_the_words_behind_tell_the_subject(garden: Language) -> None:
    assert everywhere(garden, "she picks the plum").evidence[0] == "behind"


def test_each_side_alone_tells_the_word_own(garden: Language) -> None:
    found = everywhere(garden, "she picks the plum with her own hands")
    assert found.evidence[found.slots == "own"] == ["either"]


def test_the_truth_has_no_divergence_and_agrees_with_itself(holes: Holes) -> None:
    found = {one.metric: one.value for one in score_holes(holes, holes.truth, {}) if not one.condition}
    assert found["cloze_divergence"] == pytest.approx(0, abs=1e-12)
    assert found["cloze_agreement"] == 1
    assert found["cloze_loss"] == found["cloze_language_loss"] > 0.5


def test_every_likeliest_word_agrees_where_there_are_several(garden: Language) -> None:
    """Nothing tells the verb of a hole whose noun goes with two verbs alike: each is a mode."""
    holes = everywhere(garden, "she picks the plum")
    modes = np.flatnonzero(holes.truth[1] > holes.truth[1].max() - 1e-9)
    for mode in modes:
        predicted = np.full_like(holes.truth, -9.0)
        predicted[1, mode] = 0.0
        found = [one.value for one in score_holes(holes, predicted, {}) if one.condition == {"slot": "verb"}]
        assert found[-1] == 1


def test_slots_and_sides_have_each_hole_once(holes: Holes) -> None:
    counts: Counter[str] = Counter()
    for one in score_holes(holes, holes.truth, {"method": "direct"}):
        if one.metric == "cloze_loss":
            counts["+".join(sorted(one.condition))] += one.n or 0
    assert counts == {"method": 60, "method+slot": 60, "evidence+method": 60}
