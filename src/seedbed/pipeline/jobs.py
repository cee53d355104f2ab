"""The jobs of a build: each reads its inputs, calls the code that computes, and writes its result.

A job recomputes its fingerprint and stops where the workflow asked for another. Heavy imports stand inside the
functions, since every job is a process of its own.
"""

from __future__ import annotations

import math
import resource
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cache, partial
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.configuration import plugins
from seedbed.configuration.claim_files import settings
from seedbed.configuration.configuration import Run
from seedbed.configuration.yaml import ConfigError
from seedbed.errors import SeedbedError
from seedbed.observations import COLUMNS, Observation, Scalar, rows
from seedbed.pipeline import reference_files, storage
from seedbed.pipeline.plan import (
    COMPARISON,
    OBSERVATIONS,
    PAGE,
    TEMPLATES,
    TIMINGS,
    VERDICTS,
    Plan,
    data_path,
    observations_path,
    run_path,
    split,
)
from seedbed.pipeline.provenance import machine, provenance

if TYPE_CHECKING:
    import pyarrow as pa
    import torch
    from torch import nn

    from seedbed.documents import Documents
    from seedbed.evaluations.context import Context, Predictor, TaskContext
    from seedbed.evaluations.trained import TrainedModel
    from seedbed.languages.automaton import Language
    from seedbed.reporting.results import Study
    from seedbed.statistics.comparison import ComparedItem
    from seedbed.tasks.task import Task
    from seedbed.training.loop import Objective, Trained

Row = dict[str, Scalar | None]


class JobError(SeedbedError):
    """A job was asked for what the present configuration and code do not ask for."""


def expect(asked: str, own: str) -> str:
    """The fingerprint, if both sides agree on it.

    Raises:
        JobError: code or configuration changed since the workflow was read.
    """
    if asked != own:
        raise JobError(
            f"asked for fingerprint {asked[:12]}, but code and configuration now give {own[:12]}: they changed "
            "since this build began; run `make report` again"
        )
    return own


def data(plan: Plan, corpus: tuple[str, str, str, int | None], asked: str) -> None:
    """Draw the documents of a split: (study, data set, split, seed)."""
    own = expect(asked, plan.data(*corpus))
    storage.write_documents(data_path(*corpus), drawn(plan, *corpus), own)


def drawn(plan: Plan, study: str, data_set: str, split: str, seed: int | None) -> Documents:
    """Draw the documents of a split in memory."""
    from seedbed.corpora import draw_documents

    documents = getattr(plan.data_set(study, data_set), split)
    return draw_documents(_source(plan, study, data_set), documents, split, study, seed)


def train(plan: Plan, study: str, run: str, seed: int, asked: str) -> None:
    """Train one run of one seed; writes its weights, its log and what it cost."""
    import pyarrow as pa

    began, used = time.monotonic(), _processor_seconds()
    own = expect(asked, plan.train(study, run, seed))
    entry, seeds = plan.run(study, run), plan.seeds(study, run, seed)
    training = _documents(plan, study, entry, "training", seeds["data"])
    validation = _documents(plan, study, entry, "validation", None)
    trained = fit(plan, study, entry, training, validation, seeds, _start(plan, entry, seed))
    storage.write_table(run_path(study, run, seed, "log.parquet"), pa.table(asdict(trained.log)), own)
    cost = rows(
        _cost(time.monotonic() - began, _processor_seconds() - used),
        study=study,
        run=run,
        seed=seed,
        recipe="",
        fingerprint=own,
    )
    _write(run_path(study, run, seed, "cost.parquet"), cost, own)
    storage.write_weights(run_path(study, run, seed, "model.safetensors"), trained.weights, own)


def fit(
    plan: Plan,
    study: str,
    run: Run,
    training: Documents,
    validation: Documents,
    seeds: Mapping[str, int],
    start: Mapping[str, torch.Tensor] | None = None,
) -> Trained:
    """Build what a run's entry describes, and train it.

    Raises:
        ConfigError: the model cannot read what the objective makes.
    """
    from seedbed.training import loop

    options: loop.Options = plugins.load("training", "loop").Options(**run.training)
    network, objective = _network(plan, study, run), _objective(plan, study, run)
    _require_fit(network, objective, run)
    return loop.train(network, objective, training, validation, options, seeds, start)


