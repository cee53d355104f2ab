"""What a demonstration is called with: streams of its seed, weights of a training, and no more than it needs."""

from __future__ import annotations

import sys
import textwrap

import numpy as np
import processes
import pytest
from demonstration_projects import ENTRY, Project, source
from recalling import trained

from seedbed.configuration.configuration import ROOT, Configuration
from seedbed.configuration.plugins import errors_at
from seedbed.configuration.yaml import ConfigError
from seedbed.models import recurrent
from seedbed.pipeline.fingerprint import closure
from seedbed.pipeline.plan import Plan
from seedbed.randomness import stream

DRAW = 'yield Observation("draw", float(rng.random()))'
WEIGHTS = """\
for name, network in networks.items():
    total = sum(float(one.detach().double().sum()) for one in network.parameters())
    yield Observation("total", total, {"network": name})"""
LSTM = {"kind": "recurrent", "cell": "lstm", "embedding": 6, "hidden": 5}


@pytest.fixture
def drawing(project: Project) -> Project:
    entries = {"one": ENTRY | {"kind": "draw"}, "two": ENTRY | {"kind": "draw"}}
    project.write({"draw": source("rng", body=DRAW)}, entries)
    return project


def test_two_seeds_and_two_demonstrations_have_streams_of_their_own(drawing: Project) -> None:
    draws = [found.value for name in ("one", "two") for found in drawing.observe(name, (0, 1)).values()]
    assert len(set(draws)) == 4
    assert draws[0] == stream(0, "demonstration one").random()


def test_a_seed_gives_the_same_in_any_order_and_alone(drawing: Project) -> None:
    all_seeds = drawing.observe("one", (0, 1, 2))
    assert drawing.observe("one", (2, 0, 1)) == all_seeds
    assert drawing.observe("one", (1,)).items() <= all_seeds.items()


def test_what_draws_needs_a_seed(drawing: Project) -> None:
    with pytest.raises(AssertionError, match="the configuration repeats what draws over seeds"):
        drawing.observe("one", (None,))


def test_networks_have_the_weights_that_a_training_of_the_seed_begins_with(project: Project) -> None:
    models = {"first": LSTM | {"cell": "gru"}, "second": LSTM}
    entries = {"weights": ENTRY | {"of": {"task": "recall"}, "models": models}}
    project.write({"weights": source("networks", body=WEIGHTS)}, entries)
    found = project.observe("weights", (1, 0))
    for seed in (0, 1):
        for name, cell in (("first", "gru"), ("second", "lstm")):
            network = trained(recurrent.Options(cell=cell, embedding=6, hidden=5), seed).network  # type: ignore[arg-type]
            total = sum(float(one.detach().double().sum()) for one in network.parameters())
            assert found[seed, f"total network={name}"].value == total


def test_what_a_demonstration_does_to_its_networks_stays_within_its_seed(project: Project) -> None:
    body = WEIGHTS + "\n    for one in network.parameters():\n        one.data.zero_()"
    entries = {"weights": ENTRY | {"of": {"task": "recall"}, "models": {"it": LSTM}}}
    project.write({"weights": source("networks", body=body)}, entries)
    assert all(found.value != 0 for found in project.observe("weights", (0, 1)).values())


def test_a_task_and_an_objective_are_those_of_the_entry(project: Project) -> None:
    body = """\
yield Observation("batch", task.options.batch)
yield Observation("words", len(task.vocabulary))
yield Observation("of", 0, {"objective": "it"}, text=type(objectives["it"]).__module__)"""
    entry = ENTRY | {"of": {"task": "recall", "options": {"batch": 7}}, "objectives": {"it": {"kind": "answer"}}}
    project.write({"given": source("task", "objectives", body=body)}, {"given": entry})
    assert {text: one.text or one.value for (_, text), one in project.observe("given").items()} == {
        "batch": 7,
        "words": 18,
        "of objective=it": "seedbed.objectives.answer",
    }


def test_a_demonstration_without_needs_imports_no_torch(project: Project) -> None:
    """Nor does the reading of its configuration."""
    program = f"""
        import sys
        from pathlib import Path
        import seedbed.demonstrations
        from seedbed.configuration import plugins
        from seedbed.configuration.configuration import Configuration
        from seedbed.pipeline.plan import Plan

        root = Path({str(project.root)!r})
        plugins.PACKAGE = root / "src/seedbed"
        seedbed.demonstrations.__path__ = [str(plugins.PACKAGE / "demonstrations")]
        job = Plan(Configuration(root=root)).demonstration("plain")
        assert [one.value for one in job.observe(None)] == [2.0]
        sys.exit("torch" in sys.modules)
    """
    files = {
        "plain": source(body='yield Observation("it", 2.0)'),
        "weights": source("networks", body=WEIGHTS),
    }
    entries = {"plain": ENTRY, "weights": ENTRY | {"of": {"task": "recall"}, "models": {"it": LSTM}}}
    project.write(files, entries)
    done = processes.run([sys.executable, "-c", textwrap.dedent(program)])
    assert done.returncode == 0


def test_the_exact_facts_of_the_project_import_no_torch() -> None:
    program = (
        "import sys; from seedbed.configuration.configuration import Configuration; "
        "from seedbed.pipeline.plan import Plan; job = Plan(Configuration()).demonstration('farm-facts'); "
        "assert list(job.observe(None)); sys.exit('torch' in sys.modules)"
    )
    assert processes.run([sys.executable, "-c", program]).returncode == 0


def test_a_demonstration_that_fails_is_named_before_any_job(project: Project) -> None:
    project.write({"fails": source(body="raise ValueError('too small')")}, {"fails": ENTRY})
    plan = Plan(project.read())
    with (
        pytest.raises(ConfigError, match=r"config/demonstrations\.yaml: fails: too small"),
        errors_at(plan.demonstration("fails").place),
    ):
        list(plan.demonstration("fails").observe(None))


def test_the_modules_of_a_demonstration_are_those_that_it_computes_with(configuration: Configuration) -> None:
    of = {job.name: set(closure(job.modules)) for job in Plan(configuration).demonstrations}
    assert "seedbed.languages.compilation" in of["garden-facts"]
    assert not any(name.startswith("seedbed.models") for name in of["garden-facts"])
    assert {f"seedbed.objectives.{name}" for name in ("flm", "plm", "mlm", "span")} <= of["corruption-examples"]
    needed = {"seedbed.tasks.recall", "seedbed.models.recurrent", "seedbed.models.initialisation"}
    assert needed <= of["gradients-at-initialisation"]


@pytest.fixture
def documented() -> tuple[str, str]:
    """The file and the entry that CONTRIBUTING.md shows."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = '    """How widely' + text.partition('    """How widely')[2].partition("\nIts entry")[0]
    entry = "    dot-products:\n" + text.partition("    dot-products:\n")[2].partition("\n\n")[0]
    return textwrap.dedent(code), textwrap.dedent(entry)


def test_the_example_of_the_documentation_demonstrates(project: Project, documented: tuple[str, str]) -> None:
    code, entry = documented
    project.write({"dot_products": code}, {})
    (project.root / "config/demonstrations.yaml").write_text(entry)
    seeds = project.read().demonstration_seeds("dot-products")
    found = project.observe("dot-products", seeds)
    assert len(seeds) == 5
    for width in (16, 64, 256):
        spreads = [found[seed, f"dot_product_sd width={width}"].value for seed in seeds]
        assert np.mean(spreads) == pytest.approx(width**0.5, rel=0.1)
