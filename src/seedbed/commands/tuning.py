"""`make tune`: compare the choices of a study's grid, which a lecture leaves open, by validation loss.

Its seeds are never reported, so no reported figure influences the choice. A person writes the best one into the
study file.
"""

from __future__ import annotations

import math
import statistics

from seedbed.configuration import plugins
from seedbed.configuration.schema import TUNING_SEEDS, Run
from seedbed.configuration.studies import tuning_runs
from seedbed.configuration.yaml import ConfigError
from seedbed.documents import Documents
from seedbed.pipeline.jobs.corpus import Corpus
from seedbed.pipeline.jobs.training import Training
from seedbed.pipeline.plan import Plan, check


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
    name, data = grid.run, entry.runs[grid.run].data
    seeds = range(TUNING_SEEDS, TUNING_SEEDS + grid.seeds)
    validation = plan.corpus(study, data, "validation", None)
    corpora = {seed: plan.corpus(study, data, "training", seed) for seed in seeds}
    with plugins.errors_at(f"{place}: data.{data}"):
        held_out = validation.draw()
        documents = {seed: corpus.draw() for seed, corpus in corpora.items()}
    results = []
    for index, (choice, run) in enumerate(zip(grid.grid, tuning_runs(entry, place), strict=True)):
        trainings = [_training(study, name, run, seed, corpora[seed], validation) for seed in seeds]
        with plugins.errors_at(f"{place}: tune.grid[{index}]"):
            losses = [_loss(one, documents[one.seed], held_out) for one in trainings]
        results.append((losses, choice))
        print(f"{choice}: {', '.join(f'{loss:.4f}' for loss in losses)}", flush=True)
    for losses, choice in sorted(results, key=lambda result: statistics.mean(result[0])):
        print(f"mean validation loss {_summary(losses)}: {choice}")


def _training(study: str, name: str, run: Run, seed: int, corpus: Corpus, validation: Corpus) -> Training:
    """A training with all streams of its own seed, and new weights."""
    free = run.model_copy(update={"streams": {}, "start": None})
    return Training(study, name, seed, free, corpus, validation, None)


def _summary(losses: list[float]) -> str:
    defined = len(losses) > 1 and all(map(math.isfinite, losses))
    sd = statistics.stdev(losses) if defined else math.nan
    return f"{statistics.mean(losses):.4f} nats a token, sd {sd:.4f} over {len(losses)} seeds"


def _loss(training: Training, documents: Documents, validation: Documents) -> float:
    """The least validation loss of one training, in memory; infinite if none was finite."""
    log = training.fit(documents, validation).log
    return log.validation_loss[log.selected.index(True)] if any(log.selected) else math.inf
