"""Runs Snakemake through its Python interface, and writes what happens as records, one JSON object a line.

    python -m seedbed.building.snakemake_runner --cores N --records DESCRIPTOR [--config KEY=VALUE ...]
        [--forcerun PATH ...]

Unlike Snakemake's command line, the interface reads no environment variable and no profile of the user. Its
settings come from the project's profile, which the command line reads too. It sets no limit of jobs a second, so
the scheduler starts no timers.

Records, by ``event``:

    planned    jobs: the number and the kind (see `kind_of`) of each job that will run
    started    job: its number
    finished   job
    failed     job, logs: its log files
    steps      done, all: how many jobs
    error      text: a failure that is not a job's
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snakemake.api import SnakemakeApi, WorkflowApi
from snakemake.logging import logger
from snakemake.settings.enums import RerunTrigger
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    ExecutionSettings,
    OutputSettings,
    ResourceSettings,
    SchedulingSettings,
    StorageSettings,
)
from snakemake_interface_executor_plugins.settings import SharedFSUsage
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_scheduler_plugins.registry import SchedulerPluginRegistry

from seedbed.configuration.configuration import ROOT, overrides
from seedbed.configuration.yaml import ConfigError, read
from seedbed.errors import refused
from seedbed.messages import nearest

PROFILE = "profiles/default/profile.yaml"
#: The argument of Snakemake's interface that each key of the profile sets.
_ARGUMENTS: Mapping[str, tuple[type, str]] = {
    "keep-going": (ExecutionSettings, "keep_going"),
    "rerun-incomplete": (DAGSettings, "force_incomplete"),
    "rerun-triggers": (DAGSettings, "rerun_triggers"),
    "scheduler": (SchedulingSettings, "scheduler"),
    "show-failed-logs": (OutputSettings, "show_failed_logs"),
}
#: Snakemake's cache of sources lies in a temporary folder, not in the user's home, which may be read-only.
_STORAGE = StorageSettings(shared_fs_usage=SharedFSUsage.all() - {SharedFSUsage.SOURCE_CACHE})
#: The wildcards that tell how long a job of a rule takes, the one that tells most first; its seed tells nothing.
_PARTICULARS = ("study", "topic", "page", "data", "split", "evaluation", "run")


@dataclass(frozen=True)
class Settings:
    """Snakemake's settings of a build."""

    output: OutputSettings
    dag: DAGSettings
    execution: ExecutionSettings
    scheduling: SchedulingSettings


def read_settings(profile: Path, forced: Sequence[str] = ()) -> Settings:
    """The settings that a profile names, and the results that are made again in any case.

    Raises:
        ConfigError: the profile cannot be read, or has a key that this module does not know.
    """
    given: dict[type, dict[str, Any]] = {kind: {} for kind, _ in _ARGUMENTS.values()}
    for key, value in read(profile, PROFILE).items():
        if key not in _ARGUMENTS:
            raise ConfigError(f"{PROFILE}: {key}: a build knows no such setting; {nearest(key, _ARGUMENTS)}")
        kind, argument = _ARGUMENTS[key]
        given[kind][argument] = RerunTrigger.parse_choices_set(value) if key == "rerun-triggers" else value
    return Settings(
        OutputSettings(nocolor=True, enable_file_logging=False, **given[OutputSettings]),
        DAGSettings(forcerun=frozenset(forced), **given[DAGSettings]),
        ExecutionSettings(**given[ExecutionSettings]),
        SchedulingSettings(**given[SchedulingSettings]),
    )


def describe(record: logging.LogRecord) -> dict[str, Any] | None:
    """What a log record of Snakemake says, as a record of this module; None for what nobody needs.

    That of a plan lacks its jobs, since Snakemake logs their number alone.
    """
    fields = record.__dict__
    match fields.get("event"):
        case LogEvent.RUN_INFO if "stats" in fields:
            return {"event": "planned"}
        case LogEvent.JOB_INFO:
            return {"event": "started", "job": fields["jobid"]}
        case LogEvent.JOB_FINISHED:
            return {"event": "finished", "job": fields["job_id"]}
        case LogEvent.JOB_ERROR:
            return {"event": "failed", "job": fields["jobid"], "logs": [str(log) for log in fields["log"]]}
        case LogEvent.PROGRESS:
            return {"event": "steps", "done": fields["done"], "all": fields["total"]}
    return {"event": "error", "text": record.getMessage()} if record.levelno >= logging.ERROR else None


