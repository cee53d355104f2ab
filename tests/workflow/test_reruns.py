"""What runs again after which change: exactly the jobs whose results would be others."""

from __future__ import annotations

import ast
import hashlib
import os
import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from miniature import Project

GARDEN = "config/studies/garden.yaml"
PAGES = ["claims_page", "index_page", "study_page"]
JUDGED = [*PAGES, "comparison", "study_verdicts", "verdicts"]
MEASURED = [*JUDGED, "observations"]
EVALUATED = [*MEASURED, "evaluate flm perplexity", "evaluate flm training"]
#: The jobs after a change of the Transformer's runs, of the window's, of both, and of the language.
FLM = [*EVALUATED, "timings", "train flm 0", "train flm 1"]
WINDOW = ["evaluate window perplexity", "evaluate window training", "train window 0"]
WINDOW += [*MEASURED, "timings"]
TRAINED = sorted({*FLM, *WINDOW})
REFERENCES = ["evaluate exact perplexity", "evaluate ngram perplexity"]
DRAWN = ["corpus text 0", "corpus text 1", "held_out text test", "held_out text validation"]


@dataclass(frozen=True)
class Change:
    """A replacement of text in a file, and the jobs that run after it."""

    file: str
    old: str
    new: str
    jobs: list[str]


NOUNS = ("    apple: {class: fruit}\n", "    rose: {class: flower}\n")
REFERENCE_RUNS = (
    "  exact: {label: the language itself, kind: exact}\n",
    "  ngram: {label: trigrams, kind: ngram, options: {order: 3}}\n",
)


def swapped(one: str, other: str) -> tuple[str, str]:
    """Two texts that follow each other, and the same the other way round."""
    return one + other, other + one


CHANGES = {
    "a comment": Change(
        "src/seedbed/training/loop.py", "torch.set_num_threads(1)", "torch.set_num_threads(1)  # 1", []
    ),
    "a docstring": Change("src/seedbed/log.py", "The log of a training", "What a training notes", []),
    "a message of the command line": Change(
        "src/seedbed/__main__.py", "Build all results", "Build what is new", []
    ),
    "a message of the configuration": Change(
        "src/seedbed/configuration/yaml.py", "cannot be read", "is unreadable", []
    ),
    "a sentence of error messages that models use": Change(
        "src/seedbed/messages.py", "this key is required", "give this key", []
    ),
    "a model that no run uses": Change(
        "src/seedbed/models/recurrent.py", "Options:", "Options:\n    x: int = 1", []
    ),
    "another order of keys": Change(
        GARDEN, "d_model: 16, heads: 2, layers: 1", "layers: 1, heads: 2, d_model: 16", []
    ),
    "a comment in a study": Change(GARDEN, "runs:", "# The runs.\nruns:", []),
    "a default that is written out": Change(GARDEN, "words: 2,", "words: 2, activation: tanh,", []),
    "the training loop": Change("src/seedbed/training/loop.py", "zero_grad()", "zero_grad(True)", TRAINED),
    "an objective": Change(
        "src/seedbed/objectives/flm.py", "scoring.loss(model, batch)", "scoring.loss(model, *[batch])", TRAINED
    ),
    "the model of one run": Change(
        "src/seedbed/models/window.py", "embedding_std: float = 1.0", "embedding_std: float = 2.0", WINDOW
    ),
    "the layer of one model": Change(
        "src/seedbed/models/attention.py", "queries.shape[-1] ** -0.5", "queries.shape[-1] ** -0.25", FLM
    ),
    "an option of one run": Change(GARDEN, "words: 2", "words: 3", WINDOW),
    "two swapped values": Change(
        GARDEN, "d_model: 16, heads: 2, layers: 1, d_ff: 32", "d_model: 32, heads: 2, layers: 1, d_ff: 16", FLM
    ),
    "the recipe of all": Change(GARDEN, "epochs: 2", "epochs: 3", TRAINED),
    "how trained models predict": Change(
        "src/seedbed/measuring/trained.py",
        "self.network.eval()",
        "self.network.train(False)",
        [*EVALUATED, "evaluate window perplexity", "evaluate window training"],
    ),
    "an evaluation": Change(
        "src/seedbed/evaluations/training.py",
        'unit="epoch"',
        'unit="epochs"',
        ["evaluate flm training", "evaluate window training", *MEASURED],
    ),
    "a reference run": Change(GARDEN, "order: 3", "order: 2", [*MEASURED, "evaluate ngram perplexity"]),
    "a grammar": Change(
        "config/languages/garden.yaml", "mean_sentences: 3", "mean_sentences: 2", [*TRAINED, *REFERENCES, *DRAWN]
    ),
    "the order of a lexicon, which is that of rank": Change(
        "config/languages/garden.yaml", *swapped(*NOUNS), [*TRAINED, *REFERENCES, *DRAWN]
    ),
    "the size of the training set": Change(
        GARDEN, "training: 96", "training: 95", [*TRAINED, *DRAWN[:2], "evaluate ngram perplexity"]
    ),
    "a title": Change(GARDEN, "title: Miniature", "title: Another", PAGES),
    "a label": Change(GARDEN, "label: trigrams", "label: three words", PAGES),
    "a new name of a run": Change(
        GARDEN, "  ngram: {label", "  trigram: {label", ["evaluate trigram perplexity", *MEASURED]
    ),
    "the order of runs": Change(GARDEN, *swapped(*REFERENCE_RUNS), PAGES),
    "a claim": Change("config/claims/objectives.yaml", "at_most: 0.001", "at_most: 0.002", JUDGED),
    "how claims are judged": Change(
        "src/seedbed/statistics/verdicts.py",
        "import math\n",
        "import math\nimport cmath\n",
        JUDGED,
    ),
    "how figures are drawn": Change(
        "src/seedbed/reporting/drawing/svg.py", '"svg.hashsalt": "', '"svg.hashsalt": "a', PAGES
    ),
    "a template": Change("report/base.html", "</html>", "<!-- end --></html>", PAGES),
    "the style": Change("report/style.css", "}", "}\n", PAGES),
    "a seed less": Change("config/config.yaml", "\nseeds: 2", "\nseeds: 1", [*EVALUATED, "timings"]),
    "a seed more": Change(
        "config/config.yaml", "\nseeds: 2", "\nseeds: 3", [*EVALUATED, "timings", "corpus text 2", "train flm 2"]
    ),
}
#: One change of each kind of job, of which the workflow itself must say the same.
MAIN = [
    "a comment",
    "the layer of one model",
    "an evaluation",
    "a claim",
    "a template",
    "a seed less",
    "a seed more",
]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_makes_exactly_its_users_pending(project: Project, change: Change) -> None:
    project.edit(change.file, change.old, change.new)
    assert project.pending() == sorted(change.jobs)


