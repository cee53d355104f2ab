"""The workflow as its users run it, on a miniature study."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from miniature import Project, make

from seedbed.observations import COLUMNS

#: The jobs after a change of what is measured, of the training, and of everything.
MEASURED = ["comparison", "evaluate", "evaluate", "observations", "page", "verdicts"]
TRAINED = sorted([*MEASURED, "timings", "train", "train"])
ALL = sorted([*TRAINED, "corpus", "corpus", "held_out", "held_out", "evaluate", "evaluate"])
RESULTS = ("results/observations.parquet", "results/report/index.html")

RECOMPUTED = """
import pyarrow.parquet as pq, torch
from safetensors.torch import load_file
from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.models.transformer import Model, Options
model = Model(Options(d_model=16, heads=2, layers=1, d_ff=32), 100)
model.load_state_dict(load_file("results/runs/garden/flm/seed-1/model.safetensors"))
total = count = 0
for tokens in pq.read_table("results/data/garden/text/test.parquet", partitioning=None)["tokens"].to_pylist():
    with torch.no_grad():
        logits = model(pack(Documents.of([tokens[:-1]])))
    total += torch.nn.functional.cross_entropy(logits, torch.tensor(tokens[1:]), reduction="sum").item()
    count += len(tokens) - 1
print(total / count)
"""


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


def test_every_claim_has_its_verdict(built: Project) -> None:
    rows = pq.read_table(built.root / "results/verdicts.parquet", partitioning=None).to_pylist()
    assert {row["id"]: row["outcome"] for row in rows} == {
        "objectives:exact": "reproduced",
        "objectives:best": "contradicted",
        "objectives:epochs": "reproduced",
    }


def test_every_seed_trains_on_its_own_corpus_without_withheld_pairs(built: Project) -> None:
    rows = pq.read_table(built.root / "results/observations.parquet", partitioning=None).to_pylist()
    withheld = [row["value"] for row in rows if row["metric"] == "corpus_withheld"]
    assert withheld == [0.0, 0.0]
    for file in ("data/garden/text/seed-{}/training.parquet", "runs/garden/flm/seed-{}/model.safetensors"):
        assert len({_digest(built.root / "results" / file.format(seed)) for seed in (0, 1)}) == 2


def test_the_stored_loss_is_that_of_the_stored_weights_on_the_stored_test_set(built: Project) -> None:
    done = built.python("-c", RECOMPUTED)
    rows = pq.read_table(built.root / "results/observations.parquet", partitioning=None).to_pylist()
    stored = next(
        row["value"]
        for row in rows
        if (row["run"], row["seed"], row["metric"], row["condition"]) == ("flm", 1, "loss", "sentences=all")
    )
    assert float(done.stdout) == pytest.approx(stored, rel=1e-5)


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
        ("src/seedbed/training/loop.py", "zero_grad()", "zero_grad(True)", TRAINED),
        ("src/seedbed/objectives/flm.py", 'reduction="sum"', 'reduction="none"', TRAINED),
        ("src/seedbed/models/attention.py", "width**-0.5", "width**-0.25", TRAINED),
        ("src/seedbed/evaluations/trained.py", "self.network.eval()", "self.network.train(False)", MEASURED),
        ("config/languages/garden.yaml", "mean_sentences: 3", "mean_sentences: 2", ALL),
        (
            "src/seedbed/evaluations/training.py",
            'unit="epoch"',
            'unit="epochs"',
            ["comparison", "evaluate", "observations", "page", "verdicts"],
        ),
        ("config/studies/garden.yaml", "title: Miniature", "title: Another", ["page"]),
        ("config/claims/objectives.yaml", "at_most: 0.001", "at_most: 0.002", ["comparison", "page", "verdicts"]),
        (
            "config/config.yaml",
            "\nseeds: 2",
            "\nseeds: 1",
            sorted([*MEASURED, "timings"]),
        ),
        (
            "config/config.yaml",
            "\nseeds: 2",
            "\nseeds: 3",
            sorted([*MEASURED, "timings", "corpus", "train"]),
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


def test_an_override_that_takes_seeds_away_marks_the_page_and_only_then(project: Project) -> None:
    page = project.root / RESULTS[1]
    for seeds, marked in ((1, True), (2, False)):
        project.build(f"--config=seeds={seeds}")
        assert ("Partial build" in page.read_text(encoding="utf-8")) == marked


def test_results_without_snakemakes_records_are_never_old_numbers(project: Project) -> None:
    shutil.rmtree(project.root / ".snakemake")
    assert project.planned() == []
    project.edit("config/studies/garden.yaml", "epochs: 2", "epochs: 1")
    done = project.run()
    assert done.returncode != 0
    assert "make report" in done.stdout


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
