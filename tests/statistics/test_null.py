"""Simulated seeds under the null hypothesis: every kind of check decides wrongly in at most 5 % of cases.

A claim that is just true must not be contradicted in more than 5 % of cases. A claim that is just false must not
be reproduced in more than 5 % of cases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from judging import Row, cell, of, outcome

TIMES = 2000
SEEDS = 5
#: Three standard errors of a share of 5 % of the simulations.
NOISE = 3 * float(np.sqrt(0.05 * 0.95 / TIMES))

Draw = Callable[[float], list[float]]
Simulation = Callable[[Draw, np.random.Generator], tuple[dict[str, Any], Sequence[list[Row]]]]

CHAIN = [of(run) for run in ("a", "b", "c", "d")]
ONE_RUN = ("a", "b", "c", "d")


def at(draw: Draw, *means: float) -> list[list[Row]]:
    """Runs a, b, c ... with these means."""
    return [cell(run, draw(mean)) for run, mean in zip(ONE_RUN, means, strict=False)]


def bound(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    return {"kind": "bound", "of": of("a"), "at_least": 2.0}, at(draw, 2.0)


def narrow_bound(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    return {"kind": "bound", "of": of("a"), "at_least": 2.0, "at_most": 2.0}, at(draw, 2.0)


def perplexity_bound(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    return {"kind": "bound", "of": of("a", scale="perplexity"), "at_most": float(np.exp(2))}, at(draw, 2.0)


def difference(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    return {"kind": "bound", "of": of("a", minus="b"), "at_least": 1.0}, at(draw, 3.0, 2.0)


def noise(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    return {"kind": "bound", "of": of("a", seeds="sd"), "at_least": 1.0}, at(draw, 0.0)


def share(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    check = {"kind": "bound", "of": of("a", seeds="share", passes={"at_least": 0.0}), "at_least": 0.5}
    return check, at(draw, 0.0)


def share_of_some(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    """At least two of three numbers pass in half of the seeds."""
    passes = {"at_least": 0.0, "count": 2}
    check = {
        "kind": "bound",
        "of": of("a", where={"head": [1, 2, 3]}, seeds="share", passes=passes),
        "at_least": 0.5,
    }
    return check, [cell("a", draw(0.0), head=head) for head in (1, 2, 3)]


def order(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    return {"kind": "order", "of": CHAIN[:2], "margin": 0.5}, at(draw, 1.5, 1.0)


def not_worse(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    return {"kind": "order", "of": CHAIN[:2], "margin": -0.5}, at(draw, 1.0, 1.5)


def chain(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    return {"kind": "order", "of": CHAIN, "margin": 0.5}, at(draw, 2.5, 2.0, 1.5, 1.0)


def chain_with_one_wrong_link(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    return {"kind": "order", "of": CHAIN, "margin": 0.5}, at(draw, 99.0, 50.0, 49.5, 1.0)


def equivalent(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    return {"kind": "equivalent", "of": CHAIN[:2], "margin": 2.0}, at(draw, 3.0, 1.0)


def all_equivalent(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    return {"kind": "equivalent", "of": CHAIN, "margin": 2.0}, at(draw, 3.0, 1.0, 3.0, 1.0)


def band(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    return {"kind": "band", "of": of("a"), "to": rng.normal(2.0), "margin": 99}, at(draw, 2.0)


def mean_of_three(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    stated = float(rng.normal(2.0, size=3).mean())
    return {"kind": "band", "of": of("a"), "to": stated, "margin": 99, "lecture_runs": 3}, at(draw, 2.0)


def curve(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    """Six stated values at once."""
    cells = [cell("a", draw(2.0), epoch=epoch) for epoch in range(6)]
    where = {"epoch": list(range(6))}
    return {
        "kind": "band",
        "of": of("a", where=where),
        "to": rng.normal(2.0, size=6).tolist(),
        "margin": 99,
    }, cells


def perplexity_band(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    stated = float(np.exp(rng.normal(2.0)))
    return {"kind": "band", "of": of("a", scale="perplexity"), "to": stated, "margin": 1e9}, at(draw, 2.0)


def noise_band(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    stated = float(rng.normal(2.0, size=2).std(ddof=1))
    check = {"kind": "band", "of": of("a", seeds="sd"), "to": stated, "margin": 99, "lecture_runs": 2}
    return check, at(draw, 2.0)


def conjunction(draw: Draw, rng: np.random.Generator) -> tuple[dict[str, Any], Sequence[list[Row]]]:
    parts = [check for check, _ in (order(draw, rng), band(draw, rng), equivalent(draw, rng))]
    parts[1]["of"] = of("c")
    parts[2]["of"] = [of("b"), of("c")]
    return {"kind": "all", "of": parts}, at(draw, 1.5, 1.0, 2.0)


BOTH = ("contradicted", "reproduced")


# What is true and false at its very edge may be decided neither way; the others are only true, or only false.
@pytest.mark.parametrize(
    ("simulate", "wrong"),
    [
        (bound, BOTH),
        (narrow_bound, BOTH),
        (perplexity_bound, BOTH),
        (difference, BOTH),
        (noise, BOTH),
        (share, BOTH),
        (share_of_some, BOTH),
        (order, BOTH),
        (not_worse, BOTH),
        (chain, BOTH),
        (chain_with_one_wrong_link, ("reproduced",)),
        (equivalent, BOTH),
        (all_equivalent, BOTH),
        (band, ("contradicted",)),
        (mean_of_three, ("contradicted",)),
        (curve, ("contradicted",)),
        (perplexity_band, ("contradicted",)),
        (noise_band, ("contradicted",)),
        (conjunction, ("contradicted",)),
    ],
)
def test_chance_decides_at_most_5_percent_wrongly(simulate: Simulation, wrong: tuple[str, ...]) -> None:
    rng = np.random.default_rng(7)

    def draw(mean: float) -> list[float]:
        return rng.normal(mean, size=SEEDS).tolist()

    outcomes = [outcome(check, *cells) for check, cells in (simulate(draw, rng) for _ in range(TIMES))]
    for one in wrong:
        assert outcomes.count(one) / TIMES <= 0.05 + NOISE
