"""The workflow as its users run it, on a miniature study."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from miniature import Project, make

from seedbed.observations import COLUMNS

#: A folder whose name means something to shells, to Snakemake or to nobody.
ODD = 'it\'s a "pätĥ" {run} $HOME `id` %s #1 & ; * é'

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
    withheld = {(row["run"], row["seed"]): row["value"] for row in rows if row["metric"] == "corpus_withheld"}
    assert withheld == dict.fromkeys([("flm", 0), ("flm", 1), ("window", 0)], 0.0)
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


def test_one_core_in_an_odd_place_gives_the_same_bytes(built: Project, tmp_path: Path) -> None:
    other = make(tmp_path / ODD)
    done = other.command("build", "--cores", "1", PYTHONHASHSEED="1", LC_ALL="C", DISPLAY="", HOME="/nowhere")
    assert done.returncode == 0, done.stdout
    for name in ("results/observations.parquet", "results/runs/garden/flm/seed-1/model.safetensors"):
        assert _digest(other.root / name) == _digest(built.root / name)


def test_a_wrong_configuration_stops_before_any_job(project: Project) -> None:
    project.edit("config/studies/garden.yaml", "epochs: 2", "epoch: 2")
    done = project.run()
    assert done.returncode != 0
    assert "training.epoch: unknown key; did you mean epochs" in done.stdout


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
