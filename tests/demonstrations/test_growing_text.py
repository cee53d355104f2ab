"""States of a text that grows, and that a change of earlier ones is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from seedbed.demonstrations import growing_text
from seedbed.demonstrations.growing_text import Options, demonstrate
from seedbed.observations import condition_text
from seedbed.randomness import stream

SMALL = Options(width=8, heads=2, inner=8, layers=2, tokens=5, prefix=2, depths=(1, 3))


def rows(options: Options = SMALL, seed: int = 0) -> dict[str, float]:
    found = list(demonstrate(options, rng=stream(seed, "growing")))
    named = {f"{one.metric} {condition_text(one.condition)}": one.value for one in found}
    assert len(named) == len(found)
    return named


@pytest.mark.parametrize("seed", range(3))
def test_only_states_that_see_the_new_token_change(seed: int) -> None:
    found = rows(seed=seed)
    for layer in (1, 2):
        for text in ("causal", "prefix"):
            assert found[f"change layer={layer};text={text}"] < 1e-12
        for text in ("bidirectional", "grown prefix"):
            assert found[f"change layer={layer};text={text}"] >= found[f"least_change layer={layer};text={text}"]
            assert found[f"least_change layer={layer};text={text}"] > 0.001


def test_layers_are_shown_as_far_as_asked_for() -> None:
    found = rows()
    assert {name.split(";")[0] for name in found if name.startswith("change")} == {
        "change layer=1",
        "change layer=2",
    }
    for depth in (1, 3):
        assert found[f"dependences layers={depth};token=later"] == 0
        assert found[f"dependences layers={depth};token=seen"] == 15


def test_a_look_ahead_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = growing_text.pack
    monkeypatch.setattr(growing_text, "pack", lambda documents, prefixes: plain(documents, [len(documents[0])]))
    found = rows()
    assert found["change layer=1;text=causal"] > 0.001
    assert found["dependences layers=1;token=later"] == 10


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(layers=0), "layers"),
        (lambda: Options(prefix=9), "prefix 9: expected at most tokens 8"),
        (lambda: Options(depths=()), r"depths \[\]: expected at least one"),
        (lambda: Options(heads=3), "heads 3: expected a divisor of width 16"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