def _require_fit(network: nn.Module, objective: object, run: Run) -> None:
    """Refuse a model that does not see all its objective shows: it would train on something else unnoticed."""
    needed, reads = getattr(objective, "reads", "causal"), getattr(network, "reads", ("causal",))
    if needed not in reads:
        raise ConfigError(
            f"objective {split(run.objective)[0]} is {needed} here, and model {split(run.model)[0]} reads "
            f"{' or '.join(reads)}: take another model (its class says what it `reads`) or another objective"
        )


def evaluate(plan: Plan, study: str, run: str, evaluation: str, asked: str) -> None:
    """Measure a run with one evaluation, all its seeds in one process."""
    own = expect(asked, plan.evaluate(study, run, evaluation))
    entry = plan.run(study, run)
    module = plugins.load("evaluations", evaluation)
    options = module.Options(**plan.configuration.studies[study].evaluations[evaluation].options)
    found: list[Row] = []
    for seed in plan.configuration.seeds(study, run):
        context = _context(plan, study, entry, seed)
        observations = module.evaluate(_predictor(plan, study, run, seed), context, options)
        hashes = plan.row(study, run, evaluation, seed)
        found += rows(observations, study=study, run=run, seed=seed, **hashes)
    _write(observations_path(study, run, evaluation), found, own)


def evaluate_study(plan: Plan, study: str, asked: str) -> None:
    """Measure all runs of a study in one process, but for what is measured already: `make quick`."""
    expect(asked, plan.evaluate_study(study))
    for one in plan.evaluations():
        if one[0] == study and not storage.carries(observations_path(*one), plan.evaluate(*one)):
            evaluate(plan, *one, plan.evaluate(*one))


def observations(plan: Plan, asked: str) -> None:
    """Gather every evaluation into the one table; refuses a file that is not of this build."""
    own = expect(asked, plan.observations())
    parts = [storage.read_table(observations_path(*one), plan.evaluate(*one)) for one in plan.evaluations()]
    _write(OBSERVATIONS, [row for part in parts for row in part.to_pylist()], own)


def verdicts(plan: Plan, asked: str) -> None:
    """Judge every claim by the one table."""
    import pyarrow as pa

    from seedbed.statistics.observed import ObservationTable
    from seedbed.statistics.verdicts import verdicts

    own = expect(asked, plan.verdicts())
    observed = ObservationTable(storage.read_table(OBSERVATIONS, plan.observations()).to_pylist())
    found = verdicts(plan.claims.claims, observed, settings(plan.claims, plan.configuration), plan.rebuilt())
    storage.write_table(VERDICTS, pa.Table.from_pylist([one.row() for one in found], _verdict_schema()), own)


def _verdict_schema() -> pa.Schema:
    import pyarrow as pa

    cell = pa.struct([(name, pa.string()) for name in ("study", "run", "metric", "condition")])
    words = ["id", "outcome", "explanation", "expected"]
    kinds = dict.fromkeys(words, pa.string()) | dict.fromkeys(["estimate", "low", "high", "level"], pa.float64())
    kinds |= {"n": pa.int64(), "seeds_needed": pa.int64(), "by_construction": pa.bool_(), "chance": pa.bool_()}
    kinds["compatible"] = pa.bool_()
    kinds |= {"same_as": pa.list_(pa.string()), "evidence": pa.list_(cell)}
    return pa.schema(list(kinds.items()))


def timings(plan: Plan, asked: str) -> None:
    """Gather what every training cost."""
    own = expect(asked, plan.timings())
    parts = [
        storage.read_table(run_path(*one, "cost.parquet"), plan.train(*one)).to_pylist()
        for one in plan.trainings()
    ]
    _write(TIMINGS, chain.from_iterable(parts), own)


def comparison(plan: Plan, asked: str) -> None:
    """Compare this build with the reference of each study that has one."""
    import pyarrow as pa

    own = expect(asked, plan.comparison())
    now = storage.read_table(OBSERVATIONS, plan.observations()).to_pylist()
    times = storage.read_table(TIMINGS, plan.timings()).to_pylist()
    outcomes = {
        str(row["id"]): str(row["outcome"]) for row in storage.read_table(VERDICTS, plan.verdicts()).to_pylist()
    }
    found = [asdict(one) for one in _compared(plan, now, outcomes, times)]
    storage.write_table(COMPARISON, pa.Table.from_pylist(found, _comparison_schema()), own)


