from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from seedbed.languages import exact, words

if TYPE_CHECKING:
    from conftest import Case

    from seedbed.languages.automaton import Language

TAIL = "tail possessive"


@pytest.fixture(scope="module")
def sentences(garden: Language) -> exact.Sentences:
    return exact.all_sentences(garden)


def test_what_follows_a_word_equals_enumeration(late: Case) -> None:
    counts = Counter[str]()
    for text, probability in late.oracle.full.items():
        spoken = [*text.split(), "."]
        for place in range(len(spoken) - 1):
            if spoken[place] == "ripe":
                counts[spoken[place + 1]] += probability
    expected = [counts[token] / counts.total() for token in late.language.vocabulary.tokens]
    np.testing.assert_allclose(words.distribution_after(late.language, "ripe"), expected, atol=1e-12)


def test_a_word_that_nothing_follows_is_refused(late: Case) -> None:
    for word in ("<mask>", "<eos>"):
        with pytest.raises(ValueError, match=f"nothing ever follows '{word}'"):
            words.distribution_after(late.language, word)


def test_words_that_only_withheld_sentences_hold_are_never_together(late: Case) -> None:
    # Withheld are pick plum, and eat fig of the children.
    found = exact.all_sentences(late.language)
    assert words.never_together_in_training(found, "pick plum")
    assert words.never_together_in_training(found, "children eat fig")
    assert not words.never_together_in_training(found, "eat fig")
    assert not words.never_together_in_training(found, "cut plum")
    assert not words.never_together_in_training(found, "eat rose")


def test_withheld_combinations_are_counted_for_each_word_that_they_are_given(late: Case) -> None:
    # Of "we" pick plum; of "the children" eat fig too.
    found = words.withheld_combination_count(exact.all_sentences(late.language), ("verb", "noun"), "subject")
    assert found == 1.5


def test_shares_of_a_slots_words_equal_enumeration(late: Case) -> None:
    counts = Counter[str]()
    for text, probability in late.oracle.full.items():
        counts.update({noun: probability for noun in text.split() if noun in ("plum", "rose", "fig")})
    shares = words.slot_distribution(exact.all_sentences(late.language), "noun")
    assert shares.tolist() == pytest.approx(sorted(counts.values(), reverse=True))


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_the_exponent_of_an_exact_power_law_is_found(exponent: float) -> None:
    shares = np.arange(1.0, 29.0) ** -exponent
    assert words.zipf_exponent(shares / shares.sum()) == pytest.approx(exponent)


def test_agreement_is_a_share_of_the_slots_words(late: Case) -> None:
    # The tail "from our garden" is one slot of three words, of which one agrees with the subject.
    found = exact.all_sentences(late.language)
    assert words.agreement_probability(found, "tail", "subject", "we", "our") == pytest.approx(1 / 3)
    assert words.agreement_probability(found, "tail", "subject", "we", "their") == 0
    with pytest.raises(ValueError, match="no sentence has 'eat' as subject"):
        words.agreement_probability(found, "tail", "subject", "eat", "our")


def test_the_garden_has_28_nouns_and_5_withheld_pairs(sentences: exact.Sentences) -> None:
    assert len(words.slot_distribution(sentences, "noun")) == 28
    assert words.withheld_combination_count(sentences, ("verb", "noun"), "subject") == 5


@pytest.mark.parametrize(
    ("subject", "possessive"), [("I", "my"), ("she", "her"), ("we", "our"), ("children", "their")]
)
def test_every_subject_of_the_garden_decides_its_possessive(
    sentences: exact.Sentences, subject: str, possessive: str
) -> None:
    assert words.agreement_probability(sentences, TAIL, "subject", subject, possessive) == pytest.approx(
        1, abs=1e-15
    )


def test_best_five_word_predictor_has_0_698_out_of_the_window(sentences: exact.Sentences) -> None:
    inside, outside = words.window_probability(sentences, TAIL, "subject", window=5)
    assert inside == pytest.approx(1, abs=1e-12)
    assert outside == pytest.approx(0.698, abs=5e-4)


def test_nothing_is_outside_a_window_over_the_whole_sentence(sentences: exact.Sentences) -> None:
    inside, outside = words.window_probability(sentences, TAIL, "subject", window=6)
    assert inside == pytest.approx(1, abs=1e-12)
    assert math.isnan(outside)
