"""The facts of the farm; the figures are the lecture's, or held by the language's own tests."""

from __future__ import annotations

import pytest

from seedbed.demonstrations.agreement_facts import Options, demonstrate
from seedbed.languages.automaton import Language
from seedbed.observations import condition_text
from seedbed.randomness import stream


@pytest.fixture(scope="module")
def facts(farm: Language) -> dict[str, float]:
    found = list(demonstrate(Options(), language=farm))
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


def test_the_bound_of_the_perplexity_is_the_languages_own(facts: dict[str, float], farm: Language) -> None:
    assert facts["language_perplexity"] == farm.perplexity()


def test_the_longest_sentences_are_as_frequent_as_in_samples(facts: dict[str, float], farm: Language) -> None:
    lengths = farm.sample(stream(0, "facts of the farm"), 3000).lengths
    assert lengths.max() == facts["longest_input"] + 1
    share = (lengths == lengths.max()).mean()
    assert share == pytest.approx(facts["longest_share"], abs=4 * (0.07 / 3000) ** 0.5)


def test_a_number_of_attractors_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="most_attractors -1: expected at least 0"):
        Options(most_attractors=-1)
