"""`make tune`: what a lecture leaves open is chosen once a study, by validation loss, from the study file's grid.

The seeds are never reported, so that no reported figure was looked at for the choice; a person writes the winner
into the study file.
"""

from __future__ import annotations

import math
import statistics

from seedbed.configuration import plugins
from seedbed.configuration.schema import TUNING_SEEDS, Run
from seedbed.configuration.studies import tuning_runs
from seedbed.configuration.yaml import ConfigError
from seedbed.documents import Documents
from seedbed.pipeline import jobs
from seedbed.pipeline.plan import PURPOSES, Plan, check


def tune(plan: Plan, study: str) -> None:
    """Train the study's grid and print the validation loss of every choice, the best first.

    Raises:
        ConfigError: the study has no grid; a grammar, an option or a plug-in is wrong.
    """
    entry = plan.configuration.studies[study]
    place, grid = f"config/studies/{study}.yaml", entry.tune
    if grid is None:
        raise ConfigError(f"{place}: tune: this key is required, with a run, seeds and a grid")
    check(plan.configuration)
    data, seeds = entry.runs[grid.run].data, range(TUNING_SEEDS, TUNING_SEEDS + grid.seeds)
    with plugins.errors_at(f"{place}: data.{data}"):
        validation = jobs.drawn(plan, study, data, "validation", None)
        training = {seed: jobs.drawn(plan, study, data, "training", seed) for seed in seeds}
    results = []
    for index, (choice, run) in enumerate(zip(grid.grid, tuning_runs(entry, place), strict=True)):
        with plugins.errors_at(f"{place}: tune.grid[{index}]"):
            losses = [_loss(plan, study, run, training[seed], validation, seed) for seed in seeds]
        results.append((losses, choice))
        print(f"{choice}: {', '.join(f'{loss:.4f}' for loss in losses)}", flush=True)
    for losses, choice in sorted(results, key=lambda result: statistics.mean(result[0])):
        print(f"mean validation loss {_summary(losses)}: {choice}")


def _summary(losses: list[float]) -> str:
    defined = len(losses) > 1 and all(map(math.isfinite, losses))
    sd = statistics.stdev(losses) if defined else math.nan
    return f"{statistics.mean(losses):.4f} nats a token, sd {sd:.4f} over {len(losses)} seeds"


def _loss(plan: Plan, study: str, run: Run, training: Documents, validation: Documents, seed: int) -> float:
    """The least validation loss of one training, in memory; infinite if none was finite."""
    log = jobs.fit(plan, study, run, training, validation, dict.fromkeys(PURPOSES, seed)).log
    return log.validation_loss[log.selected.index(True)] if any(log.selected) else math.inf
