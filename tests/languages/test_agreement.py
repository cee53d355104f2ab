from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from seedbed.languages.agreement import (
    PLURAL,
    SINGULAR,
    Attractors,
    agreement_words,
    position_groups,
    sentence_prefixes,
)
from seedbed.languages.automaton import Language
from seedbed.languages.compilation import read_language

both = pytest.mark.parametrize("numbers", ["opposite", "mixed"])
every_k = pytest.mark.parametrize("attractors", range(9))


def language(name: str) -> Language:
    path = Path(__file__).parents[2] / f"config/languages/{name}.yaml"
    return read_language(yaml.safe_load(path.read_text(encoding="utf-8")), path.name)


@pytest.fixture(scope="module")
def farm() -> Language:
    return language("farm")


def test_the_words_are_those_of_the_grammar_in_pairs(farm: Language) -> None:
    known = agreement_words(farm)
    spelt = [[farm.decode(pair).split() for pair in pairs] for pairs in (known.nouns, known.verbs)]
    assert farm.decode([known.determiner]) == "the"
    assert sorted(spelt[0]) == [
        ["cat", "cats"], ["cow", "cows"], ["dog", "dogs"], ["duck", "ducks"],
        ["goat", "goats"], ["hen", "hens"], ["horse", "horses"], ["pig", "pigs"],
    ]  # fmt: skip
    assert sorted(spelt[1]) == [
        ["drinks", "drink"], ["eats", "eat"], ["guards", "guard"], ["pulls", "pull"],
        ["sees", "see"], ["sleeps", "sleep"], ["waits", "wait"],
    ]  # fmt: skip
    assert farm.decode(sorted(known.prepositions)) == "behind beside near with"


def test_their_weights_are_those_of_the_grammar(farm: Language) -> None:
    known, ids = agreement_words(farm), farm.vocabulary.id
    for weights, words_, ranking in (
        (known.noun_weights, known.nouns[:, 0], "cow horse hen pig goat dog cat duck"),
        (known.preposition_weights, known.prepositions, "near behind beside with"),
        (known.verb_weights, known.verbs[:, 1], "eat drink pull see guard sleep wait"),
    ):
        order = ranking.split()
        expected = 1 / np.arange(1, len(order) + 1)
        found = dict(zip(words_.tolist(), weights, strict=True))
        np.testing.assert_allclose([found[ids(word)] for word in order], expected / expected.sum())


@both
@every_k
def test_a_beginning_ends_with_the_noun_at_3_and_3k(farm: Language, attractors: int, numbers: Attractors) -> None:
    test = sentence_prefixes(farm, attractors, numbers, 20)
    assert test.documents.lengths.tolist() == [3 + 3 * attractors] * 40
    known = agreement_words(farm)
    text = test.documents.tokens.reshape(40, -1)
    assert (text[:, 0] == 0).all()
    assert (text[:, 1::3] == known.determiner).all()
    assert np.isin(text[:, 2::3], known.nouns).all()
    assert np.isin(text[:, 3::3], known.prepositions).all()
    assert (np.isin(text[:, 2::3], known.nouns[:, PLURAL]) == test.numbers).all()


@both
@pytest.mark.parametrize("attractors", range(4))
def test_the_language_gives_the_right_verb_only(farm: Language, attractors: int, numbers: Attractors) -> None:
    test = sentence_prefixes(farm, attractors, numbers, 100)
    rows = farm.probability[farm.states(test.documents)[test.documents.offsets[1:] - 1]]
    each = np.arange(len(rows))
    assert (rows[each, test.right] > 0).all()
    assert (rows[each, test.wrong] == 0).all()


@both
def test_more_attractors_than_the_language_has_are_impossible_in_it(farm: Language, numbers: Attractors) -> None:
    test = sentence_prefixes(farm, 4, numbers, 10)
    assert (farm.states(test.documents)[test.documents.offsets[1:] - 1] == farm.dead).all()


