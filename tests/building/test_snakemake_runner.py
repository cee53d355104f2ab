"""What the builder learns from Snakemake, and which settings Snakemake has in a build."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import processes
import pytest
from snakemake.settings.enums import RerunTrigger

from seedbed.building.snakemake_runner import PROFILE, describe, kind_of, read_settings
from seedbed.configuration.configuration import ROOT
from seedbed.configuration.yaml import ConfigError

#: A workflow of three jobs, one of which fails, without any of our own code.
SNAKEFILE = """
rule all:
    input: "a.txt", "b.txt"
rule good:
    output: "a.txt"
    log: "a.log"
    shell: "touch {output} > {log}"
rule bad:
    output: "b.txt"
    log: "b.log"
    shell: "false > {log}"
"""
#: The runner for another folder than the project, where every timer is an error.
RUN = """
import pathlib, sys, threading
from seedbed.building import snakemake_runner
def no_timer(*_):
    raise AssertionError("the scheduler starts a timer")
threading.Timer = no_timer
snakemake_runner.ROOT = pathlib.Path.cwd()
sys.exit(snakemake_runner.main())
"""
PROFILE_TEXT = (ROOT / PROFILE).read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    (tmp_path / PROFILE).parent.mkdir(parents=True)
    (tmp_path / PROFILE).write_text(PROFILE_TEXT, encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str, **environment: str) -> tuple[int, list[dict[str, Any]], str]:
    """The exit code, the records, and what Snakemake prints."""
    records = folder / "records"
    with records.open("w") as file:
        done = processes.run(
            [sys.executable, "-c", RUN, "--cores=1", f"--records={file.fileno()}", *arguments],
            cwd=folder,
            env=os.environ | environment,
            pass_fds=[file.fileno()],
            stderr=subprocess.STDOUT,
        )
    return done.returncode, [json.loads(line) for line in records.read_text().splitlines()], done.stdout


def test_each_event_of_a_build_is_one_record_and_no_timer_is_started(folder: Path) -> None:
    code, records, printed = run(folder)
    assert code == 1
    assert "timer" not in printed
    planned, *events = [record for record in records if record["event"] != "error"]
    numbers = {kind: job for job, kind in planned["jobs"]}
    assert planned["event"] == "planned"
    assert numbers.keys() == {"good", "bad", "all"}
    assert len([event for event in events if event["event"] == "started"]) == 2
    assert {"event": "failed", "job": numbers["bad"], "logs": ["b.log"]} in events
    assert {"event": "finished", "job": numbers["good"]} in events
    assert {"event": "steps", "done": 1, "all": 3} in events


def test_the_results_that_are_named_are_made_again(folder: Path) -> None:
    (folder / "Snakefile").write_text(SNAKEFILE.replace("false >", "touch {output} >"), encoding="utf-8")
    assert run(folder)[0] == 0
    assert run(folder)[1] == []
    code, records, _ = run(folder, "--forcerun", "a.txt")
    assert code == 0
    assert {kind for _, kind in records[0]["jobs"]} == {"good", "all"}


def test_a_build_after_a_killed_one_uses_as_many_cores_as_it_may(folder: Path) -> None:
    (folder / ".snakemake/locks").mkdir(parents=True)
    (folder / ".snakemake/locks/0.output.lock").write_text(f"{folder}/a.txt\n", encoding="utf-8")
    _, records, printed = run(folder, "--cores=2")
    assert "Provided cores: 2\n" in printed
    assert {"event": "steps", "done": 1, "all": 3} in records
    assert not list((folder / ".snakemake/locks").glob("*"))


def test_a_snakefile_that_cannot_be_read_is_an_error_with_its_place(folder: Path) -> None:
    (folder / "Snakefile").write_text("rule all:\n    inputs: 'a'\n", encoding="utf-8")
    code, records, _ = run(folder)
    assert code == 1
    assert [record["event"] for record in records] == ["error"]
    assert "Snakefile" in records[0]["text"]
    assert "inputs" in records[0]["text"]


def test_a_configuration_reaches_the_workflow_with_its_types(folder: Path) -> None:
    (folder / "Snakefile").write_text("raise ValueError(repr(sorted(config.items())))\n", encoding="utf-8")
    _, records, _ = run(folder, "--config=seeds=3", "--config=studies=[farm]", "--config=q=null")
    assert "[('q', None), ('seeds', 3), ('studies', ['farm'])]" in records[0]["text"]


def test_the_settings_are_those_of_the_projects_profile() -> None:
    settings = read_settings(ROOT / PROFILE, ["a.txt"])
    assert settings.dag.rerun_triggers == {RerunTrigger.PARAMS}
    assert settings.dag.force_incomplete is True
    assert settings.dag.forcerun == {"a.txt"}
    assert settings.execution.keep_going is True
    assert settings.scheduling.scheduler == "greedy"
    assert settings.output.show_failed_logs is True


def test_the_scheduler_has_no_limit_of_jobs_a_second() -> None:
    assert read_settings(ROOT / PROFILE).scheduling.max_jobs_per_timespan is None


def test_a_profile_that_a_build_cannot_follow_is_refused(folder: Path) -> None:
    (folder / PROFILE).write_text(PROFILE_TEXT + "dry-run: true\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="dry-run: a build knows no such setting"):
        read_settings(folder / PROFILE)
    code, records, _ = run(folder)
    assert code == 1
    assert [record["event"] for record in records] == ["error"]
    assert records[0]["text"].startswith(f"{PROFILE}: dry-run: ")


def test_jobs_that_differ_in_their_seed_alone_are_of_one_kind() -> None:
    wildcards = {"run": "flm", "seed": "3", "study": "garden"}
    assert kind_of("train", wildcards) == kind_of("train", wildcards | {"seed": "4"}) == "train/garden/flm"
    assert kind_of("evaluate", {"run": "flm", "evaluation": "heads", "study": "a"}) == "evaluate/a/heads/flm"


def test_what_the_system_refuses_to_snakemake_is_named_with_the_remedy(folder: Path) -> None:
    (folder / ".snakemake").touch()
    code, records, _ = run(folder)
    assert code == 1
    assert [record["event"] for record in records] == ["error"]
    assert records[0]["text"].startswith(f"{folder}/.snakemake")
    assert "; move away what stands there" in records[0]["text"]


def test_a_full_disk_is_named_by_snakemakes_records(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = f"{RUN}".replace(
        "sys.exit",
        "import snakemake.api\ndef fail(*_, **__):\n    raise OSError(28, 'No space left on device')\n"
        "snakemake.api.DAGApi.execute_workflow = fail\nsys.exit",
    )
    monkeypatch.setitem(run.__globals__, "RUN", full)
    code, records, _ = run(folder)
    assert code == 1
    assert [record["text"].partition(";")[0] for record in records] == [
        f"{folder}/.snakemake: No space left on device"
    ]


@pytest.mark.parametrize("name", ["HOME", "XDG_CACHE_HOME"])
def test_snakemake_needs_no_home(folder: Path, name: str) -> None:
    _, _, printed = run(folder, **{name: "/proc/nothing"})
    assert (folder / "a.txt").exists(), printed
    assert "/proc/nothing" not in printed


@pytest.mark.parametrize(("level", "described"), [(logging.INFO, False), (logging.ERROR, True)])
def test_of_other_messages_only_errors_are_records(level: int, described: bool) -> None:
    record = logging.LogRecord("snakemake", level, "", 0, "%d files", (3,), None)
    assert describe(record) == ({"event": "error", "text": "3 files"} if described else None)


def test_without_a_reader_the_build_goes_on(folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", RUN, "--cores=1", f"--records={writer}"]
    done = processes.run(command, cwd=folder, pass_fds=[writer])
    os.close(writer)
    assert done.returncode == 1
    assert (folder / "a.txt").exists()
