"""The command line: what `make` and the workflow call. It carries and computes nothing."""

from __future__ import annotations

import os

from seedbed.building.job_environment import set_job_environment

set_job_environment()  # before numpy, torch or Matplotlib read it

# ruff: noqa: E402
import io
import signal
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from seedbed.configuration.configuration import Configuration, overrides
from seedbed.configuration.roots import project_root
from seedbed.errors import SeedbedError, refused
from seedbed.pipeline.plan import Plan

app = typer.Typer(
    help="Seedbed: benchmarks of sequence models on languages whose true distribution is known.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
Overrides = Annotated[
    list[str] | None, typer.Option("--config", help="KEY=VALUE over config/config.yaml, such as seeds=3.")
]
Root = Annotated[Path, typer.Option("--root", help="The folder of the project; paths are relative to it.")]


@app.callback()
def _chosen(context: typer.Context, config: Overrides = None, root: Root = Path()) -> None:
    context.obj = Chosen(config or [], project_root(root))
    if context.invoked_subcommand != "job":  # a job of a quick build runs in that build's own folder
        os.chdir(context.obj.root)


@dataclass(frozen=True)
class Chosen:
    """What is typed before a command.

    Attributes:
        config: ``KEY=VALUE`` texts over config/config.yaml.
        root: The folder of the project.
    """

    config: list[str]
    root: Path

    def plan(self, *more: str) -> Plan:
        """The plan with these and some more ``KEY=VALUE`` texts."""
        return Plan(Configuration(overrides([*self.config, *more]), self.root))


def _plan(context: typer.Context, *more: str) -> Plan:
    chosen: Chosen = context.obj
    return chosen.plan(*more)


@app.command()
def check_config(context: typer.Context) -> None:
    """Check every configuration file and every plug-in, and rehearse what is not built yet."""
    from seedbed.pipeline.plan import check
    from seedbed.pipeline.rehearsal import rehearse

    plan = _plan(context)
    check(plan.configuration)
    rehearse(plan)
    studies = plan.configuration.studies
    print(f"configuration fine: {len(studies)} studies, {sum(len(study.runs) for study in studies.values())} runs")


@app.command()
def build(context: typer.Context, cores: Annotated[str, typer.Option(help="How many, or `all`.")] = "all") -> None:
    """Build all results and the page; only what changed runs."""
    from seedbed.building.build import build

    raise typer.Exit(build(context.obj.config, cores, context.obj.root))


@app.command()
def tune(context: typer.Context, study: str) -> None:
    """Compare what a lecture leaves open by validation loss, on seeds that are never reported."""
    from seedbed.commands.tuning import tune

    tune(_plan(context, f"studies=[{study}]"), study)


@app.command()
def claim(context: typer.Context, name: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Show a claim, its verdict in the present results, and the observations behind it."""
    from seedbed.building.build import enter_results_folder
    from seedbed.commands.explaining import explain

    plan = _plan(context)
    with enter_results_folder(plan.configuration):
        print(explain(plan, name))


@app.command()
def check(
    context: typer.Context,
    junit: Annotated[Path | None, typer.Option(help="Where to write the outcome as JUnit XML.")] = None,
) -> None:
    """Compare with the reference: 0 same, 1 moved or impossible, 2 bad input, 3 incomplete, 4 fault in Seedbed."""
    from seedbed.commands.checking import check

    if junit:  # an older file could be taken for the outcome of this check
        junit.unlink(missing_ok=True)
    raise typer.Exit(check(_plan(context), junit))


@app.command()
def reference(
    context: typer.Context, study: str, cores: Annotated[str, typer.Option(help="How many, or `all`.")] = "all"
) -> None:
    """Build a study with the seeds of a reference, print what moved, and make it the reference."""
    from seedbed.commands.rebasing import rebase

    raise typer.Exit(rebase(context.obj.config, study, cores, context.obj.root))


@app.command()
def sentinels() -> None:
    """Train the short runs that tests compare with, and make them the reference."""
    from seedbed.commands.sentinels import write

    write()


@app.command()
def lock() -> None:
    """Write requirements.lock and environment.yml from pyproject.toml."""
    from seedbed.commands.environment import lock

    lock()


@app.command(hidden=True)
def job(
    context: typer.Context,
    outputs: list[str],
    fingerprint: Annotated[
        str, typer.Option(help="What the workflow expects; the job stops if it is not its own.")
    ],
) -> None:
    """Compute the job, or the jobs, that write some files: what a rule of the workflow calls."""
    from seedbed.building.locking import hold_job
    from seedbed.pipeline.plan import compute

    with hold_job():
        compute(_plan(context).jobs_of(outputs), fingerprint)


def main() -> None:
    """Run a command in a process of its own, which prints to any encoding and ends when nobody reads."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    run()


def run() -> None:
    """Run a command; an error that its user can mend is a message and exit code 2, any other a traceback and 4."""
    try:
        app()
    except Exception as error:
        message = _mendable(error)
        if message is None:
            traceback.print_exc()
            raise SystemExit(4) from error
        print(f"seedbed: {message}", file=sys.stderr)
        raise SystemExit(2) from error


def _mendable(error: Exception) -> str | None:
    """What to say of an error that a user can mend; None for any other."""
    if isinstance(error, OSError):
        return refused(error)
    return str(error) if isinstance(error, SeedbedError) else None


if __name__ == "__main__":
    main()
