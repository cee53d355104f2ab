"""The workflow as its users run it, on a miniature study."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from miniature import Project, make

from seedbed.observations import COLUMNS

RESULTS = ("results/observations.parquet", "results/report/index.html")


def test_a_build_makes_every_result(built: Project) -> None:
    table = pq.read_table(built.root / "results/observations.parquet", partitioning=None)
    assert table.column_names == list(COLUMNS)
    found = {(row["run"], row["seed"], row["metric"]) for row in table.to_pylist()}
    assert {("flm", 0, "divergence"), ("flm", 1, "divergence"), ("exact", None, "divergence")} <= found
    assert "<svg" in (built.root / "results/report/index.html").read_text()


def test_the_language_itself_has_no_excess_and_no_divergence(built: Project) -> None:
    rows = pq.read_table(built.root / "results/observations.parquet", partitioning=None).to_pylist()
    exact = [row for row in rows if row["run"] == "exact" and row["metric"] in ("excess", "divergence")]
    assert len(exact) == 6
    assert {row["value"] for row in exact} == {0.0}


def test_a_second_build_runs_no_job(built: Project) -> None:
    assert built.planned() == []


def test_no_half_written_file_is_left(built: Project) -> None:
    assert not list(built.root.rglob("*.part"))


def test_one_core_gives_the_same_bytes_as_two(built: Project, tmp_path: Path) -> None:
    other = make(tmp_path / "one-core")
    other.build(cores=1, PYTHONHASHSEED="1")
    for name in (RESULTS[0], "results/runs/garden/flm/seed-1/model.safetensors"):
        assert _digest(other.root / name) == _digest(built.root / name)


def test_the_page_built_twice_from_the_same_tables_has_the_same_bytes(project: Project) -> None:
    page = project.root / RESULTS[1]
    before = _digest(page)
    page.unlink()
    project.build(PYTHONHASHSEED="2")
    assert _digest(page) == before


@pytest.mark.parametrize(
    ("file", "old", "new", "jobs"),
    [
        ("src/seedbed/training/loop.py", "torch.set_num_threads(1)", "torch.set_num_threads(1)  # one", []),
        ("src/seedbed/__main__.py", "Build all results and the page", "Build everything", []),
        (
            "src/seedbed/evaluations/training.py",
            'unit="epoch"',
            'unit="epochs"',
            ["evaluate", "observations", "page"],
        ),
        ("config/studies/garden.yaml", "title: Miniature", "title: Another", ["page"]),
        (
            "config/config.yaml",
            "seeds: 2",
            "seeds: 1",
            ["evaluate", "evaluate", "observations", "page", "timings"],
        ),
        (
            "config/config.yaml",
            "seeds: 2",
            "seeds: 3",
            ["corpus", "evaluate", "evaluate", "observations", "page", "timings", "train"],
        ),
    ],
)
def test_only_what_changed_runs_again(project: Project, file: str, old: str, new: str, jobs: list[str]) -> None:
    project.edit(file, old, new)
    assert project.planned() == jobs


def test_a_wrong_configuration_stops_before_any_job(project: Project) -> None:
    project.edit("config/studies/garden.yaml", "epochs: 2", "epoch: 2")
    done = project.run()
    assert done.returncode != 0
    assert "training.epoch: loop has no such option; did you mean epochs" in done.stdout


def test_results_without_snakemakes_records_are_never_old_numbers(project: Project) -> None:
    shutil.rmtree(project.root / ".snakemake")
    assert project.planned() == []
    project.edit("config/studies/garden.yaml", "epochs: 2", "epochs: 1")
    done = project.run()
    assert done.returncode != 0
    assert "make report" in done.stdout


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
