from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import yaml

from seedbed.configuration.configuration import Configuration
from seedbed.demonstrations.language_facts import Options, demonstrate
from seedbed.languages.automaton import Language
from seedbed.languages.compilation import read_language
from seedbed.observations import condition_text

Found = Mapping[tuple[str, str], float]

RIGHT = "the children grow the fresh pumpkin from their own garden ."
WRONG = "the children grow the fresh pumpkin from our own garden ."
#: Two subjects of weights 3 and 1; the form of "own" agrees with them over two words or three.
SMALL = """
tokens: {begin: <bos>, end: <eos>, period: ., structural: [<pad>]}
mean_sentences: 1
lexicon:
  subject: {she: {form: her}, we: {form: our}}
  verb: [takes, keeps]
  noun: [pear, plum]
  speed: [slowly, none]
draws:
  subject: {weights: {she: 3, we: 1}}
  verb: {}
  speed: {}
  noun: {weights: {pear: 2, plum: 1}}
sentence:
  - {slot: subject, words: "{subject}"}
  - {slot: verb, words: "{verb}"}
  - {slot: speed, words: "{speed}", when: {speed: slowly}}
  - {slot: possessive, words: "{subject.form}"}
  - {slot: noun, words: "{noun}"}
withheld:
  - {verb: keeps, noun: plum}
"""


@pytest.fixture(scope="module")
def options(configuration: Configuration) -> Options:
    return Options(**configuration.demonstrations["garden-facts"].options)


@pytest.fixture(scope="module")
def found(garden: Language, options: Options) -> Found:
    observations = list(demonstrate(replace(options, pairs=("pick plum", "eat plum")), language=garden))
    assert all(one.n is None and one.unit for one in observations)
    return {(one.metric, condition_text(one.condition)): one.value for one in observations}


def test_the_garden_has_the_lectures_sizes(found: Found) -> None:
    sizes = {"vocabulary": 100, "base_vocabulary": 90, "cloze_candidates": 87, "structural_tokens": 10}
    assert {name: found[name, ""] for name in sizes} == sizes
    assert found["withheld_pairs", ""] == 5
    assert found["nouns", ""] == 28


@pytest.mark.parametrize(
    ("metric", "value", "tolerance"),
    [
        ("language_perplexity", 3.655, 0.0005),
        ("cloze_entropy", 0.803, 0.0005),
        ("continuation_entropy", 1.322, 0.0005),
        ("expected_length", 25.154, 0.0005),
        ("sentence_length", 7.718, 0.0005),
        ("slot_tokens_per_1000", 990, 0.5),
        ("visible_positions", 22.01, 0.005),
        ("out_of_window_share", 0.446, 0.0005),
        ("withheld_token_share", 0.056, 0.0005),
        ("noun_zipf_exponent", 0.738, 0.0005),
        ("slot_decided", 1, 1e-12),
    ],
)
def test_a_quantity_is_that_of_the_garden(found: Found, metric: str, value: float, tolerance: float) -> None:
    assert found[metric, ""] == pytest.approx(value, abs=tolerance)


def test_a_sentence_with_the_wrong_possessive_is_not_grammatical(found: Found) -> None:
    assert found["grammatical", f"sentence={RIGHT}"] == 1
    assert found["grammatical", f"sentence={WRONG}"] == 0


def test_only_a_withheld_pair_is_withheld(found: Found) -> None:
    assert found["withheld", "pair=pick plum"] == 1
    assert found["withheld", "pair=eat plum"] == 0


def test_from_brings_a_possessive_and_in_an_article(found: Found) -> None:
    after = {key: value for (metric, key), value in found.items() if metric == "after"}
    assert after == pytest.approx(
        {
            "next=tail possessive;word=from": 1,
            "next=the;word=from": 0,
            "next=tail possessive;word=with": 1,
            "next=the;word=with": 0,
            "next=tail possessive;word=in": 0,
            "next=the;word=in": 1,
        }
    )


def test_the_floor_outside_the_window_is_below_that_inside(found: Found) -> None:
    assert found["slot_floor", "window=inside"] == pytest.approx(1)
    assert found["slot_floor", "window=outside"] == pytest.approx(0.698, abs=5e-4)


def test_without_examples_only_the_examples_are_missing(garden: Language, options: Options) -> None:
    nothing: dict[str, Any] = dict.fromkeys(("sentences", "pairs", "words", "next_words", "agreement"), ())
    metrics = {one.metric for one in demonstrate(replace(options, **nothing), language=garden)}
    assert not metrics & {"grammatical", "withheld", "after", "slot_decided"}
    assert "language_perplexity" in metrics


def test_a_language_of_few_sentences_has_the_numbers_that_one_counts_by_hand() -> None:
    language = read_language(yaml.safe_load(SMALL), "small.yaml")
    options = Options(
        "possessive", "subject", "verb", "noun", 2, words=("takes",), agreement=("she her", "we our")
    )
    rows = demonstrate(options, language=language)
    found = {(one.metric, condition_text(one.condition)): one.value for one in rows}
    assert found["sentence_length", ""] == pytest.approx(5.5)
    assert found["slot_tokens_per_1000", ""] == pytest.approx(1000)
    assert found["out_of_window_share", ""] == pytest.approx(0.5)  # with the adverb the subject is 3 tokens back
    assert found["slot_floor", "window=inside"] == pytest.approx(0.5)  # the adverb may come as well
    assert found["slot_floor", "window=outside"] == pytest.approx(0.75**2 + 0.25**2)
    assert found["after", "next=possessive;word=takes"] == pytest.approx(0.5)
    assert (found["withheld_pairs", ""], found["nouns", ""], found["slot_decided", ""]) == (1, 2, 1)
    assert ("continuation_entropy", "") not in found  # no document has a second sentence


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options("a", "b", "c", "d", 0), "window 0: expected at least 1"),
        (lambda: Options("a", "b", "c", "d", 1, agreement=("I my own",)), "'I my own': expected two words"),
    ],
)
def test_options_out_of_range_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
