"""Reading at once, by prefix and token by token; the counts are sums by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from seedbed.demonstrations.decoding_equivalence import Options, demonstrate
from seedbed.models import mixers
from seedbed.models.mixers.attention import Mixer
from seedbed.observations import condition_text
from seedbed.randomness import stream

CAUSAL = ("encoder-decoder", "gpt", "gpt-post", "lstm")


def rows(options: Options | None = None, seed: int = 0) -> dict[str, float]:
    found = list(demonstrate(options or Options(), rng=stream(seed, "decoding")))
    named = {f"{one.metric} {condition_text(one.condition)}": one.value for one in found}
    assert len(named) == len(found)
    return named


@pytest.fixture(scope="module")
def found() -> dict[str, float]:
    return rows()


@pytest.mark.parametrize("network", CAUSAL)
def test_all_ways_of_reading_give_the_same(found: dict[str, float], network: str) -> None:
    for read in ("prefixes", "cached"):
        assert found[f"difference network={network};read={read}"] < 1e-12
    assert found[f"changed network={network};token=later"] == 0
    assert found[f"changed network={network};token=seen"] == 36


@pytest.mark.parametrize("network", CAUSAL)
def test_tokens_are_counted_that_go_through_the_network(found: dict[str, float], network: str) -> None:
    read = {way: found[f"positions network={network};read={way}"] for way in ("parallel", "prefixes", "cached")}
    assert read == {"parallel": 8, "prefixes": sum(range(1, 9)), "cached": 8}
    passes = [found[f"passes network={network};read={way}"] for way in ("parallel", "prefixes", "cached")]
    assert passes == [1, 8, 8]


def test_an_lstm_steps_even_in_one_pass(found: dict[str, float]) -> None:
    assert found["steps network=lstm"] == 8
    assert not any(name.startswith("steps") and "lstm" not in name for name in found)


@pytest.mark.parametrize("prompt", [1, 5])
def test_writing_costs_the_sums_of_what_is_read(prompt: int) -> None:
    found = rows(Options(prompt=prompt, written=(1, 4)))
    for number in (1, 4):
        condition = f"prompt={prompt};read={{}};written={number}"
        counts = {
            "cached-written": prompt + number - 1,
            "cached-read": prompt + number,
            "recomputed": sum(prompt + done for done in range(number)),
            "bidirectional": sum(prompt + step for step in range(1, number + 1)),
        }
        for way, expected in counts.items():
            assert found[f"generated_positions {condition.format(way)}"] == expected


def test_growth_is_linear_with_a_cache_and_quadratic_without(found: dict[str, float]) -> None:
    for way, expected in (("cached-written", 0), ("cached-read", 0), ("recomputed", 1), ("bidirectional", 1)):
        assert found[f"growth read={way}"] == found[f"growth_most read={way}"] == expected


def test_a_cache_that_forgets_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Mixer.step

    def forgetful(self: Mixer, hidden: torch.Tensor, cache: mixers.State) -> tuple[torch.Tensor, mixers.State]:
        return plain(self, hidden, self.start(len(hidden)))

    monkeypatch.setattr(Mixer, "step", forgetful)
    found = rows()
    assert found["difference network=gpt;read=cached"] > 1e-3
    assert found["difference network=gpt;read=prefixes"] < 1e-12


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(length=0), "length"),
        (lambda: Options(written=(0, 3)), r"written \[0, 3\]: expected at least one number, each from 1"),
        (lambda: Options(written=()), r"written \[\]: expected"),
        (lambda: Options(written=(1, 2)), r"written \[1, 2\]: expected the largest to be at least 3"),
        (lambda: Options(heads=3), "heads 3: expected a divisor of width 16"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
