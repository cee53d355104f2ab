"""The facts of the farm as observations; the figures are the lecture's, or held by the language's own tests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from seedbed.documents import Documents
from seedbed.evaluations.agreement_facts import Options, evaluate
from seedbed.measuring.context import Context
from seedbed.observations import condition_text
from seedbed.references import exact


@pytest.fixture(scope="module")
def facts(farm_context: Context) -> dict[str, float]:
    nobody = exact.Reference(exact.Options(), farm_context.language)
    nothing = replace(farm_context, test=Documents.of([]))
    found = list(evaluate(nobody, nothing, Options()))
    named = {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in found}
    assert len(named) == len(found)
    return named


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("vocabulary", 56),
        ("longest_input", 19),
        ("most_attractors", 3),
        ("query_position attractors=0", 3),
        ("query_position attractors=3", 12),
        ("query_position attractors=8", 27),
        ("subject_distance attractors=3", 10),
        ("subject_distance attractors=8", 25),
    ],
)
def test_the_lectures_figures_are_exact(facts: dict[str, float], name: str, value: float) -> None:
    assert facts[name] == value


def test_the_bound_of_the_perplexity_is_the_languages_own(facts: dict[str, float], farm_context: Context) -> None:
    assert facts["language_perplexity"] == farm_context.language.perplexity()


def test_the_longest_sentences_are_as_frequent_as_in_samples(
    facts: dict[str, float], farm_context: Context
) -> None:
    share = (farm_context.test.lengths == facts["longest_input"] + 1).mean()
    assert share == pytest.approx(facts["longest_share"], abs=4 * (0.07 / 300) ** 0.5)
