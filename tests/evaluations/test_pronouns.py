"""Pronouns on sentences whose distances are counted by hand, and on predictors whose scores are known."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from seedbed.documents import Documents
from seedbed.evaluations.pronouns import Options, evaluate
from seedbed.languages import exact as quantities
from seedbed.languages.automaton import Language
from seedbed.measuring.context import Context, Predictor
from seedbed.observations import Observation
from seedbed.references import exact

if TYPE_CHECKING:
    from conftest import OverDocuments

Found = dict[tuple[str, object], Observation]
WORDS = Options("tail possessive", "subject")


@dataclass(frozen=True)
class Fixed:
    """Always the same distribution: some tokens by name, the rest of the vocabulary shares what is left."""

    language: Language
    shares: dict[str, float]

    def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
        vocabulary = self.language.vocabulary
        row = np.full(len(vocabulary), (1 - sum(self.shares.values())) / (len(vocabulary) - len(self.shares)))
        for token, share in self.shares.items():
            row[vocabulary.id(token)] = share
        return np.tile(np.log(row), (len(documents.tokens), 1))


def observed(predictor: Predictor, context: Context, options: Options = WORDS) -> Found:
    return {(one.metric, one.condition["window"]): one for one in evaluate(predictor, context, options)}


def written(garden: Language, *texts: str) -> Context:
    return Context(garden, Documents.of(garden.encode(f"<bos> {text} . <eos>") for text in texts))


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("she picks the plum from her own garden", "inside"),  # her is the fifth word after she
        ("she picks the ripe plum from her own garden", "outside"),
        ("the children grow the pumpkin with their own hands", "inside"),  # counted from children
        ("the children grow the fresh pumpkin from their own garden", "outside"),
        ("she eats the fig . we eat the ripe fig from our own yard", "outside"),
        ("she eats the ripe fig . we eat the fig from our own yard", "inside"),
    ],
)
def test_a_subject_is_inside_up_to_exactly_five_words_back(garden: Language, text: str, window: str) -> None:
    found = observed(Fixed(garden, {}), written(garden, text))
    counts = {name: found["pronoun_count", name].value for name in ("inside", "outside")}
    assert counts == {"inside": 0, "outside": 0} | {window: 1}


def test_the_window_is_an_option(garden: Language) -> None:
    context = written(garden, "she picks the plum from her own garden")
    assert observed(Fixed(garden, {}), context, replace(WORDS, window=4))["pronoun_count", "outside"].value == 1


def test_the_language_itself_knows_every_pronoun(context: Context) -> None:
    found = observed(exact.Reference(exact.Options(), context.language), context)
    for window in ("inside", "outside"):
        assert found["pronoun_probability", window].value == pytest.approx(1, abs=1e-12)
        assert found["pronoun_accuracy", window].value == 1
        assert found["pronoun_probability", window].n == found["pronoun_count", window].value > 100


def test_five_words_are_enough_inside_their_window_only(context: Context) -> None:
    found = observed(exact.Reference(exact.Options(window=5), context.language), context)
    assert found["pronoun_probability", "inside"].value == pytest.approx(1, abs=1e-12)
    outside = found["pronoun_probability", "outside"]
    assert outside.item_error is not None
    assert abs(outside.value - 0.698) < 4 * outside.item_error


def test_a_uniform_predictor_has_one_of_the_vocabulary(context: Context) -> None:
    found = observed(Fixed(context.language, {}), context)
    for metric in ("pronoun_probability", "pronoun_accuracy"):
        assert found[metric, "outside"].value == pytest.approx(1 / 100)


@pytest.mark.parametrize(
    ("shares", "accuracy"),
    [({"her": 0.3}, 1.0), ({"her": 0.3, "own": 0.31}, 0.0), ({"her": 0.3, "own": 0.3}, 0.5)],
)
def test_accuracy_compares_with_the_whole_vocabulary(
    garden: Language, shares: dict[str, float], accuracy: float
) -> None:
    found = observed(Fixed(garden, shares), written(garden, "she picks the plum from her own garden"))
    assert found["pronoun_probability", "inside"].value == pytest.approx(0.3)
    assert found["pronoun_accuracy", "inside"].value == accuracy


def test_a_test_set_without_pronouns_has_no_value(garden: Language) -> None:
    found = observed(Fixed(garden, {}), written(garden, "she picks the plum"))
    assert found["pronoun_count", "inside"].value == 0
    assert math.isnan(found["pronoun_probability", "inside"].value)


def test_counts_follow_the_exact_share(garden: Language, context: Context) -> None:
    found = observed(Fixed(garden, {}), context)
    inside, outside = (found["pronoun_count", name].value for name in ("inside", "outside"))
    share = quantities.share_beyond_window(quantities.all_sentences(garden), "tail possessive", "subject", 5)
    assert outside / (inside + outside) == pytest.approx(share, abs=4 * math.sqrt(0.25 / (inside + outside)))


def test_errors_are_those_of_documents_drawn_as_wholes(
    context: Context, error_over_documents: OverDocuments
) -> None:
    def measure(indices: Iterable[int]) -> Found:
        predictor = exact.Reference(exact.Options(window=5), context.language)
        return observed(predictor, replace(context, test=context.test.take(indices)))

    single = [measure([index]) for index in range(60)]
    for metric in ("pronoun_probability", "pronoun_accuracy"):
        found = measure(range(60))[metric, "outside"]
        assert found.item_error == pytest.approx(error_over_documents([one[metric, "outside"] for one in single]))
