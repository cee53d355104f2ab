"""Memory of attention, against products of sizes by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from seedbed.demonstrations.memory_counts import Options, Scores, demonstrate, saved
from seedbed.observations import condition_text


def scores(documents: int, heads: int, tokens: int, bits: int) -> Scores:
    return {"documents": documents, "heads": heads, "tokens": tokens, "bits": bits}


def options(**more: object) -> Options:
    return Options(**({"scores": (), "masked": (), "cached": (), "trained": ()} | more))  # type: ignore[arg-type]


def rows(**more: object) -> dict[str, float]:
    found = list(demonstrate(options(**more)))
    named = {f"{one.metric} {condition_text(one.condition)}": one.value for one in found}
    assert len(named) == len(found)
    return named


@pytest.mark.parametrize(
    ("documents", "heads", "tokens", "bits"), [(2, 3, 5, 32), (1, 1, 7, 64), (1, 1, 100_000, 16), (8, 8, 2048, 32)]
)
def test_each_head_of_each_document_has_a_square(documents: int, heads: int, tokens: int, bits: int) -> None:
    found = rows(scores=(scores(documents, heads, tokens, bits),))
    entries = documents * heads * tokens * tokens
    of = f"documents={documents};heads={heads};tokens={tokens}"
    assert found[f"score_entries {of}"] == found[f"score_entries_formula {of}"] == entries
    assert found[f"score_bytes bits={bits};{of}"] == entries * bits // 8


@pytest.mark.parametrize("tokens", [1, 2, 9, 64])
def test_a_causal_mask_allows_a_triangle(tokens: int) -> None:
    found = rows(masked=(tokens,))
    triangle = sum(range(1, tokens + 1))
    assert found[f"allowed_scores tokens={tokens}"] == found[f"allowed_scores_formula tokens={tokens}"] == triangle
    assert found[f"all_scores tokens={tokens}"] == tokens**2
    assert found[f"allowed_share tokens={tokens}"] == triangle / tokens**2
    wasted = found[f"wasted_share tokens={tokens}"]
    assert wasted == pytest.approx(found[f"wasted_share_formula tokens={tokens}"])
    assert wasted == pytest.approx(1 - triangle / tokens**2)


def test_a_cache_has_a_key_and_a_value_of_each_token_in_each_layer() -> None:
    found = rows(cached=(1, 3, 40))
    for tokens in (1, 3, 40):
        expected = 2 * 2 * 64 * 4 * tokens  # keys and values, two layers of width 64, four bytes
        assert found[f"cache_bytes tokens={tokens}"] == found[f"cache_bytes_formula tokens={tokens}"] == expected
        assert found[f"cache_bytes_per_token tokens={tokens}"] == 1024


def test_a_layer_keeps_squares_and_rows() -> None:
    """Twice as many tokens make four times the squares and twice the rows; heads make more squares."""
    (squares, others), (larger, longer) = saved(32, 4, 100), saved(32, 4, 200)
    assert larger == 4 * squares
    assert longer == 2 * others
    assert squares % (4 * 4 * 100 * 100) == 0
    assert saved(32, 8, 100) == (2 * squares, pytest.approx(others, rel=0.1))


def test_the_crossing_is_where_squares_take_as_much() -> None:
    crossing = int(rows(trained=({"width": 64, "heads": 4},))["saved_crossing heads=4;width=64"])
    before, at = saved(64, 4, crossing - 1), saved(64, 4, crossing)
    assert before[0] < before[1]
    assert at[0] >= at[1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: options(scores=(scores(1, 1, 8, 8),)), "scores: bits 8: expected 16, 32 or 64"),
        (lambda: options(scores=(scores(1, 0, 8, 32),)), "heads 0: expected"),
        (lambda: options(trained=({"width": 8, "heads": 3},)), "heads 3: expected a divisor of width 8"),
        (lambda: options(masked=(0,)), r"masked \[0\], cached \[\]: expected at least 1 each"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