def kind_of(rule: str, wildcards: Mapping[str, str]) -> str:
    """What a job has in common with jobs that take as long: a path from the general to the particular."""
    return "/".join([rule, *(wildcards[name] for name in _PARTICULARS if name in wildcards)])


class RecordWriter(logging.Handler):
    """Writes the records to a file descriptor.

    Attributes:
        planned: Returns the number and the kind of each job that will run.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.planned: Callable[[], list[tuple[int, str]]] = list
        os.set_inheritable(descriptor, False)  # the reader waits until the last process has closed it
        self._file = os.fdopen(descriptor, "w", encoding="utf-8")

    def emit(self, record: logging.LogRecord) -> None:
        """Write what a log record of Snakemake says."""
        if described := describe(record):
            jobs = {"jobs": self.planned()} if described["event"] == "planned" else {}
            self.write(described | jobs)

    def write(self, record: Mapping[str, Any]) -> None:
        """Write one record, unless the builder has been killed: then nobody reads it."""
        with suppress(OSError):
            print(json.dumps(record), file=self._file, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run Snakemake in the current folder; returns 0, or 1 if it failed."""
    parser = argparse.ArgumentParser(prog="snakemake_runner", allow_abbrev=False)
    parser.add_argument("--cores", type=int, required=True)
    parser.add_argument("--records", type=int, required=True)
    parser.add_argument("--config", action="append", default=[])
    parser.add_argument("--forcerun", nargs="*", default=[])
    chosen = parser.parse_args(arguments)
    records = RecordWriter(chosen.records)
    try:
        settings = read_settings(ROOT / PROFILE, chosen.forcerun)
        config = overrides(chosen.config)
    except ConfigError as error:
        records.write({"event": "error", "text": str(error)})
        return 1
    with SnakemakeApi(settings.output) as snakemake:
        logger.addHandler(records)
        try:
            _execute(snakemake, settings, chosen.cores, ConfigSettings(config=config), records)
        except Exception as error:
            if isinstance(error, OSError):
                error.filename = error.filename or str(Path(".snakemake").resolve())
                if message := refused(error):
                    records.write({"event": "error", "text": message})
                    return 1
            try:
                snakemake.print_exception(error)
            except Exception:  # it fails on some syntax errors of a Snakefile (9.27.1)
                records.write({"event": "error", "text": f"{type(error).__name__}: {error}"})
            return 1
    return 0


def _execute(
    snakemake: SnakemakeApi,
    settings: Settings,
    cores: int,
    config: ConfigSettings,
    records: RecordWriter,
) -> None:
    """Run the workflow, after the lock of a killed Snakemake is removed."""

    def workflow() -> WorkflowApi:
        return snakemake.workflow(
            ResourceSettings(cores=cores),  # its own one: to unlock sets the number to 1
            config_settings=config,
            storage_settings=_STORAGE,
            snakefile=ROOT / "Snakefile",
        )

    # This build holds the kernel's lock of this folder, so Snakemake's own lock is a leftover of a killed build.
    if any(Path(".snakemake/locks").glob("*")):
        workflow().dag(settings.dag).unlock()
    scheduler = SchedulerPluginRegistry().get_plugin(settings.scheduling.scheduler)
    chosen = workflow()
    records.planned = lambda: _planned(chosen)
    chosen.dag(settings.dag).execute_workflow(
        execution_settings=settings.execution,
        scheduling_settings=settings.scheduling,
        scheduler_settings=scheduler.settings_cls and scheduler.settings_cls(),
    )


def _planned(workflow: WorkflowApi) -> list[tuple[int, str]]:
    """The number and the kind of each job that will run; no public name of Snakemake's leads to them (9.27.1)."""
    dag = workflow._workflow.dag
    jobs = dag.needrun_jobs(exclude_finished=False)
    return [(dag.jobid(job), kind_of(job.rule.name, job.wildcards_dict)) for job in jobs]


if __name__ == "__main__":
    raise SystemExit(main())
