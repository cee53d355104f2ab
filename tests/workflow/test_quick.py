"""A quick build beside a full one: it stands in a folder of its own and leaves the other alone."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from miniature import Project

QUICK = ("--config", "scope=quick")


@pytest.fixture(scope="module")
def quick(built: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A full build, and beside it a quick one."""
    project = built.copy(tmp_path_factory.mktemp("quick") / "project")
    project.edit("config/studies/garden.yaml", "label: Transformer\n", "label: Transformer\n    quick: true\n")
    done = project.command(*QUICK, "build")
    assert done.returncode == 0, done.stdout
    assert f"The first page: {project.root / 'quick/results/report/index.html'}\n" in done.stdout
    return project


def test_a_quick_build_leaves_a_full_one_as_it_is(built: Project, quick: Project) -> None:
    assert _contents(quick.root) == _contents(built.root)


def test_a_quick_build_is_one_seed_of_the_runs_marked_so(quick: Project) -> None:
    rows = Project(quick.root / "quick").rows()
    assert {(row["run"], row["seed"]) for row in rows} == {("flm", 0), ("exact", None), ("ngram", None)}


def test_a_second_quick_build_has_nothing_to_do(quick: Project) -> None:
    assert "Everything is up to date." in quick.command(*QUICK, "build").stdout


def test_snakemake_alone_builds_in_the_same_folder(quick: Project) -> None:
    assert quick.planned(*QUICK) == []


def test_a_claim_is_shown_by_the_results_of_its_scope(quick: Project) -> None:
    done = quick.command(*QUICK, "claim", "objectives:best")
    assert done.returncode == 0, done.stdout
    evidence = done.stdout.partition("garden/flm divergence sentences=all\n")[2].split()
    assert len([float(value) for value in evidence]) == 1


def test_a_quick_build_is_not_checked_since_nothing_is_compared(quick: Project) -> None:
    done = quick.command(*QUICK, "check")
    assert done.returncode == 3
    assert "a quick build is compared with no reference" in done.stdout


def _contents(root: Path) -> dict[Path, str]:
    """Every result and every record that Snakemake decides by, as hashes."""
    folders = [root / "results", root / ".snakemake/metadata"]
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert paths
    return {path.relative_to(root): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