def _compared(plan: Plan, now: list[Row], outcomes: Mapping[str, str], times: list[Row]) -> Iterator[ComparedItem]:
    from seedbed.statistics.comparison import compare_rows, compare_verdicts, compare_watched, resolutions
    from seedbed.statistics.observed import ObservationTable
    from seedbed.statistics.verdicts import verdicts

    before: list[Row] = []
    for study in plan.references:
        there, made_there = reference_files.read_reference(reference_files.path_of(study))
        made = reference_files.environment(_of(study, times))
        yield from compare_rows(_of(study, now), there, made == made_there)
        before += there
    if not before:  # else every verdict would be compared with that of an empty table
        return
    observed, rebuilt = ObservationTable(before), plan.rebuilt()
    studies = {str(row["study"]) for row in before}
    watched = [cell for cell in plan.watched if cell.study in studies]
    yield from compare_watched(watched, ObservationTable(now), observed, resolutions(before))
    judged = verdicts(plan.claims.claims, observed, settings(plan.claims, plan.configuration), rebuilt)
    yield from compare_verdicts(outcomes, {one.id: one.outcome for one in judged})


def compared(plan: Plan) -> list[ComparedItem]:
    """The rows of the comparison.

    Raises:
        StorageError: they are not those of the present build.
    """
    from seedbed.statistics.comparison import ComparedItem

    return [ComparedItem(**row) for row in storage.read_table(COMPARISON, plan.comparison()).to_pylist()]


def _of(study: str, found: list[Row]) -> list[Row]:
    return [row for row in found if row["study"] == study]


def _comparison_schema() -> pa.Schema:
    import pyarrow as pa

    words = ["tier", "study", "run", "metric", "condition", "outcome", "text"]
    kinds = dict.fromkeys(words, pa.string()) | {"seed": pa.int64(), "decides": pa.bool_()}
    kinds |= dict.fromkeys(["reference", "now", "low", "high"], pa.float64())
    return pa.schema(list(kinds.items()))


def _cost(wall: float, processor: float) -> Iterator[Observation]:
    """What a training used, and on what processor."""
    condition = {"job": "train"}
    yield Observation("cpu_seconds", processor, condition, "second")
    yield Observation("wall_seconds", wall, condition, "second")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kibibytes = peak / (1024 if sys.platform == "darwin" else 1)  # macOS counts bytes
    yield Observation("peak_memory", kibibytes / 1024, condition, "MiB")
    for metric, text in machine().items():
        yield Observation(metric, math.nan, condition, text=text)


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def page(plan: Plan, asked: str) -> None:
    """Build the page from the tables."""
    from seedbed.reporting.claims import Judged
    from seedbed.reporting.page import build

    own = expect(asked, plan.page())
    table = storage.read_table(OBSERVATIONS, plan.observations())
    times = storage.read_table(TIMINGS, plan.timings())
    rows = storage.read_table(VERDICTS, plan.verdicts()).to_pylist()
    text = build(
        table.to_pandas(integer_object_nulls=True),
        times.to_pandas(integer_object_nulls=True),
        [shown(plan, name) for name in plan.configuration.studies],
        Judged(plan.claims.claims, rows, plan.claims.excluded),
        compared(plan),
        provenance(plan, own, times),
        TEMPLATES,
        own,
    )
    storage.write_text(PAGE, text)


def shown(plan: Plan, name: str) -> Study:
    """A study as the page is told of it."""
    from seedbed.reporting.results import Run as ShownRun
    from seedbed.reporting.results import Study

    entry = plan.configuration.studies[name]
    runs = [
        ShownRun(
            name=key,
            label=run.label,
            kind="trained" if run.trained else "reference",
            seeds=tuple(seed for seed in plan.configuration.seeds(name, key) if seed is not None),
        )
        for key, run in plan.configuration.runs(name).items()
    ]
    return Study(
        name=name,
        title=entry.title,
        lead=entry.lead,
        language=", ".join(sorted({data.language or str(data.task) for data in entry.data.values()})),
        rebuilt=entry.rebuilt,
        runs=tuple(runs),
        full=plan.configuration.full,
    )


def _network(plan: Plan, study: str, run: Run) -> nn.Module:
    from seedbed.models.initialisation import unfilled

    kind, options = split(run.model)
    module = plugins.load("models", kind)
    vocabulary = len(_source(plan, study, run.data).vocabulary)
    network: nn.Module = unfilled(lambda: module.Model(module.Options(**options), vocabulary))
    return network


def _start(plan: Plan, run: Run, seed: int) -> dict[str, torch.Tensor] | None:
    """The weights that a run begins with, if it begins with those of another."""
    if run.start is None:
        return None
    first = (run.start.study, run.start.run, seed)
    return storage.read_weights(run_path(*first, "model.safetensors"), plan.train(*first))


