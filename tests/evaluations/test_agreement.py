"""Agreement of predictors whose answers are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from seedbed.documents import Documents
from seedbed.evaluations.agreement import Options, evaluate, hits
from seedbed.languages.agreement import SentencePrefixes, agreement_words, sentence_prefixes
from seedbed.languages.automaton import Language
from seedbed.measuring.context import Context, Predictor
from seedbed.observations import Observation, condition_text
from seedbed.references import exact, ngram

SMALL = Options(most_attractors=5, pairs=40)


@dataclass(frozen=True)
class Follows:
    """Takes one noun of a beginning for the subject: the first, or counted from the last one."""

    language: Language
    noun: int
    strength: float = 2.0

    def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
        known = agreement_words(self.language)
        scores = np.zeros((len(documents.tokens), len(self.language.vocabulary)))
        for document, last in zip(documents, documents.offsets[1:] - 1, strict=True):
            plural = int(document[2::3][self.noun] in known.nouns[:, 1])
            scores[last, known.verbs[:, plural]] = self.strength
        return np.asarray(scores - np.log(np.exp(scores).sum(1, keepdims=True)))


def found(predictor: Predictor, context: Context, options: Options = SMALL) -> dict[str, Observation]:
    observations = list(evaluate(predictor, context, options))
    assert {one.metric for one in observations} == {"agreement_accuracy"}
    by_condition = {condition_text(one.condition): one for one in observations}
    assert len(by_condition) == len(observations)
    return by_condition


def test_the_subject_is_always_right(farm: Language, farm_context: Context) -> None:
    accuracies = found(Follows(farm, 0), farm_context)
    assert {one.value for one in accuracies.values()} == {1}
    assert len(accuracies) == 2 * 6 * 3 + 5 * 2


def test_the_nearest_noun_is_wrong_wherever_it_is_opposite(farm: Language, farm_context: Context) -> None:
    accuracies = found(Follows(farm, -1), farm_context)
    for attractors in range(1, 6):
        assert accuracies[f"attractors={attractors};numbers=opposite"].value == 0
        assert accuracies[f"attractors={attractors};nearest=same;numbers=mixed"].value == 1
        assert accuracies[f"attractors={attractors};nearest=opposite;numbers=mixed"].value == 0
        assert accuracies[f"attractors={attractors};numbers=mixed"].value == 0.5  # one of every pair
    assert accuracies["attractors=0;numbers=opposite"].value == 1


def test_equal_probabilities_count_half(farm: Language, farm_context: Context) -> None:
    assert {one.value for one in found(Follows(farm, 0, strength=0), farm_context).values()} == {0.5}


def test_one_form_for_all_is_right_for_one_number_of_the_subject(farm: Language, farm_context: Context) -> None:
    class Constant:
        def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
            row = np.zeros(56)
            row[agreement_words(farm).verbs[:, 1]] = 1
            return np.tile(row - np.log(np.exp(row).sum()), (len(documents.tokens), 1))

    accuracies = found(Constant(), farm_context)
    assert accuracies["attractors=3;numbers=opposite"].value == 0.5
    assert accuracies["attractors=3;numbers=opposite;subject=singular"].value == 0
    assert accuracies["attractors=3;numbers=opposite;subject=plural"].value == 1


def test_the_language_itself_is_right_as_far_as_its_sentences_go(farm: Language, farm_context: Context) -> None:
    accuracies = found(exact.Reference(exact.Options(), farm), farm_context)
    assert {one.value for one in accuracies.values()} == {1}
    assert {one.condition["attractors"] for one in accuracies.values()} == {0, 1, 2, 3}


def test_the_best_of_five_words_is_at_chance_with_mixed_and_below_it_with_opposite_attractors(
    farm: Language, farm_context: Context
) -> None:
    accuracies = found(exact.Reference(exact.Options(window=5), farm), farm_context)
    for attractors in (2, 3, 4, 5):  # a window sees nothing that is impossible
        assert accuracies[f"attractors={attractors};numbers=opposite"].value == 0
        mixed = accuracies[f"attractors={attractors};numbers=mixed"]
        assert mixed.value == 0.5
    assert accuracies["attractors=1;numbers=opposite"].value == 1


def test_counting_does_no_better_than_the_window_allows(farm: Language, farm_context: Context) -> None:
    counted = ngram.Reference(ngram.Options(), farm, farm.sample(np.random.default_rng(0), 20_000))
    accuracies = found(counted, farm_context)
    for attractors in range(6):
        one = accuracies[f"attractors={attractors};numbers=opposite"]
        assert one.value > 0.99 if attractors == 0 else one.n == 80
        if attractors >= 2:
            assert one.value < 0.5


def test_a_pair_is_one_item_of_the_error(farm: Language, farm_context: Context) -> None:
    one = found(Follows(farm, -1), farm_context)["attractors=2;numbers=mixed"]
    assert (one.n, one.item_error) == (80, 0)  # of every pair exactly one is right


def test_sentences_without_probability_are_not_counted(farm: Language) -> None:
    class Sure:
        def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
            return np.full((len(documents.tokens), 56), -np.inf)

    assert np.isnan(hits(Sure(), sentence_prefixes(farm, 1, "mixed", 3))).all()
    assert not list(evaluate(Sure(), Context(farm, Documents.of([])), SMALL))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(most_attractors=-1), "most_attractors -1: expected at least 0"),
        (lambda: Options(pairs=0), "pairs 0: expected at least 1"),
    ],
)
def test_options_out_of_range_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_the_default_is_the_lectures_test(farm: Language, farm_context: Context) -> None:
    accuracies = found(Follows(farm, 0), farm_context, Options())
    assert {one.condition["attractors"] for one in accuracies.values()} == set(range(9))
    assert accuracies["attractors=8;numbers=opposite"].n == 2 * 200
    assert accuracies["attractors=8;numbers=opposite;subject=plural"].n == 200
    assert isinstance(sentence_prefixes(farm, 8, "opposite", 1), SentencePrefixes)
