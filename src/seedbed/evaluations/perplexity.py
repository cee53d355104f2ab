"""How far a predictor is from the language, token by token (objectives 5.1, 5.2).

The test set is drawn from the full language. A predictor that is the language has an excess and a divergence of
exactly 0. The excess of any other predictor estimates its divergence; over all tokens it can be below 0 only by
chance, hardly by more than three of its standard errors.

This holds only for all tokens together. Which sentences are withheld is part of what is predicted, so the excess
of a part of the sentences is no divergence. A predictor that never expects a withheld pair expects the other words
more than the language does: its excess in ``other`` may be negative, and the gap share of ``withheld`` then
exceeds 100 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.measuring.context import Context, Predictor
from seedbed.measuring.divergence import divergence
from seedbed.observations import Observation, mean

NEEDS = ("log_probabilities",)
SOURCE = "language"


@dataclass(frozen=True)
class Options:
    """Nothing to choose."""


@dataclass(frozen=True)
class _Scores:
    """One number for each predicted token of the test set, which is every token but the first of a document."""

    loss: NDArray[np.float64]
    language_loss: NDArray[np.float64]
    divergence: NDArray[np.float64]
    special_mass: NDArray[np.float64]

    @property
    def excess(self) -> NDArray[np.float64]:
        return self.loss - self.language_loss


def evaluate(model: Predictor, context: Context, options: Options) -> Iterator[Observation]:
    """Loss, the language's own loss on the same tokens, excess, divergence and mass on structural tokens.

    Each for all tokens. If the language withholds combinations from training, also for the tokens of the sentences
    with one and of the others, with the share that the withheld sentences have of the tokens and, if there is an
    excess at all, of the total excess.
    """
    scores = _scores(model, context)
    targets = context.test.positions > 0
    document = context.test.owners[targets]
    yield from _means(scores, "all", np.ones(len(document), dtype=np.bool_), document)
    if context.language.without_withheld is None:
        return
    withheld = context.language.withheld_tokens(context.test)[targets]
    yield from _means(scores, "withheld", withheld, document)
    yield from _means(scores, "other", ~withheld, document)
    yield mean("token_share", withheld, unit="share", clusters=document)
    if gap := float(scores.excess.sum()):
        yield Observation("gap_share", float(scores.excess[withheld].sum()) / gap, unit="share")


def _means(
    scores: _Scores, name: str, part: NDArray[np.bool_], document: NDArray[np.int64]
) -> Iterator[Observation]:
    """Every metric over a part of the tokens, given the document of each."""
    for metric in ("loss", "language_loss", "excess", "divergence", "special_mass"):
        unit = "share" if metric == "special_mass" else "nat"
        values = getattr(scores, metric)[part]
        yield mean(metric, values, {"sentences": name}, unit, clusters=document[part])


def _scores(model: Predictor, context: Context) -> _Scores:
    documents, language = context.test, context.language
    inputs = documents.without_last()
    targets = documents.without_first().tokens
    predicted = model.log_probabilities(inputs)
    with np.errstate(divide="ignore"):
        true = np.log(language.probability[language.states(inputs)])
    each = np.arange(len(targets))
    return _Scores(
        loss=-predicted[each, targets],
        language_loss=-true[each, targets],
        divergence=divergence(true, predicted),
        special_mass=np.exp(predicted[:, language.vocabulary.structural_ids]).sum(1),
    )
