"""Perplexity's evaluation on predictors whose values are known without it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from seedbed.documents import Documents
from seedbed.evaluations.perplexity import Options, divergence, evaluate
from seedbed.languages.automaton import Language
from seedbed.measuring.context import Context
from seedbed.observations import Observation
from seedbed.references import exact

if TYPE_CHECKING:
    from conftest import OverDocuments


@dataclass(frozen=True)
class Mixture:
    """The language with a share of its probability spread over the whole vocabulary."""

    language: Language
    share: float

    def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
        true = self.language.probability[self.language.states(documents)]
        return np.log((1 - self.share) * true + self.share / true.shape[1])


def observed(predictor: object, context: Context) -> dict[tuple[str, object], Observation]:
    found = list(evaluate(predictor, context, Options()))  # type: ignore[arg-type]
    return {(one.metric, one.condition.get("sentences")): one for one in found}


def test_the_language_itself_has_excess_and_divergence_exactly_zero(context: Context) -> None:
    found = observed(exact.Reference(exact.Options(), context.language), context)
    for part in ("all", "withheld", "other"):
        assert found["excess", part].value == 0
        assert found["divergence", part].value == 0
        assert found["special_mass", part].value == 0
    assert ("gap_share", None) not in found


def test_a_language_that_withholds_nothing_has_no_parts(farm_context: Context) -> None:
    found = observed(exact.Reference(exact.Options(), farm_context.language), farm_context)
    assert {part for _, part in found} == {"all"}


def test_the_language_scores_its_own_entropy(context: Context) -> None:
    loss = observed(exact.Reference(exact.Options(), context.language), context)["loss", "all"]
    assert loss.item_error is not None
    assert abs(loss.value - context.language.entropy_rate()) < 4 * loss.item_error


def test_a_uniform_predictor_loses_the_log_of_the_vocabulary(context: Context) -> None:
    found = observed(Mixture(context.language, 1.0), context)
    assert found["loss", "all"].value == pytest.approx(math.log(100))
    assert found["special_mass", "all"].value == pytest.approx(0.1)


def test_divergence_is_what_excess_estimates_with_less_noise(context: Context) -> None:
    found = observed(Mixture(context.language, 0.2), context)
    excess, exact_value = found["excess", "all"], found["divergence", "all"]
    assert excess.item_error is not None
    assert exact_value.item_error is not None
    assert abs(excess.value - exact_value.value) < 4 * excess.item_error
    assert exact_value.item_error < excess.item_error


def test_divergence_is_taken_from_the_language_to_the_model() -> None:
    true, predicted = np.log([[0.5, 0.5, 1e-300]]), np.log([[0.9, 0.05, 0.05]])
    assert divergence(true, predicted)[0] == pytest.approx(0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.05))


def test_an_impossible_token_adds_nothing_and_a_missed_one_is_infinite() -> None:
    with np.errstate(divide="ignore"):
        certain, other = np.log([[1.0, 0.0]]), np.log([[0.0, 1.0]])
    assert divergence(certain, np.log([[0.25, 0.75]]))[0] == pytest.approx(math.log(4))
    assert divergence(certain, other)[0] == math.inf


def test_parts_make_the_whole(context: Context) -> None:
    found = observed(Mixture(context.language, 0.3), context)
    for metric in ("loss", "excess", "divergence"):
        parts = [found[metric, part] for part in ("withheld", "other")]
        total = sum(one.value * (one.n or 0) for one in parts)
        assert total == pytest.approx(found[metric, "all"].value * (found[metric, "all"].n or 0))
        assert sum(one.n or 0 for one in parts) == found[metric, "all"].n
    withheld = found["excess", "withheld"]
    share = withheld.value * (withheld.n or 0) / (found["excess", "all"].value * (found["excess", "all"].n or 1))
    assert found["gap_share", None].value == pytest.approx(share)
    assert found["token_share", None].value == (withheld.n or 0) / (found["loss", "all"].n or 1)


def test_every_token_but_the_first_of_a_document_is_counted(context: Context) -> None:
    found = observed(Mixture(context.language, 0.3), context)
    assert found["loss", "all"].n == len(context.test.tokens) - len(context.test)


def test_perplexity_is_a_mean_over_tokens_not_over_documents(garden: Language) -> None:
    documents = Documents.of(
        [
            garden.encode(text)
            for text in (
                "<bos> I eat the plum . <eos>",
                "<bos> she picks her ripe apple from her own garden . we cook the bean . <eos>",
            )
        ]
    )
    found = observed(exact.Reference(exact.Options(), garden), Context(garden, documents))
    total = sum(garden.log_probability(document) for document in documents)
    assert found["loss", "all"].value == pytest.approx(-total / (len(documents.tokens) - 2))


def test_errors_are_those_of_documents_drawn_as_wholes(
    context: Context, error_over_documents: OverDocuments
) -> None:
    def measure(indices: Iterable[int]) -> dict[tuple[str, object], Observation]:
        return observed(Mixture(context.language, 0.2), replace(context, test=context.test.take(indices)))

    single = [measure([index]) for index in range(60)]
    for key, found in measure(range(60)).items():
        if found.n is not None:
            assert found.item_error == pytest.approx(error_over_documents([one[key] for one in single])), key
