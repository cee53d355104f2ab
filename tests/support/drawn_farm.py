"""Drawn tables of studies with other shapes of conditions than the garden's, and a file of figures for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from seedbed.observations import COLUMNS, Observation, rows
from seedbed.reporting.drawing.marks import Mark, Shading
from seedbed.reporting.figures import Part, figure
from seedbed.reporting.panels.bars import bars, stacks
from seedbed.reporting.panels.heat_maps import heat_maps
from seedbed.reporting.panels.lines import lines, lines_beside
from seedbed.reporting.panels.strips import beside, matrix
from seedbed.reporting.results import Measure, Results, ShownRun, ShownStudy

RUNS = (
    ShownRun("near", "Transformer", "trained", (0, 1, 2)),
    ShownRun("far", "RNN from scratch", "trained", (0, 1, 2)),
    ShownRun("exact", "the language itself", "reference"),
)
STUDY = ShownStudy("farm", "The farm", "Sentences with [[window]]s of many words.", "farm", False, RUNS)

AGREEMENT = Measure("agreement", "agreement", "agreement", "share")
ATTENTION = Measure("attention", "attention", "attention", "share")
GRADIENT = Measure("gradient", "gradient at the start", "gradient", "norm")
CUT = Measure("cut", "accuracy", "cut", "share")
ERRORS = Measure("errors", "sentences", "errors", "share")
TASKS = tuple(Measure(task, task, "task", "share", {"task": task}) for task in ("cloze", "continuation", "copy"))

MEASURES = (AGREEMENT.at({"attractors": 0}),)


def _measured(run: ShownRun, rng: np.random.Generator) -> Iterator[Observation]:
    for k in (0, 1, 2, 4, 8, 16):
        share = float(np.clip(1 - 0.05 * k + rng.normal(0, 0.02), 0, 1))
        yield Observation("agreement", share, {"attractors": k}, "share", 500)
        yield Observation("gradient", float(np.exp(-0.8 * k + rng.normal())), {"distance": k}, "norm")
    for layer, head, group in product((1, 2), (1, 2, 3), ("subject", "attractor", "other")):
        at = {"layer": layer, "head": head, "group": group}
        yield Observation("attention", float(rng.random()), at, "share", 500)
    for connection in ("none", "subject", "verb before"):
        yield Observation("cut", float(rng.random()), {"connection": connection}, "share", 500)
    for kind, size in zip("abcdefgh", rng.dirichlet(np.arange(1, 9)), strict=True):
        yield Observation("errors", float(size), {"error": f"kind {kind}"}, "share", 500)
    for task in ("cloze", "continuation", "copy"):
        yield Observation("task", float(rng.random()), {"task": task}, "share", 500)


def observations(study: str = "farm") -> pd.DataFrame:
    """Every run's observations."""
    found: list[dict[str, object]] = []
    for at, run in enumerate(RUNS):
        for seed in run.seeds or (None,):
            rng = np.random.default_rng([at, 0 if seed is None else seed + 1])
            found += rows(_measured(run, rng), study=study, run=run.name, seed=seed)
    frame = pd.DataFrame(found, columns=list(COLUMNS))
    return frame.astype({"seed": "Int64", "n": "Int64", "value": float, "item_error": float})


def parts(results: Results) -> Iterator[Part]:
    """A figure of each kind of block."""
    trained = results.trained
    pair = [(trained[0], trained[1])]
    seen = Shading(0, 4, "attractors in training")
    seeds = ("one seed, adapted", "one seed, from scratch")
    agreement = lines(results, AGREEMENT, "attractors", band=seen, mark=Mark(0.5, "chance", "chance"))
    gradient = lines(results, GRADIENT, "distance", trained, ("linear", "log"))
    heads = heat_maps(results, ATTENTION, ("layer", "head"), "group", trained)
    yield Part(
        "Agreement",
        "How far [[seed]]s agree.",
        (
            figure(results, "agreement", "Does agreement survive attractors?", "It falls.", agreement),
            figure(results, "gradient", "How large is the gradient?", "It falls.", gradient),
        ),
    )
    yield Part(
        "Attention",
        "",
        (
            figure(results, "heads", "Where do the heads look?", "Everywhere.", heads),
            figure(results, "cut", "What does a cut connection cost?", "Much.", bars(results, CUT, "connection")),
        ),
    )
    yield Part(
        "Objectives",
        "",
        (
            figure(results, "tasks", "Which objective solves which task?", "Some.", matrix(results, TASKS)),
            figure(
                results,
                "errors",
                "What goes wrong?",
                "All.",
                stacks(results, ERRORS, "error", "Share of sentences"),
            ),
            figure(
                results,
                "adapted",
                "Does adaptation help?",
                "It does.",
                lines_beside(results, AGREEMENT, "attractors", pair, seeds, ("log", "linear")),
                beside(results, CUT.at({"connection": "none"}), "Accuracy, adapted · from scratch", pair, seeds),
            ),
        ),
    )
