"""What objectives ask for and how texts are written, on the garden."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import pytest

from seedbed.demonstrations import objective_examples, sampling_examples
from seedbed.languages.automaton import Language
from seedbed.observations import Observation, condition_text
from seedbed.randomness import stream


def named(rows: Iterable[Observation]) -> dict[str, float]:
    listed = list(rows)
    found = {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in listed}
    assert len(found) == len(listed)
    return found


@pytest.fixture(scope="module")
def asked(garden: Language) -> dict[str, float]:
    options = objective_examples.Options(blocks=3, length=7, documents=300, width=8, heads=2, steps=1)
    return named(objective_examples.demonstrate(options, language=garden, rng=stream(0, "objectives")))


@pytest.fixture(scope="module")
def written(garden: Language) -> dict[str, float]:
    options = sampling_examples.Options(vocabulary=4, length=3, width=8, top_k=(1, 2, 4), draws=500)
    return named(sampling_examples.demonstrate(options, language=garden, rng=stream(0, "sampling")))


def test_blocks_are_shifted_by_one(asked: dict[str, float]) -> None:
    assert [asked[f"block_shape axis={axis};of=inputs"] for axis in ("blocks", "tokens")] == [3, 7]
    assert {value for name, value in asked.items() if name.startswith("mismatches")} == {0}


def test_losses_are_means_of_log_probabilities(asked: dict[str, float], garden: Language) -> None:
    assert asked["loss_difference objective=flm"] < 1e-12
    assert asked["loss_difference objective=mlm"] < 1e-12
    assert asked["sum_difference"] < 1e-10
    assert asked["uniform_loss"] == math.log(len(garden.vocabulary))
    assert asked["gradient at=not hidden"] == 0 < asked["gradient at=hidden"]


def test_a_hidden_word_is_read_from_both_sides(asked: dict[str, float]) -> None:
    assert asked["context_share side=left"] == asked["context_share side=right"] == asked["mask_share"] == 1
    replaced = [asked[f"replaced_share by={by}"] for by in ("mask", "random", "same")]
    assert sum(replaced) == pytest.approx(1)
    assert replaced == pytest.approx([0.8, 0.1, 0.1], abs=0.06)


def test_sums_of_embeddings_are_one_product(asked: dict[str, float]) -> None:
    assert asked["input_difference"] < 1e-13
    assert asked["segment_difference"] < 1e-13


def test_the_same_seed_gives_the_same_weights(asked: dict[str, float]) -> None:
    assert asked["rerun_difference seed=same"] == 0 < asked["rerun_difference seed=another"]


def test_the_k_largest_logits_are_drawn_from(written: dict[str, float]) -> None:
    for number in (1, 2, 4):
        assert written[f"possible_tokens top_k={number}"] == number
        assert written[f"outside top_k={number}"] == 0
        assert written[f"draw_deviation top_k={number}"] < 0.1
    assert written["plain_difference top_k=4"] < 1e-15
    assert (
        written["greedy_mismatches"]
        == written["loop_mismatches top_k=1"]
        == written["loop_mismatches top_k=3"]
        == 0
    )


def test_the_probabilities_of_all_texts_add_up_to_one(written: dict[str, float]) -> None:
    for network in ("gpt", "encoder-decoder"):
        assert written[f"probability_total network={network}"] == pytest.approx(1, abs=1e-12)
        assert written[f"product_difference network={network}"] < 1e-12
    assert written["last_difference"] < 1e-12


def test_what_follows_depends_on_what_was_written_before(written: dict[str, float], garden: Language) -> None:
    after = garden.next_token(garden.encode("<bos> we grow the pretty tulip from"))
    (our,) = garden.encode("our")
    assert written["later_probability subject=we;word=our"] == pytest.approx(float(after[our]))
    assert written["later_probability subject=we;word=our"] > written["later_probability subject=we;word=my"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: objective_examples.Options(heads=3), "heads 3: expected a divisor of width 32"),
        (lambda: objective_examples.Options(blocks=0), "blocks 0: expected"),
        (lambda: sampling_examples.Options(top_k=(6,)), r"top_k \[6\]: expected each from 1 to vocabulary 5"),
        (lambda: sampling_examples.Options(vocabulary=1), "vocabulary 1: expected at least 2"),
        (lambda: sampling_examples.Options(subjects=()), r"subjects \[\]: expected at least one"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
