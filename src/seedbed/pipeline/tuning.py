"""`make tune`: what a lecture leaves open is chosen once a study, by validation loss, from the study file's grid.

The seeds are never reported, so that no reported figure was looked at for the choice; a person writes the winner
into the study file.
"""

from __future__ import annotations

import math
import statistics

from seedbed.languages.corpora import draw
from seedbed.pipeline import jobs, plugins
from seedbed.pipeline.configuration import TUNING_SEEDS, plugin_values
from seedbed.pipeline.plan import PURPOSES, Plan
from seedbed.pipeline.yaml import ConfigError


def tune(plan: Plan, study: str) -> None:
    """Train the study's grid and print the validation loss of every choice, the best first.

    Raises:
        ConfigError: no such study, or it has no grid.
    """
    entry = plan.configuration.studies.get(study)
    if entry is None or entry.tune is None:
        raise ConfigError(f"config/studies/{study}.yaml: tune: a study with a grid to tune is expected")
    results = []
    for choice in entry.tune.grid:
        seeds = range(TUNING_SEEDS, TUNING_SEEDS + entry.tune.seeds)
        losses = [_loss(plan, study, entry.tune.run, choice, seed) for seed in seeds]
        results.append((statistics.mean(losses), choice, losses))
        print(f"{choice}: {', '.join(f'{loss:.4f}' for loss in losses)}", flush=True)
    for mean, choice, _ in sorted(results, key=lambda result: result[0]):
        print(f"mean validation loss {mean:.4f} nats a token: {choice}")


def _loss(plan: Plan, study: str, name: str, choice: dict[str, plugins.Value], seed: int) -> float:
    """The least validation loss of one training, drawn and trained in memory."""
    run = plan.run(study, name)
    place = f"config/studies/{study}.yaml: tune.grid"
    run = run.model_copy(update={"model": plugin_values("models", run.model | choice, place)})
    training = draw(plan.corpus(study, run.data, "training", seed))
    validation = draw(plan.corpus(study, run.data, "validation", None))
    log = jobs.fit(plan, study, run, training, validation, dict.fromkeys(PURPOSES, seed)).log
    return log.validation_loss[log.selected.index(True)] if any(log.selected) else math.inf
