from __future__ import annotations

import pytest

from seedbed.evaluations.prompts import Options, evaluate
from seedbed.measuring.context import Context
from seedbed.references import exact

SLOT = "tail possessive"
CHILDREN = "the children grow the fresh pumpkin from"


def observed(context: Context, options: Options, window: int = 0) -> dict[tuple[object, object], float]:
    reference = exact.Reference(exact.Options(window), context.language)
    found = list(evaluate(reference, context, options))
    assert {one.metric for one in found} <= {"next_probability"}
    return {(one.condition["prompt"], one.condition["token"]): one.value for one in found}


def test_the_possessives_are_always_told(context: Context) -> None:
    found = observed(context, Options((CHILDREN,), SLOT))
    right = {"my": 0.0, "her": 0.0, "our": 0.0, "their": 1.0}
    assert found == pytest.approx({(CHILDREN, word): share for word, share in right.items()})


def test_a_predictor_with_a_window_guesses(context: Context) -> None:
    found = observed(context, Options((CHILDREN,), SLOT), window=5)
    assert [found[CHILDREN, word] for word in ("our", "my", "their", "her")] == pytest.approx(
        [0.452, 0.370, 0.178, 0], abs=5e-4
    )


def test_tokens_above_the_limit_are_told_and_add_up(context: Context) -> None:
    found = observed(context, Options(("she picks",), SLOT, least=0.0))
    assert sum(found.values()) == pytest.approx(1)
    assert found["she picks", "the"] == pytest.approx(0.66)
    assert ("she picks", "the") not in observed(context, Options(("she picks",), SLOT, least=0.7))


def test_what_only_the_language_expects_is_told(context: Context) -> None:
    # After "ripe" alone a fig is rare, after "eat ... ripe" it is not.
    prompt, least = "I eat my ripe", 0.05
    found = observed(context, Options((prompt,), SLOT, least), window=1)
    assert found[prompt, "fig"] < least < observed(context, Options((prompt,), SLOT, least))[prompt, "fig"]


def test_several_prompts_equal_single_ones(context: Context) -> None:
    prompts = (CHILDREN, "I grow my pretty tulip from", "she picks her ripe plum from")
    together = observed(context, Options(prompts, SLOT))
    single = [observed(context, Options((prompt,), SLOT)) for prompt in prompts]
    assert together == pytest.approx(single[0] | single[1] | single[2])


def test_no_prompt_gives_no_row(context: Context) -> None:
    assert observed(context, Options((), SLOT)) == {}


def test_an_impossible_prompt_is_refused_by_its_word(context: Context) -> None:
    with pytest.raises(ValueError, match="'own' at position 2, where verb is expected"):
        observed(context, Options(("she own",), SLOT))
