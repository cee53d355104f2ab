"""`seedbed check` and `make reference`: a number that moves is noticed, by its exit code and in words."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from miniature import Project

REFERENCE = "results/reference/garden.parquet"


@pytest.fixture(scope="module")
def compared(built: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A build beside a reference of three seeds that the same code made."""
    project = built.copy(tmp_path_factory.mktemp("compared") / "project")
    done = project.command("reference", "garden")
    assert done.returncode == 0, done.stdout
    assert "garden had no reference yet." in done.stdout
    done = project.command("build")
    assert done.returncode == 0, done.stdout
    return project


def test_a_reference_has_its_own_number_of_seeds_and_its_environment(compared: Project) -> None:
    table = pq.read_table(compared.root / REFERENCE, partitioning=None)
    assert {row["seed"] for row in table.to_pylist() if row["run"] == "flm"} == {0, 1, 2}
    assert "fingerprint" not in table.column_names
    for name in (b"vector_instructions", b"processor_family", b"arithmetic"):
        assert name in table.schema.metadata[b"environment"]


def test_the_same_build_is_the_same(compared: Project) -> None:
    done = compared.command("check")
    assert done.returncode == 0, done.stdout
    assert "0 moved, 0 missing" in done.stdout
    assert "watched numbers: 2 same" in done.stdout


def test_a_number_that_moved_is_named_with_what_it_was_and_the_remedy(compared: Project, tmp_path: Path) -> None:
    project = compared.copy(tmp_path / "project")
    project.edit(
        "src/seedbed/evaluations/perplexity.py",
        "loss=-predicted[each, targets]",
        "loss=-1 - predicted[each, targets]",
    )
    assert project.command("build").returncode == 0
    done = project.command("check", "--junit", "out/check.xml")
    assert done.returncode == 1
    assert "  garden/exact: excess (sentences=all) is -1, below 0 by more than chance" in done.stdout
    assert "garden/exact: loss (sentences=all): was " in done.stdout
    assert "make reference STUDY=garden" in done.stdout
    root = ElementTree.parse(project.root / "out/check.xml").getroot()
    suites = {suite.get("name"): suite for suite in root}
    assert set(suites) == {"observations", "watched numbers", "verdicts", "exact floors"}
    assert "garden/exact: excess" in suites["exact floors"][0].get("name", "")
    assert int(suites["watched numbers"].get("failures", "")) == 1
    failed = suites["watched numbers"].find("testcase/failure")
    assert failed is not None
    assert "expected" in failed.get("message", "")


def test_a_changed_recipe_is_no_moved_number(compared: Project, tmp_path: Path) -> None:
    project = compared.copy(tmp_path / "project")
    project.edit("config/studies/garden.yaml", "warm_up: 2", "warm_up: 1")
    (project.root / "config/watched.yaml").write_text("watched: []\n", encoding="utf-8")
    assert project.command("build").returncode == 0
    done = project.command("check")
    assert done.returncode == 3
    assert re.search(r"0 moved, 0 missing; \d+ of another recipe, compared with nothing", done.stdout)
    assert "The recipe of these runs is not that of the reference" in done.stdout
    assert re.search(r"    garden/\S+, seed 0: \S+.*: \S+, \S+", done.stdout)
    assert "`make reference STUDY=garden`, and commit" in done.stdout


def test_results_of_other_code_are_incomplete(compared: Project, tmp_path: Path) -> None:
    project = compared.copy(tmp_path / "project")
    project.edit("config/studies/garden.yaml", "epochs: 2", "epochs: 1")
    done = project.command("check")
    assert done.returncode == 3
    assert "Run `make report` first, with the same STUDY and SEEDS." in done.stdout


def test_without_any_reference_nothing_was_compared(built: Project) -> None:
    done = built.command("check")
    assert done.returncode == 3
    assert "make reference STUDY=garden" in done.stdout
    assert "This build is not compared with a" in (built.root / "results/report/index.html").read_text("utf-8")


def test_a_watched_number_of_no_run_is_refused(compared: Project, tmp_path: Path) -> None:
    project = compared.copy(tmp_path / "project")
    project.edit("config/watched.yaml", "run: flm", "run: flmm")
    done = project.command("check")
    assert done.returncode == 2
    assert "config/watched.yaml: watched[0].run: flmm: did you mean flm" in done.stdout


def test_a_new_reference_says_what_moved(compared: Project, tmp_path: Path) -> None:
    project = compared.copy(tmp_path / "project")
    project.edit(
        "src/seedbed/evaluations/perplexity.py",
        "loss=-predicted[each, targets]",
        "loss=1 - predicted[each, targets]",
    )
    done = project.command("reference", "garden")
    assert done.returncode == 0, done.stdout
    assert "garden/flm, seed 2: loss (sentences=all): was " in done.stdout
    assert project.command("build").returncode == 0
    assert project.command("check").returncode == 0


def test_a_reference_of_no_study_is_refused(compared: Project) -> None:
    done = compared.command("reference", "gardn")
    assert done.returncode == 2
    assert "gardn: no config/studies/gardn.yaml; did you mean garden" in done.stdout