@both
def test_a_pair_differs_in_the_number_of_the_subject(farm: Language, numbers: Attractors) -> None:
    test = sentence_prefixes(farm, 3, numbers, 50)
    assert test.numbers[:, 0].tolist() == [SINGULAR, PLURAL] * 50
    assert test.pairs.tolist() == sorted([*range(50)] * 2)
    np.testing.assert_array_equal(test.right[::2], test.wrong[1::2])
    np.testing.assert_array_equal(test.wrong[::2], test.right[1::2])
    one, many = test.documents.tokens.reshape(50, 2, -1).transpose(1, 0, 2)
    expected = np.arange(12) % 3 == 2 if numbers == "opposite" else np.arange(12) == 2
    assert ((one != many) == expected).all()


def test_opposite_attractors_never_have_the_number_of_the_subject(farm: Language) -> None:
    numbers = sentence_prefixes(farm, 8, "opposite", 50).numbers
    assert (numbers[:, 1:] != numbers[:, :1]).all()


def test_mixed_attractors_have_either_number_as_often(farm: Language) -> None:
    numbers = sentence_prefixes(farm, 3, "mixed", 2000).numbers[::2]
    assert abs(numbers[:, 1:].mean() - 0.5) < 4 * 0.5 / np.sqrt(6000)
    assert abs(np.corrcoef(numbers[:, 1:], rowvar=False)[np.triu_indices(3, 1)]).max() < 4 / np.sqrt(2000)


def test_words_are_drawn_as_the_language_draws_them(farm: Language) -> None:
    known, test = agreement_words(farm), sentence_prefixes(farm, 1, "mixed", 4000)
    singular = test.documents.tokens.reshape(8000, -1)[::2]
    for tokens, candidates, weights in (
        (singular[:, 2], known.nouns[:, SINGULAR], known.noun_weights),
        (singular[:, 3], known.prepositions, known.preposition_weights),
        (test.right[::2], known.verbs[:, SINGULAR], known.verb_weights),
    ):
        shares = (tokens[:, None] == candidates).mean(axis=0)
        assert np.abs(shares - weights).max() < 5 * 0.5 / np.sqrt(4000)


def test_the_sentences_are_the_same_at_every_call(farm: Language) -> None:
    first, second = (sentence_prefixes(farm, 3, "mixed", 20) for _ in range(2))
    np.testing.assert_array_equal(first.documents.tokens, second.documents.tokens)
    np.testing.assert_array_equal(first.right, second.right)


@pytest.mark.parametrize("attractors", range(1, 9))
def test_every_position_belongs_to_one_group(attractors: int) -> None:
    found = sorted(place for group in position_groups(attractors).values() for place in group)
    assert found == list(range(3 + 3 * attractors))


def test_the_groups_of_three_attractors(farm: Language) -> None:
    text = farm.decode(sentence_prefixes(farm, 3, "opposite", 1).documents[0]).split()
    named = {group: [text[place] for place in found] for group, found in position_groups(3).items()}
    known = agreement_words(farm)
    assert named["start"] == ["<s>"]
    assert named["determiners"] == ["the"] * 4
    assert named["subject"] == text[2:3]
    assert {farm.vocabulary.id(word) for word in named["prepositions"]} <= set(known.prepositions.tolist())
    assert named["attractors"] == [text[5], text[8]]
    assert named["last attractor"] == text[11:]


def test_without_attractors_there_is_nothing_to_group() -> None:
    with pytest.raises(ValueError, match="attractors: 0, expected at least 1"):
        position_groups(0)


def test_a_language_of_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match="begin with one determiner, not I she the we"):
        sentence_prefixes(language("garden"), 0, "opposite", 1)


def test_numbers_that_are_spelt_otherwise_are_refused() -> None:
    path = Path(__file__).parents[2] / "config/languages/farm.yaml"
    text = path.read_text(encoding="utf-8").replace("plural: pigs", "plural: swine")
    with pytest.raises(ValueError, match=r"two numbers that differ by an s, not .*swine"):
        agreement_words(read_language(yaml.safe_load(text), path.name))
