from __future__ import annotations

import pytest

from seedbed.evaluations.facts import Options, evaluate
from seedbed.measuring.context import Context
from seedbed.observations import condition_text
from seedbed.references import exact

RIGHT = "the children grow the fresh pumpkin from their own garden ."
WRONG = "the children grow the fresh pumpkin from our own garden ."
EXAMPLES = Options(
    sentences=f"{RIGHT} | {WRONG}",
    pairs="pick plum | eat plum",
    prepositions="from | in",
    others="the",
    agreement="I my | she her | we our | children their",
)


@pytest.fixture(scope="module")
def found(context: Context) -> dict[tuple[str, str], float]:
    observations = list(evaluate(exact.Reference(exact.Options(), context.language), context, EXAMPLES))
    assert all(one.n is None and one.unit for one in observations)
    return {(one.metric, condition_text(one.condition)): one.value for one in observations}


def test_the_garden_has_the_lectures_sizes(found: dict[tuple[str, str], float]) -> None:
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
        ("possessives_per_1000", 990, 0.5),
        ("visible_positions", 22.01, 0.005),
        ("out_of_window_share", 0.446, 0.0005),
        ("withheld_token_share", 0.056, 0.0005),
        ("noun_zipf_exponent", 0.738, 0.0005),
        ("possessive_decided", 1, 1e-12),
    ],
)
def test_a_quantity_is_that_of_the_garden(
    found: dict[tuple[str, str], float], metric: str, value: float, tolerance: float
) -> None:
    assert found[metric, ""] == pytest.approx(value, abs=tolerance)


def test_a_sentence_with_the_wrong_possessive_is_not_grammatical(found: dict[tuple[str, str], float]) -> None:
    assert found["grammatical", f"sentence={RIGHT}"] == 1
    assert found["grammatical", f"sentence={WRONG}"] == 0


def test_only_a_withheld_pair_is_withheld(found: dict[tuple[str, str], float]) -> None:
    assert found["withheld", "pair=pick plum"] == 1
    assert found["withheld", "pair=eat plum"] == 0


def test_from_brings_a_possessive_and_in_an_article(found: dict[tuple[str, str], float]) -> None:
    after = {key: value for (metric, key), value in found.items() if metric == "after"}
    assert after == pytest.approx(
        {
            "next=possessive;word=from": 1,
            "next=the;word=from": 0,
            "next=possessive;word=in": 0,
            "next=the;word=in": 1,
        }
    )


def test_the_floor_outside_the_window_is_below_that_inside(found: dict[tuple[str, str], float]) -> None:
    assert found["pronoun_floor", "window=inside"] == pytest.approx(1)
    assert found["pronoun_floor", "window=outside"] == pytest.approx(0.698, abs=5e-4)


def test_without_examples_only_the_examples_are_missing(context: Context) -> None:
    model = exact.Reference(exact.Options(), context.language)
    metrics = {one.metric for one in evaluate(model, context, Options())}
    assert not metrics & {"grammatical", "withheld", "after", "possessive_decided"}
    assert "language_perplexity" in metrics