@pytest.mark.parametrize("change", [CHANGES[name] for name in MAIN], ids=MAIN)
def test_snakemake_runs_exactly_what_is_pending(project: Project, change: Change) -> None:
    project.edit(change.file, change.old, change.new)
    assert project.planned() == sorted(change.jobs)


def test_all_code_written_otherwise_is_the_same(project: Project) -> None:
    """Other docstrings, no comments, every statement on one line."""
    for path in (project.root / "src").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            match node:
                case ast.Module(body=[ast.Expr(ast.Constant(value=str()) as text), *_]):
                    text.value = "Another text."
                case ast.FunctionDef(body=[ast.Expr(ast.Constant(value=str()) as text), *_]):
                    text.value = "Another text."
                case ast.ClassDef(body=[ast.Expr(ast.Constant(value=str()) as text), *_]):
                    text.value = "Another text."
        path.write_text(ast.unparse(tree), encoding="utf-8")
    assert project.pending() == []


@pytest.mark.parametrize("seed", ["1", "2"])
def test_pythons_hash_seed_changes_nothing(built: Project, seed: str) -> None:
    assert built.pending(PYTHONHASHSEED=seed) == []


def test_a_copy_with_other_times_runs_nothing(project: Project) -> None:
    draw = random.Random(0)
    for path in project.root.rglob("*"):
        os.utime(path, (draw.randrange(10**9), draw.randrange(10**9)))
    assert project.planned() == []


def test_a_dry_run_changes_no_result_and_no_record(project: Project) -> None:
    project.edit(GARDEN, "epochs: 2", "epochs: 1")
    before = _contents(project)
    first = project.planned()
    assert _contents(project) == before
    assert project.planned() == first == TRAINED


def test_a_seed_less_measures_nothing_is_not_averaged_in_and_marks_the_page(project: Project) -> None:
    page = project.root / "results/report/index.html"
    assert "Partial build" not in page.read_text(encoding="utf-8")
    kept = sorted((project.root / "results/observations/garden/flm").glob("*/seed-*.parquet"))
    measured = [path.stat().st_mtime_ns for path in kept]
    assert len(kept) == 4
    assert "rule train" not in project.build("--config=seeds=1")
    assert [path.stat().st_mtime_ns for path in kept] == measured
    assert {row["seed"] for row in project.rows() if row["run"] == "flm"} == {0}
    assert "Partial build" in page.read_text(encoding="utf-8")


def test_results_without_snakemakes_records_are_refused_when_old(project: Project) -> None:
    shutil.rmtree(project.root / ".snakemake")
    assert project.planned() == []
    project.edit(GARDEN, "epochs: 2", "epochs: 1")
    done = project.run()
    assert done.returncode != 0
    assert "make report" in done.stdout


def test_without_snakemakes_records_a_build_makes_old_results_again(project: Project) -> None:
    shutil.rmtree(project.root / ".snakemake")
    project.edit("config/claims/objectives.yaml", "at_most: 0.001", "at_most: 100")
    done = project.command("build")
    assert done.returncode == 0, done.stdout
    outcomes = {row["id"]: row["outcome"] for row in project.rows("verdicts")}
    assert outcomes["objectives:best"] == "reproduced"


def _contents(project: Project) -> dict[Path, str]:
    """Every result and every record that Snakemake decides by, as hashes."""
    folders = [project.root / folder for folder in ("results", ".snakemake/metadata", ".snakemake/incomplete")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert files
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
