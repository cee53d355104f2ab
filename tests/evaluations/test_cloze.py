"""Holes filled by the language itself, by predictors whose answers are known, and by new networks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from seedbed.documents import Documents
from seedbed.evaluations import cloze, cloze_bayes
from seedbed.languages.automaton import Language
from seedbed.log import Log
from seedbed.measuring.context import Context
from seedbed.measuring.holes import Holes, draw_holes
from seedbed.measuring.trained import TrainedModel
from seedbed.models import encoder_decoder, transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.objectives import flm, mlm, plm, span
from seedbed.observations import Observation
from seedbed.references import exact

Numbers = NDArray[np.float64]
ITEMS = 30


@pytest.fixture(scope="module")
def holes(context: Context) -> Holes:
    return draw_holes(context.language, context.test, ITEMS)


def new(objective: object, kind: ModuleType = transformer) -> TrainedModel:
    """An untrained network, small and in double precision."""
    network = unfilled(lambda: kind.Model(kind.Options(d_model=16, heads=2, d_ff=8), 100))
    fill(network, torch.Generator().manual_seed(0))
    return TrainedModel(network.double(), objective, Log(), lambda: Documents.of([]))


def overall(found: list[Observation]) -> dict[str, Observation]:
    return {one.metric: one for one in found if not {"slot", "evidence"} & set(one.condition)}


@dataclass
class Recorded:
    """A continuer that keeps what it is asked, and gives every token the same."""

    asked: list[tuple[Documents, NDArray[np.int64]]] = field(default_factory=list)

    def continuation(self, documents: Documents, starts: NDArray[np.int64]) -> Numbers:
        self.asked.append((documents, starts))
        return np.full(int((documents.lengths - starts).sum()), -1.0)


@pytest.mark.parametrize("until", ["sentences", "documents"])
def test_bayes_over_the_language_is_its_posterior(holes: Holes, until: str) -> None:
    reference = exact.Reference(exact.Options(), holes.language)
    filled = cloze_bayes.filled(reference, holes, getattr(holes, until))
    np.testing.assert_allclose(np.exp(filled), np.exp(holes.truth), atol=1e-5)


def test_the_language_fills_its_own_holes_without_divergence(context: Context) -> None:
    reference = exact.Reference(exact.Options(), context.language)
    found = overall(list(cloze.evaluate(reference, context, cloze.Options(ITEMS))))
    assert found["cloze_divergence"].value == pytest.approx(0, abs=1e-12)
    assert found["cloze_loss"].condition == {"method": "direct"}
    assert "cloze_forwards" not in found


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (cloze, cloze.Options(ITEMS)),
        (cloze_bayes, cloze_bayes.Options(ITEMS)),
        (cloze_bayes, cloze_bayes.Options(ITEMS, "document")),
    ],
)
def test_a_window_is_not_below_the_exact_floor(context: Context, method: ModuleType, options: object) -> None:
    reference = exact.Reference(exact.Options(5), context.language)
    found = overall(list(method.evaluate(reference, context, options)))
    loss, floor = found["cloze_loss"], found["cloze_language_loss"]
    assert found["cloze_divergence"].value > -1e-12
    assert loss.item_error is not None
    assert loss.value > floor.value - 3 * loss.item_error


def test_a_continuer_that_knows_nothing_chooses_among_87_words(context: Context) -> None:
    found = overall(list(cloze_bayes.evaluate(Recorded(), context, cloze_bayes.Options(ITEMS))))
    assert found["cloze_loss"].value == pytest.approx(math.log(87))


def test_every_word_is_put_into_the_hole_and_scored_with_what_follows(garden: Language) -> None:
    document = garden.encode("<bos> she picks the plum . we eat the fig . <eos>")
    recorded, holes = Recorded(), Holes(garden, Documents.of([document]), np.array([2]))
    cloze_bayes.filled(recorded, holes, holes.sentences)
    ((candidates, starts),) = recorded.asked
    assert starts.tolist() == [2] * 87
    assert [garden.decode(one) for one in candidates] == [
        f"<bos> she {word} the plum ." for word in garden.vocabulary.words
    ]


def test_whole_documents_are_scored_where_that_is_chosen(context: Context) -> None:
    recorded = Recorded()
    found = overall(list(cloze_bayes.evaluate(recorded, context, cloze_bayes.Options(ITEMS, "document"))))
    assert found["cloze_loss"].condition == {"method": "bayes", "until": "document"}
    whole = [
        int(candidates.lengths[index])
        for candidates, _ in recorded.asked
        for index in range(0, len(candidates), 87)
    ]
    assert whole == context.test.lengths[:ITEMS].tolist()


def test_a_left_to_right_model_compares_whole_documents(holes: Holes) -> None:
    model = new(flm.Objective(flm.Options(), holes.language.vocabulary))
    filled = cloze_bayes.filled(model, holes, holes.documents)
    words = holes.language.vocabulary.word_ids
    for index in (0, 11, 29):
        scores = []
        for word in words:
            document = holes.documents[index].copy()
            document[holes.places[index]] = word
            rows = model.log_probabilities(Documents.of([document[:-1]]))
            scores.append(rows[np.arange(len(rows)), document[1:]].sum())
        expected = np.array(scores) - np.logaddexp.reduce(scores)
        np.testing.assert_allclose(filled[index, words], expected, atol=1e-9)


@pytest.mark.parametrize(
    ("method", "objective", "kind", "forwards"),
    [
        (cloze, mlm, transformer, 1),
        (cloze, span, encoder_decoder, 87),
        (cloze_bayes, flm, transformer, 87),
        (cloze_bayes, plm, transformer, 87),
    ],
)
def test_forwards_are_counted(
    context: Context, method: ModuleType, objective: ModuleType, kind: ModuleType, forwards: int
) -> None:
    model = new(objective.Objective(objective.Options(), context.language.vocabulary), kind)
    found = overall(list(method.evaluate(model, context, method.Options(3))))
    assert found["cloze_forwards"].value == forwards


def test_what_is_read_is_a_share_of_the_documents(context: Context) -> None:
    read = [
        overall(list(cloze_bayes.evaluate(Recorded(), context, options)))["cloze_read"].value
        for options in (cloze_bayes.Options(300), cloze_bayes.Options(300, "document"))
    ]
    assert read == [pytest.approx(8.718 / 25.154, abs=0.03), 1.0]  # a sentence and <bos>, of a document


@pytest.mark.parametrize("method", [cloze, cloze_bayes])
def test_no_holes_are_refused(method: ModuleType) -> None:
    with pytest.raises(ValueError, match="items 0: expected at least 1"):
        method.Options(items=0)