def _objective(plan: Plan, study: str, run: Run) -> Objective[object]:
    kind, options = split(run.objective)
    module = plugins.load("objectives", kind)
    objective: Objective[object] = module.Objective(
        module.Options(**options), _source(plan, study, run.data).vocabulary
    )
    return objective


@cache
def _source(plan: Plan, study: str, data_set: str) -> Language | Task:
    from seedbed.languages.compilation import read_language

    entry = plan.data_set(study, data_set)
    if entry.language:
        return read_language(
            plan.configuration.languages[entry.language], f"config/languages/{entry.language}.yaml"
        )
    module = plugins.load("tasks", str(entry.task))
    task: Task = module.Task(module.Options(**entry.options))
    return task


def _context(plan: Plan, study: str, run: Run, seed: int | None) -> Context | TaskContext:
    from seedbed.evaluations.context import Context, TaskContext
    from seedbed.languages.automaton import Language

    source, test = _source(plan, study, run.data), _test(plan, study, run.data)
    if isinstance(source, Language):
        return Context(source, test, 0 if seed is None else seed)
    return TaskContext(source, test)


@cache
def _test(plan: Plan, study: str, data_set: str) -> Documents:
    """Read once: what an evaluation knows of the test documents it keeps from one seed to the next."""
    path, own = data_path(study, data_set, "test", None), plan.data(study, data_set, "test", None)
    return storage.read_documents(path, own)


def _documents(plan: Plan, study: str, run: Run, split: str, seed: int | None) -> Documents:
    return storage.read_documents(data_path(study, run.data, split, seed), plan.data(study, run.data, split, seed))


def _predictor(plan: Plan, study: str, run: str, seed: int | None) -> Predictor:
    return _reference_run(plan, study, run) if seed is None else trained_model(plan, study, run, seed)


def _reference_run(plan: Plan, study: str, run: str) -> Predictor:
    entry, corpus = plan.run(study, run), plan.corpus_seed(study, run, None)
    module = plugins.load("references", str(entry.kind))
    material: list[Language | Task | Documents] = [_source(plan, study, entry.data)]
    if corpus is not None:
        material.append(_documents(plan, study, entry, "training", corpus))
    predictor: Predictor = module.Reference(module.Options(**entry.options), *material)
    return predictor


def trained_model(plan: Plan, study: str, run: str, seed: int) -> TrainedModel:
    """A trained model as an evaluation sees it."""
    from seedbed.evaluations.trained import TrainedModel
    from seedbed.log import Log

    entry, own = plan.run(study, run), plan.train(study, run, seed)
    network = _network(plan, study, entry)
    weights = storage.read_weights(run_path(study, run, seed, "model.safetensors"), own)
    network.load_state_dict(weights, assign=True)
    log = storage.read_table(run_path(study, run, seed, "log.parquet"), own).to_pydict()
    corpus = partial(_documents, plan, study, entry, "training", plan.corpus_seed(study, run, seed))
    first = None if entry.start else plan.seeds(study, run, seed)["initialisation"]
    return TrainedModel(network, _objective(plan, study, entry), Log(**log), corpus, first)


def _write(path: Path, found: Iterable[Row], fingerprint: str) -> None:
    storage.write_table(path, table(found), fingerprint)


def table(found: Iterable[Row]) -> pa.Table:
    """Rows as the table of observations, sorted, so that equal rows give equal bytes.

    Raises:
        JobError: two rows for the same study, run, seed, metric and condition.
    """
    import pyarrow as pa

    kinds = {"value": pa.float64(), "item_error": pa.float64(), "seed": pa.int64(), "n": pa.int64()}
    schema = pa.schema([(column, kinds.get(column, pa.string())) for column in COLUMNS])
    sorted_rows = sorted(found, key=_key)
    for one, next_one in pairwise(sorted_rows):
        if _key(one) == _key(next_one):
            study, run, _, metric, condition = _key(one)
            place = f"{study}/{run}: {metric}{f' ({condition})' if condition else ''}"
            raise JobError(
                f"measured twice: {place}; an evaluation yields a metric under a condition once, "
                "and no two evaluations the same"
            )
    return pa.Table.from_pylist(sorted_rows, schema)


def _key(row: Row) -> tuple[str, str, int, str, str]:
    seed = row["seed"]
    return (
        str(row["study"]),
        str(row["run"]),
        -1 if seed is None else int(str(seed)),
        str(row["metric"]),
        str(row["condition"]),
    )
